package io.github.iree4j.cluster.identity;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** What every store promises, where each grant is on the disks of three nodes before it is given. */
@Tag("nightly")
class RatisContractTests extends IdentityStoreContract {

    @TempDir
    private Path directory;

    private RatisNodes nodes;

    @BeforeEach
    void start() throws Exception {
        nodes = new RatisNodes(directory);
        nodes.leaseAll(LEASE).forEach(IdentityLease::release);
    }

    @AfterEach
    void stop() {
        nodes.close();
    }

    @Override
    IdentityStore open() {
        return nodes.get(0);
    }

    @Override
    int machines() {
        return 1;
    }

    /** Only another node in the same place, or its own end, takes it from its holder. */
    @Override
    void letEnd(IdentityLease lease) {
        lease.release();
    }

    /** Those of the start were counted. */
    @Override
    int usedAtStart() {
        return 1;
    }
}
