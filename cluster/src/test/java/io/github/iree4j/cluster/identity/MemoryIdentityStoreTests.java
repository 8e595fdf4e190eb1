package io.github.iree4j.cluster.identity;

import io.github.iree4j.cluster.ManualClock;

class MemoryIdentityStoreTests extends IdentityStoreContract {

    private final ManualClock clock = new ManualClock();
    private final MemoryIdentityStore store = new MemoryIdentityStore(7, machines(), clock);

    @Override
    IdentityStore open() {
        return store;
    }

    @Override
    int machines() {
        return 4;
    }

    @Override
    void letEnd(IdentityLease lease) {
        store.end(lease);
    }
}
