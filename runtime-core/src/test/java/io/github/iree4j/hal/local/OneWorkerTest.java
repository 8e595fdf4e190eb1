package io.github.iree4j.hal.local;

import io.github.iree4j.hal.contract.BackendContract;

/** The local device with all work done by the only worker. */
class OneWorkerTest extends BackendContract {
    OneWorkerTest() {
        super(new LocalBackend(1));
    }
}
