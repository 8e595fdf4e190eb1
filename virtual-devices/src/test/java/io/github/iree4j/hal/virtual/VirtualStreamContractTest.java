package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.contract.BackendContract;

class VirtualStreamContractTest extends BackendContract {
    VirtualStreamContractTest() {
        super(new VirtualBackend(true));
    }
}
