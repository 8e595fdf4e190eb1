package io.github.iree4j.cluster.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.FreePorts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes in separate processes, killed and paused while pipelines go through all of them. */
class ClusterProcessTests {

    /** Longer than a loaded machine holds a process up: only the ends of connections show the death of a node. */
    private static final int PATIENT = 30;

    @TempDir
    private Path directory;

    private final List<NodeProcess> nodes = new ArrayList<>();
    private final HistoryCheck check = new HistoryCheck();
    private final String addresses = IntStream.range(0, 3)
            .map(node -> FreePorts.from(
                    30_000 + 30 * node + (int) (ProcessHandle.current().pid() % 2000)))
            .mapToObj(port -> "127.0.0.1:" + port)
            .collect(Collectors.joining(","));

    private NodeProcess start(int index, int silence) throws IOException {
        NodeProcess node = NodeProcess.of(index, List.of(), addresses, directory, silence, 500);
        nodes.add(node);
        return node;
    }

    /** Starts three nodes with sessions to each other. */
    private void startAll(int silence) throws IOException, InterruptedException {
        for (int node = 0; node < 3; node++) {
            start(node, silence);
        }
        for (NodeProcess each : nodes) {
            each.await("connected");
            each.await("connected");
        }
    }

    @AfterEach
    void stop() {
        nodes.forEach(NodeProcess::close);
    }

    private long millisUntilFailed(NodeProcess observer, int incarnation, long since) throws InterruptedException {
        String[] line = observer.await("failed " + incarnation).split(" ");
        return Long.parseLong(line[2]) - since;
    }

    private static int incarnation(int machine, int session) {
        return session << 8 | machine;
    }

    private void checkHistories(NodeProcess... dead) throws InterruptedException {
        for (NodeProcess each : nodes) {
            check.add(each.index, each.history(), !List.of(dead).contains(each));
        }
        System.out.println("random: %d operations, %d failed".formatted(check.operations, check.failed));
        assertThat(check.faults).isEmpty();
        assertThat(check.operations).isGreaterThan(check.failed);
    }

    @Test
    void theOthersGoOnWhenANodeIsKilledUnderLoad() throws Exception {
        startAll(PATIENT);
        for (NodeProcess each : nodes) {
            each.command("load 4000");
        }
        NodeProcess victim = nodes.get(2);
        victim.await("done 1 ");
        long killed = System.currentTimeMillis();
        victim.signal("KILL");
        for (NodeProcess each : nodes.subList(0, 2)) {
            long millis = millisUntilFailed(each, incarnation(2, 1), killed);
            System.out.println("random: node %d noticed after %d ms a killed node".formatted(each.index, millis));
            assertThat(millis).isLessThan(10_000); // 73 to 773 were measured; this is a machine under load
            each.await("ran 4000");
        }
        NodeProcess again = start(2, PATIENT);
        again.await("identity " + incarnation(2, 2) + " 2 2");
        again.await("connected");
        again.await("connected");
        again.command("load 500");
        again.await("ran 500");
        checkHistories(victim);
    }

    @Test
    @Tag("nightly")
    void aPausedNodeIsFailedAndFenced() throws Exception {
        startAll(3);
        for (NodeProcess each : nodes) {
            each.command("load 15000");
        }
        NodeProcess paused = nodes.get(0);
        paused.await("done 1 ");
        long stopped = System.currentTimeMillis();
        paused.signal("STOP");
        for (NodeProcess each : nodes.subList(1, 3)) {
            long millis = millisUntilFailed(each, incarnation(0, 1), stopped);
            System.out.println("random: node %d noticed after %d ms a silent node".formatted(each.index, millis));
            assertThat(millis).isLessThan(6_000 + 4_000);
        }
        paused.signal("CONT");
        paused.await("fenced");
        paused.await("ran 15000");
        for (NodeProcess each : nodes.subList(1, 3)) {
            each.await("ran 15000");
            assertThat(each.history()).noneMatch(line -> line.startsWith("fenced"));
        }
        checkHistories();
    }

    @Test
    @Tag("nightly")
    void howLongASmallOperationOnAnotherNodeTakes() throws Exception {
        startAll(PATIENT);
        nodes.getFirst().command("fill 5000");
        String line = nodes.getFirst().await("fill");
        System.out.println(
                "random: small operation on another node, median and 99th percentile in microseconds: " + line);
        assertThat(Long.parseLong(line.split(" ")[1])).isLessThan(5_000);
    }
}
