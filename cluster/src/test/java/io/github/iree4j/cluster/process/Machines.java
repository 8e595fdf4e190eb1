package io.github.iree4j.cluster.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Nodes on separate machines, and the network between them. */
final class Machines implements AutoCloseable {
    private static final int PORT = 7600;

    final Namespaces network;
    final List<NodeProcess> nodes = new ArrayList<>(); // the current process of each node
    private final List<NodeProcess> dead = new ArrayList<>();
    final HistoryCheck check = new HistoryCheck();
    private final int count;
    private int resumeMillis = 500; // short: a silence soon is a failure
    private final Path directory;
    private final String addresses;

    /** Makes machines without nodes, with identities in a directory. */
    Machines(int count, Path directory) throws IOException, InterruptedException {
        this.count = count;
        this.directory = directory;
        network = new Namespaces(count);
        addresses = IntStream.rangeClosed(1, count)
                .mapToObj(machine -> Namespaces.address(machine) + ":" + PORT)
                .collect(Collectors.joining(","));
    }

    /** Has nodes started from now on wait so long for an interrupted connection. */
    void resumeWithin(int millis) {
        resumeMillis = millis;
    }

    NodeProcess start(int index, int silence) throws IOException {
        return NodeProcess.of(index, network.in(index + 1), addresses, directory, silence, resumeMillis);
    }

    void startAll(int silence) throws IOException, InterruptedException {
        for (int node = 0; node < count; node++) {
            nodes.add(start(node, silence));
        }
        for (NodeProcess each : nodes) {
            for (int other = 1; other < count; other++) {
                each.await("connected");
            }
        }
    }

    /** Ends a node; another node has to be started in place. */
    void kill(int index) {
        nodes.get(index).signal("KILL");
        dead.add(nodes.get(index));
    }

    /** All nodes see each other and have sessions again, fenced nodes under new names. */
    void awaitWhole() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
        String whole = "state %d %d".formatted(count, count - 1);
        List<String> states = new ArrayList<>();
        do {
            TimeUnit.MILLISECONDS.sleep(200); // separate processes, with no other way to wait
            states.clear();
            for (NodeProcess each : nodes) {
                each.command("state");
                states.add(each.await("state "));
            }
        } while (states.stream().anyMatch(each -> !each.equals(whole)) && System.nanoTime() - deadline < 0);
        assertThat(states).containsOnly(whole);
    }

    void checkHistories() {
        for (NodeProcess each : nodes) {
            check.add(each.index, each.history(), true);
        }
        for (NodeProcess each : dead) {
            check.add(each.index, each.history(), false);
        }
        System.out.println("random: %d operations, %d failed".formatted(check.operations, check.failed));
        assertThat(check.faults).isEmpty();
        assertThat(check.operations).isGreaterThan(check.failed);
    }

    @Override
    public void close() {
        nodes.forEach(NodeProcess::close);
        dead.forEach(NodeProcess::close);
        network.close();
    }
}
