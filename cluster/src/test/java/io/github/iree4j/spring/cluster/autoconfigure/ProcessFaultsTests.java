package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.Effort;
import io.github.iree4j.cluster.process.SkewedClocks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of programs on devices of three nodes in separate processes, while connections, processes, clocks, disks and
 * the database of the identities fail at random: the clients see right results, nothing hangs, and every node serves
 * again within a minute. Nobody helps except a supervisor that starts ended processes.
 */
@Tag("nightly")
@Tag("long")
@EnabledOnOs(value = OS.LINUX, disabledReason = "the nodes have addresses of the whole loopback network")
class ProcessFaultsTests {
    private static final int FAULTS = Effort.rounds(20, 500);
    private static final long SEED = Effort.seed(ProcessFaultsTests.class, FAULTS + " faults", 147);

    @TempDir
    private Path directory;

    private Path folder(String name) throws Exception {
        Path folder = Files.createDirectory(directory.resolve(name));
        for (Path each : new Path[] {directory, folder}) {
            Files.setPosixFilePermissions(
                    each, PosixFilePermissions.fromString("rwxr-xr-x")); // the database has a separate user
        }
        return folder;
    }

    /** Every second cluster has identities in a database. */
    @Test
    void whateverFailsEveryCallIsAnsweredRightlyOrFailsInTime() throws Exception {
        Random random = new Random(SEED);
        int each = Math.min(RandomFaults.OF_A_CLUSTER, (FAULTS + 1) / 2);
        for (int first = 0; first < FAULTS; first += each) {
            ProgramHistory history = RandomFaults.history();
            Path folder = folder("from" + first);
            SkewedClocks clocks = SkewedClocks.make(folder);
            try (FaultyDatabase database = first / each % 2 == 0 ? null : FaultyDatabase.start(folder, clocks);
                    FaultyCluster cluster = new ClusterApart(folder, history, database, clocks)) {
                new RandomFaults(cluster, history, random).run(first, Math.min(FAULTS, first + each));
            }
        }
    }
}
