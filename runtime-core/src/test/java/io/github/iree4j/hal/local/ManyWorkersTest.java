package io.github.iree4j.hal.local;

import io.github.iree4j.hal.contract.BackendContract;

/** The local device with all work done by more workers than processors. */
class ManyWorkersTest extends BackendContract {
    ManyWorkersTest() {
        super(new LocalBackend(6));
    }
}
