package io.github.iree4j.cluster.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes on separate machines, with a network that is cut, healed and slowed down while pipelines go through all
 * nodes.
 */
class ClusterPartitionTests {
    private static final int NODES = 3;
    private static final int SILENCE = 3;

    /** Longer than a loaded machine holds a process up. */
    private static final int PATIENT = 5;

    /** Suspicion takes the silence and 0.5 s for verification; the bound has 3 s for the view, and more for a machine under load. */
    private static final long LIMIT_MILLIS = SILENCE * 1000L + 3000 + 4000;

    @TempDir
    private Path directory;

    private Machines machines;
    private Namespaces network;
    private List<NodeProcess> nodes;

    @BeforeEach
    void makeMachines() throws IOException, InterruptedException {
        machines = new Machines(NODES, directory);
        network = machines.network;
        nodes = machines.nodes;
    }

    @AfterEach
    void stop() {
        if (machines != null) {
            machines.close();
        }
    }

    private static long millisUntilFailed(NodeProcess observer, long incarnation, long since)
            throws InterruptedException {
        long millis =
                Long.parseLong(observer.await("failed " + incarnation + " ").split(" ")[2]) - since;
        System.out.println(
                "random: node %d noticed after %d ms the loss of %d".formatted(observer.index, millis, incarnation));
        return millis;
    }

    private static int incarnation(int machine, int session) {
        return session << 8 | machine;
    }

    @Test
    void aCutOffNodeIsFencedWhenTheNetworkHealsAndComesBackUnderANewName() throws Exception {
        machines.startAll(PATIENT);
        NodeProcess lost = nodes.get(0);
        for (NodeProcess each : nodes) {
            each.command("load 7000");
        }
        lost.await("done 1 ");
        long cut = System.currentTimeMillis();
        network.cut(1);
        for (NodeProcess each : nodes.subList(1, NODES)) {
            assertThat(millisUntilFailed(each, incarnation(0, 1), cut)).isGreaterThan(PATIENT * 1000L / 2);
        }
        network.heal(1);
        comesBackAlone(lost);
    }

    /**
     * The node stands between the others, so it makes a view without the first, and with the last: until after the
     * merge.
     */
    @Test
    @Tag("nightly")
    void aCutOffNodeIsFencedAloneAlsoBeforeLosingAllOthers() throws Exception {
        int silence = 8; // longer than a merge takes
        for (int node = 0; node < NODES; node++) { // to keep this order
            nodes.add(machines.start(node, silence));
            nodes.getLast().await("view " + (node + 1));
        }
        machines.awaitWhole();
        NodeProcess lost = nodes.get(1);
        for (NodeProcess each : nodes) {
            each.command("load 15000");
        }
        network.block(1, 2);
        network.block(2, 1);
        TimeUnit.SECONDS.sleep(silence - 1); // which delays the suspicion of the last node
        network.block(2, 3);
        network.block(3, 2);
        for (NodeProcess each : nodes) {
            each.await("view 2");
        }
        for (int machine = 1; machine <= NODES; machine++) {
            network.heal(machine);
        }
        comesBackAlone(lost);
    }

    /** Exactly one node is fenced: then all are together again. */
    private void comesBackAlone(NodeProcess lost) throws InterruptedException {
        lost.awaitOnce("fenced");
        for (NodeProcess each : nodes) {
            each.awaitOnce("ran ");
        }
        lost.command("rejoin");
        lost.await("identity " + incarnation(lost.index, 2) + " " + lost.index + " 2");
        for (NodeProcess each : nodes) {
            if (each != lost) {
                each.await("connected " + incarnation(lost.index, 2));
                assertThat(each.history()).noneMatch(line -> line.startsWith("fenced"));
            }
        }
        machines.awaitWhole();
        for (NodeProcess each : nodes) {
            each.command("load 300");
            each.await("ran 300");
        }
        machines.checkHistories();
    }

    /** Silence of a node, both ways and one way, and a flapping link. */
    @Test
    @Tag("nightly")
    void whateverTheNetworkDoesForAShortTimeNobodyFails() throws Exception {
        machines.resumeWithin(60_000);
        machines.startAll(SILENCE);
        for (NodeProcess each : nodes) {
            each.command("load 60000");
            each.await("done 1 ");
        }
        network.cut(1);
        TimeUnit.SECONDS.sleep(SILENCE + 4); // of the network, not of this process
        network.heal(1);
        TimeUnit.SECONDS.sleep(2);
        for (int flap = 0; flap < 5; flap++) {
            network.cut(2);
            TimeUnit.MILLISECONDS.sleep(800);
            network.heal(2);
            TimeUnit.MILLISECONDS.sleep(800);
        }
        network.block(3, 1);
        TimeUnit.SECONDS.sleep(SILENCE + 2);
        network.heal(3);
        network.heal(1);
        for (NodeProcess each : nodes) {
            each.awaitOnce("ran ");
        }
        machines.awaitWhole();
        for (NodeProcess each : nodes) {
            assertThat(each.history()).noneMatch(line -> line.startsWith("failed ") || line.startsWith("fenced"));
            assertThat(each.history())
                    .filteredOn(line -> line.startsWith("end "))
                    .isNotEmpty()
                    .allMatch(line -> line.contains(" OK "));
        }
        machines.checkHistories();
    }

