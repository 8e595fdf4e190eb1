package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.cluster.autoconfigure.FaultyCluster.Fault;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Faults of a cluster at random, during calls of its programs by clients: the clients see right results, and the
 * cluster is whole again after each fault.
 */
final class RandomFaults {
    /** Faults of a cluster: a machine index has 255 sessions, and a history has to fit into memory. */
    static final int OF_A_CLUSTER = 50;

    /** A limit may end a connection, or a lease, in the moment of a fault's end. */
    private static final Duration SETTLES = Duration.ofSeconds(2);

    private static final Pattern NODE = Pattern.compile("m\\d+\\.s\\d+");
    private static final Pattern WHERE = Pattern.compile(NODE.pattern() + "|cluster://|connection to [\\d.]+:\\d+");

    private static final Pattern UNLOADED = Pattern.compile("program '\\w+' (is not available|could not be loaded)");

    private static final Pattern STOPPED =
            Pattern.compile("was cancelled: the application stops$|(^|; )node \\d+ \\(m\\d+\\.s\\d+\\) was closed$");

    private final FaultyCluster cluster;
    private final ProgramHistory history;
    private final Random random;

    RandomFaults(FaultyCluster cluster, ProgramHistory history, Random random) {
        this.cluster = cluster;
        this.history = history;
        this.random = random;
    }

    static ProgramHistory history() {
        return new ProgramHistory(
                System::nanoTime, ProgramClients.TIMEOUT.plusSeconds(2), RandomFaults::isNamedByThePages);
    }

    /**
     * A device is lost, with its node named; a node drains, or stops; a program could not be loaded; the client's own
     * node stops. Not: taking too long.
     */
    private static boolean isNamedByThePages(IreeException failure) {
        String message = String.valueOf(failure.getMessage());
        return switch (failure.code()) {
            case ABORTED ->
                NODE.matcher(message).find() || message.contains("' was closed"); // as the client's own node stops
            case CANCELLED -> STOPPED.matcher(message).find();
            case UNAVAILABLE -> WHERE.matcher(message).find() || message.contains("the application is stopping");
            case FAILED_PRECONDITION -> UNLOADED.matcher(message).find();
            default -> false;
        };
    }

    /** Starts the cluster, runs faults, numbered from the first to an end, and checks the clients' view. */
    void run(int first, int end) throws Exception {
        cluster.startAll();
        try (AutoCloseable clients = cluster.clients(random.nextLong())) {
            assertThat(clients).isNotNull();
            for (int i = first; i < end; ) {
                i += hurt(i);
            }
        }
        System.out.println("random: %d answers, failures %s".formatted(history.answers(), history.failures()));
        assertThat(history.check()).isEmpty();
        assertThat(history.answers()).isPositive();
        cluster.assertNothingIsLeft();
    }

    /** Runs one or two faults at once, of different nodes. Returns the number of faults. */
    private int hurt(int number) throws IOException, InterruptedException {
        int count = 1 + random.nextInt(3) / 2;
        int victim = random.nextInt(FaultyCluster.NODES);
        boolean harms = false;
        boolean database = false;
        List<String> names = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int node = (victim + i) % FaultyCluster.NODES;
            List<Fault> possible = new ArrayList<>(cluster.faults());
            if (database) {
                possible.removeIf(Fault::isOfDatabase);
            }
            Fault fault = possible.get(random.nextInt(possible.size()));
            database |= fault.isOfDatabase(); // two outages may be longer than a lease
            harms |= fault.harms;
            names.add(fault + " of node " + node);
            Random own = new Random(random.nextLong());
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    cluster.hurt(node, fault, own);
                } catch (IOException | RuntimeException | Error e) {
                    history.fault("%s of node %d: %s".formatted(fault, node, e));
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
        long over = System.nanoTime();
        cluster.awaitWhole();
        long whole = System.nanoTime();
        if (harms) {
            FaultyCluster.pause(SETTLES.toMillis());
            cluster.awaitWhole();
            history.harmedSince(begin);
        }
        System.out.println("random: fault %d, %s for %d ms, whole after %d ms"
                .formatted(
                        number,
                        String.join(" and ", names),
                        TimeUnit.NANOSECONDS.toMillis(over - begin),
                        TimeUnit.NANOSECONDS.toMillis(whole - over)));
        return count;
    }
}
