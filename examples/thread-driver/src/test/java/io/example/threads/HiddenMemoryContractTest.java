package io.example.threads;

import io.github.iree4j.hal.contract.BackendContract;

/** On a device whose memory the host does not see: what goes between them is staged. */
class HiddenMemoryContractTest extends BackendContract {
    HiddenMemoryContractTest() {
        super(new ThreadBackend(true));
    }
}
