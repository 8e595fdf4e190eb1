package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.contract.BackendContract;

/** REMOTE-6: also random graphs with host calls that see the downloads of other lanes. */
class RemoteContractTest extends BackendContract {
    RemoteContractTest() {
        super(new RemoteBackend());
    }
}
