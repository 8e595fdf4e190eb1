package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ClusterPeer;
import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.transport.Relay;
import io.github.iree4j.hal.Device;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Three applications of this process as a cluster, each behind a relay that the others dial, with faults. Each has programs on its own device and
 * those of the others, see {@link #PROGRAMS}. Each fault is made by one thread, and of one node by one at a time.
 */
final class FaultyCluster implements AutoCloseable {
    static final int NODES = 3;

    /** On the own device, the next node's, the next but one's, whichever of both is less loaded; and a sum on the next node's. */
    static final List<String> PROGRAMS = List.of("near", "far", "other", "spread", "sum");

    private static final Duration RESUME = Duration.ofSeconds(6); // long, for a busy machine
    private static final Duration SILENCE = Duration.ofSeconds(1); // until a node is doubted

    /** Something that happens to a node or to the connections that others have dialed to it. */
    enum Fault {
        RESET(false),
        FLAP(false),
        SHORT(false),
        SLOW(false),
        SILENCE(false),
        CUT(true),
        KILL(true),
        STOP(true);

        /** Whether calls may fail; otherwise connections have to go on. */
        final boolean harms;

        Fault(boolean harms) {
            this.harms = harms;
        }
    }

    /** A node from its start to its end. */
    record Node(ConfigurableApplicationContext context, InvocationService invocations, Programs programs) {
        ClusterNode member() {
            return context.getBean(ClusterNode.class);
        }

        IreeRuntime runtime() {
            return context.getBean(IreeRuntime.class);
        }
    }

    private final Path directory;
    private final int port;
    private final List<Relay> relays = new ArrayList<>();
    private final AtomicReferenceArray<@Nullable Node> nodes = new AtomicReferenceArray<>(NODES);

    /** Starts the nodes, whose identities are in a directory, and waits until they are whole. */
    FaultyCluster(Path directory) throws IOException {
        this.directory = directory;
        port = FreePorts.from(18_000 + (int) (ProcessHandle.current().pid() % 5_000));
        for (int node = 0; node < NODES; node++) {
            relays.add(
                    new Relay(new InetSocketAddress(advertised(node), port), new InetSocketAddress(bound(node), port)));
        }
        for (int node = 0; node < NODES; node++) {
            start(node);
        }
        awaitWhole();
    }

    private static String bound(int node) {
        return "127.77.0." + (node + 1);
    }

    private static String advertised(int node) {
        return "127.77.1." + (node + 1);
    }

    /** A node; null while it does not run. */
    @Nullable
    Node node(int index) {
        return nodes.get(index);
    }

    private void start(int index) {
        Path add = ClusterApplications.fixture("3.13.0/vmvx-async/add.vmfb");
        List<String> properties = new ArrayList<>(List.of(
                "spring.lifecycle.timeout-per-shutdown-phase=1500ms",
                "iree.cluster.enabled=true",
                "iree.cluster.identity.machine=" + index,
                "iree.cluster.identity.file=" + directory.resolve("machine" + index),
                "iree.cluster.bind.address=" + bound(index),
                "iree.cluster.bind.port=" + port,
                "iree.cluster.advertise=" + advertised(index),
                "iree.cluster.discovery.static=" + String.join(",", advertised(0), advertised(1), advertised(2)),
                "iree.cluster.failure-detection.interval=200ms",
                "iree.cluster.failure-detection.timeout=" + SILENCE.toMillis() + "ms",
                "iree.cluster.data.connect-timeout=2s",
                "iree.cluster.data.resume-timeout=" + RESUME.toMillis() + "ms",
                "iree.cluster.on-fence=refuse-traffic", // started again here, without the pauses that save sessions
                "iree.devices.next.uri=cluster://" + (index + 1) % NODES,
                "iree.devices.other.uri=cluster://" + (index + 2) % NODES,
                "iree.modules.near.location=" + add,
                "iree.modules.far.location=" + add,
                "iree.modules.far.devices=next",
                "iree.modules.other.location=" + add,
                "iree.modules.other.devices=other",
                "iree.modules.spread.location=" + add,
                "iree.modules.spread.devices=next,other",
                "iree.modules.spread.placement=least-loaded",
                "iree.modules.sum.location=" + ClusterApplications.fixture("3.13.0/vmvx/state_tensor.vmfb"),
                "iree.modules.sum.devices=next"));
        PROGRAMS.forEach(each -> properties.add("iree.modules." + each + ".load=background"));
        ConfigurableApplicationContext context = new SpringApplicationBuilder(ClusterApplications.Application.class)
                .web(WebApplicationType.NONE)
                .properties(properties.toArray(String[]::new))
                .registerShutdownHook(false)
                .logStartupInfo(false)
                .run();
        nodes.set(index, new Node(context, context.getBean(InvocationService.class), context.getBean(Programs.class)));
    }

    /** Ends a node in order, and starts it again. */
    void restart(int index) throws IOException {
        restart(index, 0);
    }

    private void restart(int index, long pauseMillis) throws IOException {
        close(index);
        relays.get(index).down();
        pause(pauseMillis);
        relays.get(index).up();
        start(index);
    }

    private void close(int index) {
        Node node = nodes.getAndSet(index, null);
        if (node != null) {
            node.context.close();
        }
    }

    /** Ends a node that nobody hears any more, as one whose process is killed, and starts another in its place. */
    private void kill(int index, long pauseMillis) throws IOException {
        relays.forEach(each -> each.silence(true));
        Node node = nodes.get(index);
        if (node != null) {
            node.member().fence(IreeException.of(StatusCode.ABORTED, "killed by the test"));
        }
        close(index);
        relays.get(index).down();
        relays.forEach(each -> each.silence(false));
        pause(pauseMillis);
        relays.get(index).up();
        start(index);
    }

    private static void pause(long millis) {
        LockSupport.parkNanos(millis * 1_000_000);
    }

    /** Lets something happen to a node; returns when it is over, though its consequences may not be. */
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
                pause(RESUME.toMillis()
                        + random.nextInt(3 * (int) SILENCE.toMillis())); // so that some are noticed, and some not
                relay.silence(false);
            }
            case KILL -> kill(index, random.nextInt(1500));
            case STOP -> restart(index, random.nextInt(1500));
        }
    }

    /** Waits until all nodes have sessions with each other and their programs loaded; starts those again that are fenced. */
    void awaitWhole() {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            String missing = "";
            for (int i = 0; i < NODES; i++) {
                Node node = nodes.get(i);
                if (node == null || node.member().fenced().isPresent()) {
                    close(i);
                    start(i);
                    missing = "node %d was fenced".formatted(i);
                } else {
                    missing += missing(node);
                }
            }
            if (missing.isEmpty()) {
                return;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not whole again within a minute: " + missing);
            }
            pause(20);
        }
    }

    private static String missing(Node node) {
        StringBuilder missing = new StringBuilder();
        List<ClusterPeer> peers = node.member().peers();
        for (ClusterPeer each : peers) {
            if (each.session() == null) {
                missing.append(each).append("; ");
            }
        }
        if (peers.size() != NODES - 1) {
            missing.append("%s sees %s; "
                    .formatted(node.member().identity(), node.member().view()));
        }
        for (ProgramStatus each : node.programs.statuses()) {
            if (each.state() != ProgramState.READY) {
                missing.append("%s at %s; ".formatted(each, node.member().identity()));
            }
        }
        for (LoadedProgram each : node.programs.all()) {
            for (Program instance : each.instances()) {
                for (Device device : instance.devices()) {
                    if (device.failure().isPresent() || device.draining().isPresent()) {
                        missing.append("'%s' of %s at %s; "
                                .formatted(
                                        each.source().name(),
                                        device,
                                        node.member().identity()));
                    }
                }
            }
        }
        return missing.toString();
    }

    /** Without clients: no node has open results or tensors. */
    void assertNothingIsLeft() {
        for (int i = 0; i < NODES; i++) {
            Node node = nodes.get(i);
            assertThat(node).isNotNull();
            assertThat(node.runtime().monitor().leaks().openTensors())
                    .as("tensors of node %d", i)
                    .isZero();
        }
    }

    @Override
    public void close() throws IOException {
        for (int node = 0; node < NODES; node++) {
            close(node);
        }
        for (Relay each : relays) {
            each.close();
        }
    }
}
