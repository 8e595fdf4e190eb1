package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** Nodes in this process. */
final class ClusterHere extends FaultyCluster {
    private final Path directory;
    private final ProgramCalls calls;
    private final AtomicReferenceArray<@Nullable ProgramNode> nodes = new AtomicReferenceArray<>(NODES);

    /** Starts nothing yet; the identities of the nodes are in a directory. */
    ClusterHere(Path directory, ProgramCalls calls) throws IOException {
        this.directory = directory;
        this.calls = calls;
    }

    @Override
    List<Fault> faults() {
        return List.of(
                Fault.RESET, Fault.FLAP, Fault.SHORT, Fault.SLOW, Fault.SILENCE, Fault.CUT, Fault.KILL, Fault.STOP);
    }

    @Override
    void start(int index) {
        List<String> properties = new ArrayList<>(properties(index));
        properties.add("iree.cluster.identity.machine=" + index);
        properties.add("iree.cluster.identity.file=" + directory.resolve("machine" + index));
        properties.add(
                "iree.cluster.on-fence=refuse-traffic"); // started again here, without the pauses for the sake of
        // sessions
        nodes.set(
                index,
                ProgramNode.of(new SpringApplicationBuilder(ClusterApplications.Application.class)
                        .web(WebApplicationType.NONE)
                        .properties(properties.toArray(String[]::new))
                        .registerShutdownHook(false)
                        .logStartupInfo(false)
                        .run()));
    }

    @Override
    void stop(int index) {
        ProgramNode node = nodes.getAndSet(index, null);
        if (node != null) {
            node.context().close();
        }
    }

    /** Nobody hears the node from now on, as after a kill of the process. */
    @Override
    void kill(int index) throws IOException {
        relays.forEach(each -> each.silence(true));
        ProgramNode node = nodes.get(index);
        if (node != null) {
            node.member().fence(IreeException.of(StatusCode.ABORTED, "killed by the test"));
        }
        stop(index);
        relays.get(index).down();
        relays.forEach(each -> each.silence(false));
    }

    /** Starts a fenced node again. */
    @Override
    String missing(int index) {
        ProgramNode node = nodes.get(index);
        if (node == null || node.member().fenced().isPresent()) {
            stop(index);
            start(index);
            return "node %d was fenced; ".formatted(index);
        }
        return node.missing(NODES - 1);
    }

    /** Returns clients that have not begun. */
    ProgramClients idleClients(long seed) {
        List<Supplier<@Nullable ProgramNode>> all = new ArrayList<>();
        IntStream.range(0, NODES).forEach(index -> all.add(() -> nodes.get(index)));
        return new ProgramClients(all, calls, seed);
    }

    @Override
    ProgramClients clients(long seed) {
        ProgramClients clients = idleClients(seed);
        clients.startCalls();
        return clients;
    }

    @Override
    void assertNothingIsLeft() {
        for (int i = 0; i < NODES; i++) {
            ProgramNode node = nodes.get(i);
            assertThat(node).isNotNull();
            assertThat(node.openTensors()).as("tensors of node %d", i).isZero();
        }
    }

    @Override
    public void close() throws IOException {
        for (int node = 0; node < NODES; node++) {
            stop(node);
        }
        super.close();
    }
}
