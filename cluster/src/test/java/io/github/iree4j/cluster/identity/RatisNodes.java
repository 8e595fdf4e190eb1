package io.github.iree4j.cluster.identity;

import io.github.iree4j.cluster.FreePorts;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Three nodes in this process that keep a log together. */
final class RatisNodes implements AutoCloseable {
    static final int COUNT = 3;
    static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Path directory;
    private final List<RatisIdentityStore> stores = new ArrayList<>();
    private final List<InetSocketAddress> peers = new ArrayList<>();

    RatisNodes(Path directory) {
        this.directory = directory;
        int port = 33_000 + (int) (ProcessHandle.current().pid() % 2000);
        for (int node = 0; node < COUNT; node++) {
            port = FreePorts.from(port);
            peers.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            port += 3;
        }
        for (int node = 0; node < COUNT; node++) {
            stores.add(store(node, PATIENCE));
        }
    }

    private RatisIdentityStore store(int node, Duration patience) {
        return new RatisIdentityStore(
                new RatisOptions("test", peers, node, directory.resolve("node" + node), null, false, patience));
    }

    RatisIdentityStore get(int node) {
        return stores.get(node % COUNT);
    }

    /** All nodes at once: the first ones wait for a majority. */
    List<IdentityLease> leaseAll(Duration duration) throws Exception {
        List<IdentityLease> leases = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(COUNT)) {
            List<Future<IdentityLease>> starts = new ArrayList<>();
            for (RatisIdentityStore each : stores) {
                starts.add(threads.submit(() -> each.acquire(duration)));
            }
            for (Future<IdentityLease> each : starts) {
                leases.add(each.get());
            }
        }
        return leases;
    }

    /** Stops a node, if it runs, and makes it again with what it has stored. */
    void restart(int node, Duration patience) {
        stores.get(node).close();
        stores.set(node, store(node, patience));
    }

    @Override
    public void close() {
        stores.forEach(RatisIdentityStore::close);
    }
}
