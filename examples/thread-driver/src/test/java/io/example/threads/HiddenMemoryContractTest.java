package io.example.threads;

import io.github.iree4j.hal.contract.BackendContract;

/** On a device with memory hidden from the host: transfers between them are staged. */
class HiddenMemoryContractTest extends BackendContract {
    HiddenMemoryContractTest() {
        super(new ThreadBackend(true));
    }
}
