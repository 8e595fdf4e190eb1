package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of programs on devices of three nodes, while connections and nodes fail at random: the clients see right
 * results.
 */
@Tag("long")
@EnabledOnOs(value = OS.LINUX, disabledReason = "the nodes have addresses of the whole loopback network")
class ProgramFaultsTests {
    private static final int FAULTS = Effort.rounds(32, 500);
    private static final long SEED = Effort.seed(ProgramFaultsTests.class, FAULTS + " faults", 146);

    @TempDir
    private Path directory;

    @Test
    void whateverFailsEveryCallIsAnsweredRightlyOrFailsInTime() throws Exception {
        Random random = new Random(SEED);
        for (int first = 0; first < FAULTS; first += RandomFaults.OF_A_CLUSTER) {
            ProgramHistory history = RandomFaults.history();
            try (FaultyCluster cluster =
                    new ClusterHere(Files.createDirectory(directory.resolve("from" + first)), history)) {
                new RandomFaults(cluster, history, random)
                        .run(first, Math.min(FAULTS, first + RandomFaults.OF_A_CLUSTER));
            }
        }
    }

    /** The calls of a stopping node are made on another, as by a service in front. */
    @Test
    void noJobWithOneRetryFailsInARollingRestart() throws Exception {
        ProgramHistory history = RandomFaults.history();
        try (ClusterHere cluster = new ClusterHere(directory, history)) {
            cluster.startAll();
            ProgramClients clients = cluster.idleClients(SEED);
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
