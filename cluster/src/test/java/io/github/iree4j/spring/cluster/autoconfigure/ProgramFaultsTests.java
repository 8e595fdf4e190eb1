package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.spring.cluster.autoconfigure.FaultyCluster.Fault;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Clients of programs on devices of three nodes, while connections and nodes fail at random: what the clients see is right. */
@Tag("long")
@EnabledOnOs(value = OS.LINUX, disabledReason = "the nodes have addresses of the whole loopback network")
class ProgramFaultsTests {
    private static final int FAULTS = Effort.rounds(32, 500);
    private static final long SEED = Effort.seed(ProgramFaultsTests.class, FAULTS + " faults", 146);

    /** Faults of one cluster: a machine index has 255 sessions, and a history has to fit into memory. */
    private static final int FAULTS_OF_A_CLUSTER = 50;

    private static final Pattern NODE = Pattern.compile("m\\d\\.s\\d+");
    private static final Pattern STOPPED =
            Pattern.compile("was cancelled: the application stops$|(^|; )node \\d+ \\(m\\d\\.s\\d+\\) was closed$");

    @TempDir
    private Path directory;

    private static ProgramHistory history() {
        return new ProgramHistory(
                System::nanoTime, ProgramClients.TIMEOUT.plusSeconds(2), ProgramFaultsTests::isNamedByThePages);
    }

    /**
     * A device is lost, whose node is named; a node drains, or stops; a program could not be loaded; the client's own node stops. Not: it took too
     * long.
     */
    private static boolean isNamedByThePages(IreeException failure) {
        String message = String.valueOf(failure.getMessage());
        return switch (failure.code()) {
            case ABORTED -> NODE.matcher(message).find();
            case CANCELLED -> STOPPED.matcher(message).find();
            case UNAVAILABLE, FAILED_PRECONDITION -> true;
            default -> false;
        };
    }

    @Test
    void whateverFailsEveryCallIsAnsweredRightlyOrFailsInTime() throws Exception {
        Random random = new Random(SEED);
        for (int first = 0; first < FAULTS; first += FAULTS_OF_A_CLUSTER) {
            ProgramHistory history = history();
            try (FaultyCluster cluster = new FaultyCluster(Files.createDirectory(directory.resolve("from" + first)))) {
                try (ProgramClients clients = new ProgramClients(cluster, history, random.nextLong())) {
                    clients.startCalls();
                    int end = Math.min(FAULTS, first + FAULTS_OF_A_CLUSTER);
                    for (int i = first; i < end; ) {
                        i += hurt(cluster, history, i, random);
                    }
                }
                System.out.println("random: %d answers, failures %s".formatted(history.answers(), history.failures()));
                assertThat(history.check()).isEmpty();
                assertThat(history.answers()).isPositive();
                cluster.assertNothingIsLeft();
            }
        }
    }

    /** Lets one or two faults happen at once, of different nodes. Returns their number. */
    private static int hurt(FaultyCluster cluster, ProgramHistory history, int number, Random random)
            throws InterruptedException {
        int count = 1 + random.nextInt(3) / 2;
        int victim = random.nextInt(FaultyCluster.NODES);
        boolean harms = false;
        List<String> names = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int node = (victim + i) % FaultyCluster.NODES;
            Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
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
        if (harms) {
            history.harmedSince(begin);
        }
        System.out.println("random: fault %d, %s for %d ms, whole after %d ms"
                .formatted(
                        number,
                        String.join(" and ", names),
                        TimeUnit.NANOSECONDS.toMillis(over - begin),
                        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - over)));
        return count;
    }

    /** The calls of a node that stops are made on another one, as by a service before them. */
    @Test
    void noJobThatIsRetriedOnceFailsInARollingRestart() throws Exception {
        ProgramHistory history = history();
        try (FaultyCluster cluster = new FaultyCluster(directory)) {
            ProgramClients clients = new ProgramClients(cluster, history, SEED);
            try (clients) {
                clients.startJobs();
                for (int round = 0; round < Effort.rounds(8, 40); round++) {
                    for (int node = 0; node < FaultyCluster.NODES; node++) {
                        cluster.restart(node);
                        cluster.awaitWhole();
                    }
                }
            }
            System.out.println("random: %d jobs, %d retried".formatted(history.answers(), clients.retried()));
            assertThat(history.check()).isEmpty();
            assertThat(history.answers()).isPositive();
            cluster.assertNothingIsLeft();
        }
    }
}
