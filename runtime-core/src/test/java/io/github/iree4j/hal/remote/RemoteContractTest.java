package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.contract.BackendContract;

class RemoteContractTest extends BackendContract {
    RemoteContractTest() {
        super(new RemoteBackend());
    }
}