    @Test
    @Tag("nightly")
    void silenceIsNoticedInTimeWhileTransfersSaturateTheNetwork() throws Exception {
        machines.startAll(SILENCE);
        for (NodeProcess each : nodes) {
            each.command("bulk 20000 4194304");
            each.command("load 20000");
            each.await("done 1 ");
        }
        long cut = System.currentTimeMillis();
        network.cut(NODES);
        for (NodeProcess each : nodes.subList(0, NODES - 1)) {
            assertThat(millisUntilFailed(each, incarnation(NODES - 1, 1), cut)).isLessThan(LIMIT_MILLIS);
        }
        NodeProcess lost = nodes.getLast();
        for (int other = 0; other < NODES - 1; other++) {
            lost.await("failed ");
        }
        network.heal(NODES);
        lost.awaitOnce("fenced");
        for (NodeProcess each : nodes) {
            each.awaitOnce("ran 20000");
        }
        machines.awaitWhole();
        machines.checkHistories();
    }

    @Test
    @Tag("nightly")
    void aSlowNodeIsSlowAndNotLost() throws Exception {
        machines.startAll(SILENCE);
        network.slow(2, "10mbit");
        for (NodeProcess each : nodes) {
            each.command("bulk 15000 262144");
            each.command("load 15000");
        }
        for (NodeProcess each : nodes) {
            each.awaitOnce("ran 15000");
            System.out.println("random: node %d %s".formatted(each.index, each.awaitOnce("carried")));
            assertThat(each.history()).noneMatch(line -> line.startsWith("failed") || line.startsWith("fenced"));
        }
        machines.checkHistories();
        assertThat(machines.check.failed).isZero();
    }

    @Test
    @Tag("nightly")
    void twoNodesReachedByAThirdOnlyComeTogetherAgain() throws Exception {
        machines.startAll(SILENCE);
        for (NodeProcess each : nodes) {
            each.command("load 20000 rejoin");
        }
        nodes.getFirst().await("done 1 ");
        network.part(1, 2);
        nodes.get(0).await("failed " + incarnation(1, 1) + " ");
        nodes.get(1).await("failed " + incarnation(0, 1) + " ");
        network.heal(1);
        network.heal(2);
        for (NodeProcess each : nodes) {
            each.awaitOnce("ran 20000");
        }
        machines.awaitWhole();
        machines.checkHistories();
    }

    @Test
    @Tag("nightly")
    void whateverHappensToNodesAndNetworkEveryOperationEndsOnce() throws Exception {
        long seed = Long.getLong("iree4j.test.seed", System.nanoTime());
        System.out.println("random: partition seed " + seed);
        Random random = new Random(seed);
        machines.startAll(SILENCE);
        for (int round = 0; round < 8; round++) {
            for (NodeProcess each : nodes) {
                each.command("load 12000 rejoin");
                each.command("ready");
            }
            if (random.nextBoolean()) {
                nodes.get(random.nextInt(NODES)).command("bulk 10000 1048576");
            }
            TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
            int victim = random.nextInt(NODES);
            int millis = random.nextInt(9000);
            int fault = random.nextInt(6);
            System.out.println(
                    "random: round %d, fault %d of node %d for %d ms".formatted(round, fault, victim, millis));
            switch (fault) {
                case 0 -> {
                    machines.kill(victim);
                    TimeUnit.MILLISECONDS.sleep(millis / 3);
                    nodes.set(victim, machines.start(victim, SILENCE));
                    nodes.get(victim).command("ready");
                }
                case 1 -> {
                    nodes.get(victim).signal("STOP");
                    TimeUnit.MILLISECONDS.sleep(millis);
                    nodes.get(victim).signal("CONT");
                }
                case 2 -> {
                    network.unplug(victim + 1);
                    TimeUnit.MILLISECONDS.sleep(millis);
                }
                case 3 -> {
                    network.part(victim + 1, (victim + 1) % NODES + 1);
                    TimeUnit.MILLISECONDS.sleep(millis);
                }
                case 4 -> {
                    network.slow(victim + 1, 1 + random.nextInt(20) + "mbit");
                    TimeUnit.MILLISECONDS.sleep(millis);
                }
                default -> {
                    network.cut(victim + 1);
                    TimeUnit.MILLISECONDS.sleep(millis);
                }
            }
            for (int machine = 1; machine <= NODES; machine++) {
                network.heal(machine);
                network.slow(machine, "1gbit");
            }
            for (NodeProcess each : nodes) {
                each.await("ready");
            }
            machines.awaitWhole();
        }
        machines.checkHistories();
    }
}
