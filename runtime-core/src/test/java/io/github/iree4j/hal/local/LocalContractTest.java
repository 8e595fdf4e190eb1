package io.github.iree4j.hal.local;

import io.github.iree4j.hal.contract.BackendContract;

class LocalContractTest extends BackendContract {
    LocalContractTest() {
        super(new LocalBackend());
    }
}
