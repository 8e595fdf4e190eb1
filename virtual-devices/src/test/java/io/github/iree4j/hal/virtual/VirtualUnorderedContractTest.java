package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.contract.BackendContract;

class VirtualUnorderedContractTest extends BackendContract {
    VirtualUnorderedContractTest() {
        super(new VirtualBackend(false));
    }
}
