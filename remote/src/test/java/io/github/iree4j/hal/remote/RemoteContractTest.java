package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.contract.BackendContract;

/** REMOTE-6: also random graphs, whose host calls see what other lanes have downloaded. */
class RemoteContractTest extends BackendContract {
    RemoteContractTest() {
        super(new RemoteBackend());
    }
}
