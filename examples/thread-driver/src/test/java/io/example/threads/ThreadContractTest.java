package io.example.threads;

import io.github.iree4j.hal.contract.BackendContract;

class ThreadContractTest extends BackendContract {
    ThreadContractTest() {
        super(new ThreadBackend(false));
    }
}
