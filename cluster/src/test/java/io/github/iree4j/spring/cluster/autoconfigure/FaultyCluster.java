package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.transport.Relay;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * Three applications as a cluster, with faults, each behind a relay dialed by the others. Each has programs on its own
 * device and on the devices of the others, see {@link #PROGRAMS}. Each fault is made by a single thread, and each node
 * has at most one fault at a time.
 */
abstract class FaultyCluster implements AutoCloseable {
    static final int NODES = 3;

    /** On the own device, the next node's, the next but one's, whichever of both is less loaded; and a sum on the next node's. */
    static final List<String> PROGRAMS = List.of("near", "far", "other", "spread", "sum");

    private static final Duration RESUME = Duration.ofSeconds(6); // long, for a busy machine
    private static final Duration SILENCE = Duration.ofSeconds(1); // until a node is doubted
    private static final Duration WHOLE_WITHIN = Duration.ofSeconds(60); // after a fault
    private static final Duration STARTED_WITHIN = Duration.ofMinutes(4); // all at once, perhaps beside much else

    /** An event of a node, of connections dialed to the node, or of services needed by the node. */
    enum Fault {
        RESET(false),
        FLAP(false),
        SHORT(false),
        SLOW(false),
        SILENCE(false),
        CUT(true),
        KILL(true),
        STOP(true),
        /** The process stands still. */
        PAUSE(true),
        /** The clock of the day of a node jumps by up to a day, either way. */
        CLOCK(false),
        /** No byte can be written beside the identity. */
        FULL(false),
        /** The process is killed, and finds a full disk at the next start. */
        KILL_AND_FULL(true),
        /** The database of the identities is silent or refuses, for less than half of a lease. */
        DATABASE_AWAY(false),
        /** The same for up to two leases. */
        DATABASE_LOST(true),
        /** The clock of the database jumps by more than a lease, either way. */
        DATABASE_CLOCK(true);

        /** Whether calls may fail; otherwise connections have to go on. */
        final boolean harms;

        Fault(boolean harms) {
            this.harms = harms;
        }

        boolean isOfDatabase() {
            return name().startsWith("DATABASE");
        }
    }

    private final int port;
    final List<Relay> relays = new ArrayList<>();

    FaultyCluster() throws IOException {
        port = FreePorts.from(18_000 + (int) (ProcessHandle.current().pid() % 5_000));
        for (int node = 0; node < NODES; node++) {
            relays.add(
                    new Relay(new InetSocketAddress(advertised(node), port), new InetSocketAddress(bound(node), port)));
        }
    }

    /** Starts all nodes, and waits until they are whole. */
    void startAll() throws IOException {
        for (int node = 0; node < NODES; node++) {
            start(node);
        }
        awaitWhole(STARTED_WITHIN);
    }

    private static String bound(int node) {
        return "127.77.0." + (node + 1);
    }

    private static String advertised(int node) {
        return "127.77.1." + (node + 1);
    }

    /** Returns the faults possible here. */
    abstract List<Fault> faults();

    /** Starts a node. */
    abstract void start(int index) throws IOException;

    /** Ends a node in order, if running. */
    abstract void stop(int index) throws IOException;

    /** Ends an unheard node. */
    abstract void kill(int index) throws IOException;

    /** Returns the parts missing for service as before; empty if nothing. Starts the node after an end by itself. */
    abstract String missing(int index) throws IOException;

    /**
     * Starts clients of all nodes, also at the next starts of nodes; until the result is closed, after a wait for calls
     * under way.
     */
    abstract AutoCloseable clients(long seed);

    /** Without clients: no node has open results or tensors. */
    abstract void assertNothingIsLeft() throws IOException;

    /** The configuration of a node, without an identity. */
    static List<String> properties(int index, int port) {
        Path add = ClusterApplications.fixture("3.13.0/vmvx-async/add.vmfb").toAbsolutePath();
        List<String> properties = new ArrayList<>(List.of(
                "spring.lifecycle.timeout-per-shutdown-phase=1500ms",
                "iree.cluster.enabled=true",
                "iree.cluster.bind.address=" + bound(index),
                "iree.cluster.bind.port=" + port,
                "iree.cluster.advertise=" + advertised(index),
                "iree.cluster.discovery.static=" + String.join(",", advertised(0), advertised(1), advertised(2)),
                "iree.cluster.failure-detection.interval=200ms",
                "iree.cluster.failure-detection.timeout=" + SILENCE.toMillis() + "ms",
                "iree.cluster.data.connect-timeout=2s",
                "iree.cluster.data.resume-timeout=" + RESUME.toMillis() + "ms",
                "iree.devices.next.uri=cluster://" + advertised((index + 1) % NODES),
                "iree.devices.other.uri=cluster://" + advertised((index + 2) % NODES),
                "iree.modules.near.location=" + add,
                "iree.modules.far.location=" + add,
                "iree.modules.far.devices=next",
                "iree.modules.other.location=" + add,
                "iree.modules.other.devices=other",
                "iree.modules.spread.location=" + add,
                "iree.modules.spread.devices=next,other",
                "iree.modules.spread.placement=least-loaded",
                "iree.modules.sum.location="
                        + ClusterApplications.fixture("3.13.0/vmvx/state_tensor.vmfb")
                                .toAbsolutePath(),
                "iree.modules.sum.devices=next"));
        PROGRAMS.forEach(each -> properties.add("iree.modules." + each + ".load=background"));
        return properties;
    }

    List<String> properties(int index) {
        return properties(index, port);
    }

    /** Ends a node in order, and starts the node again. */
    void restart(int index) throws IOException {
        stop(index);
        startAgain(index, 0);
    }

    private void startAgain(int index, long pauseMillis) throws IOException {
        relays.get(index).down();
        pause(pauseMillis);
        relays.get(index).up();
        start(index);
    }

    static void pause(long millis) {
        LockSupport.parkNanos(millis * 1_000_000);
    }

    /** A time after which some nodes notice a silent node, and some do not. */
    static long silence(Random random) {
        return RESUME.toMillis() + random.nextInt(3 * (int) SILENCE.toMillis());
    }

    /** Lets something happen to a node; returns at the end of the fault, perhaps before the end of the consequences. */
    void hurt(int index, Fault fault, Random random) throws IOException {
        Relay relay = relays.get(index);
        switch (fault) {
            case RESET -> relay.reset();
            case FLAP -> {
                for (int i = 2 + random.nextInt(6); i > 0; i--) {
                    relay.reset();
                    pause(random.nextInt(100));
                }
            }
            case SHORT -> {
                relay.passAtMost(16_384 + random.nextInt(65_536));
                pause(300 + random.nextInt(300));
                relay.passAtMost(Long.MAX_VALUE);
            }
            case SLOW -> {
                relay.delay(1_000_000L * (1 + random.nextInt(20)));
                pause(300 + random.nextInt(300));
                relay.delay(0);
            }
            case SILENCE -> {
                relay.silence(true);
                pause(random.nextInt(600));
                relay.silence(false);
            }
            case CUT -> {
                relay.silence(true);
                pause(silence(random));
                relay.silence(false);
            }
            case KILL -> {
                kill(index);
                startAgain(index, random.nextInt(1500));
            }
            case STOP -> {
                stop(index);
                startAgain(index, random.nextInt(1500));
            }
            default -> throw new IllegalArgumentException(fault + " cannot happen here");
        }
    }

    /** Waits until all nodes have sessions with each other and loaded programs. */
    void awaitWhole() throws IOException {
        awaitWhole(WHOLE_WITHIN);
    }

    private void awaitWhole(Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            StringBuilder missing = new StringBuilder();
            for (int i = 0; i < NODES; i++) {
                missing.append(missing(i));
            }
            if (missing.isEmpty()) {
                return;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not whole within %s: %s".formatted(limit, missing));
            }
            pause(50);
        }
    }

    @Override
    public void close() throws IOException {
        for (Relay each : relays) {
            each.close();
        }
    }
}
