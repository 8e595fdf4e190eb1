package io.github.iree4j.cluster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.ClusterNode;
import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How fast bytes go to memory of another node and back, and a small operation there is, beside a bare connection of the same machine in the same
 * minute: a machine that does other things is slow for both. Two nodes in one JVM over loopback; prints what it measures.
 */
@Tag("nightly")
@SuppressWarnings("try") // closing may be interrupted
class ClusterSpeedTests {
    private static final Duration SOON = Duration.ofMinutes(5);
    private static final int BYTES = 64 << 20;
    private static final int ROUNDS = 12;
    private static final int CHUNK = 256 << 10;

    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final MemoryMembership.Network network = new MemoryMembership.Network();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.addFirst(object);
        return object;
    }

    private SchedulingDomain domain(int machine) {
        return SchedulingDomain.create(AxisAllocator.create(1, machine), FrontierTracker.create(), 12);
    }

    private ClusterNode node(int machine, SchedulingDomain domain, TransportOptions options, List<Device> devices) {
        NodeIdentity identity = new NodeIdentity(7, machine, 1, machine);
        RemoteNode.Builder remote = RemoteNode.builder(identity, domain);
        devices.forEach(remote::device);
        ClusterNode node = opened(new ClusterNode(
                identity,
                remote,
                options,
                new MemoryMembership(network),
                GrpcTransportTests.HOST,
                Duration.ofSeconds(6),
                new ManualClock(),
                Runnable::run,
                new ClusterListener() {}));
        node.start();
        return node;
    }

    /** The device of another node. */
    private Device far(TransportOptions options) throws InterruptedException {
        SchedulingDomain here = domain(1);
        SchedulingDomain there = domain(2);
        IreeRuntime runtime = opened(IreeRuntime.builder()
                .device(
                        "local",
                        "local",
                        DeviceOptions.builder().schedulingDomain(there).build())
                .build());
        ClusterNode near = node(1, here, options, List.of());
        node(2, there, options, List.of(runtime.device()));
        assertThat(near.awaitSessions(SOON)).isTrue();
        RemoteSession session = near.peers().getFirst().session();
        assertThat(session).isNotNull();
        return opened(session.openDevice(
                session.devices().getFirst().id(),
                DeviceOptions.builder().schedulingDomain(here).queueCount(1).build()));
    }

    /** A way for bytes, and how long it took: of the clock, and of all processors, which a busy machine changes less. */
    private static final class Way {
        private final String name;
        private final List<Long> clock = new ArrayList<>();
        private final List<Long> processors = new ArrayList<>();

        Way(String name) {
            this.name = name;
        }

        void measure(Runnable round) {
            long processor = PROCESS.getProcessCpuTime();
            long began = System.nanoTime();
            round.run();
            clock.add(System.nanoTime() - began);
            processors.add(PROCESS.getProcessCpuTime() - processor);
        }

        /** The median of the rounds after the first third. */
        private static long median(List<Long> rounds) {
            List<Long> warm = new ArrayList<>(rounds.subList(rounds.size() / 3, rounds.size()));
            Collections.sort(warm);
            return warm.get(warm.size() / 2);
        }

        @Override
        public String toString() {
            return "%s: %.0f MB/s, %.0f ms of processors for a gigabyte"
                    .formatted(name, BYTES * 1e3 / median(clock), median(processors) * 1e3 / BYTES);
        }
    }

    private void measure(String name, TransportOptions options) throws InterruptedException {
        Device far = far(options);
        List<Way> ways =
                List.of(new Way("there"), new Way("back"), new Way("written"), new Way("read"), new Way("bare"));
        try (Arena arena = Arena.ofShared();
                Buffer host = far.allocator()
                        .allocate(
                                new BufferParams(
                                        MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT),
                                BYTES);
                Buffer buffer = far.allocator()
                        .allocate(new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT), BYTES)) {
            MemorySegment memory = arena.allocate(BYTES, 64).fill((byte) 7);
            for (int round = 0; round < ROUNDS; round++) {
                ways.get(0).measure(() -> copy(far, host, buffer));
                ways.get(1).measure(() -> copy(far, buffer, host));
                ways.get(2).measure(() -> buffer.write(0, memory));
                ways.get(3).measure(() -> buffer.read(0, memory));
                ways.get(4).measure(ClusterSpeedTests::bare);
            }
            ways.forEach(each -> System.out.println("random: " + name + ", " + each));
            long[] nanos = new long[20_000];
            for (int i = 0; i < nanos.length; i++) {
                try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                        Fence signal = Fence.at(timeline, 1)) {
                    long began = System.nanoTime();
                    far.queue(0).fill(null, signal, buffer, 0, 4, i, 4, 0);
                    signal.await(SOON);
                    nanos[i] = System.nanoTime() - began;
                }
            }
            long[] warm = Arrays.copyOfRange(nanos, nanos.length / 2, nanos.length);
            Arrays.sort(warm);
            System.out.println("random: %s, a small operation: %d us, 99th percentile %d us"
                    .formatted(name, warm[warm.length / 2] / 1000, warm[warm.length * 99 / 100] / 1000));
        }
    }

    /** One operation that moves all bytes, between memory of this process and of the other node. */
    private static void copy(Device far, Buffer from, Buffer to) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence signal = Fence.at(timeline, 1)) {
            far.queue(0).copy(null, signal, from, 0, to, 0, BYTES, 0);
            signal.await(SOON);
        }
    }

    /** The same bytes from one direct buffer into another over a plain connection of the loopback interface. */
    private static void bare() {
        try (ServerSocketChannel server =
                        ServerSocketChannel.open().bind(new InetSocketAddress(GrpcTransportTests.LOOPBACK, 0));
                SocketChannel from = SocketChannel.open(server.getLocalAddress());
                SocketChannel to = server.accept()) {
            ByteBuffer source = ByteBuffer.allocateDirect(CHUNK);
            CompletableFuture<Void> sent = CompletableFuture.runAsync(
                    () -> {
                        try {
                            for (int left = BYTES; left > 0; left -= CHUNK) {
                                source.clear();
                                while (source.hasRemaining()) {
                                    from.write(source);
                                }
                            }
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
            ByteBuffer target = ByteBuffer.allocateDirect(CHUNK);
            for (long left = BYTES; left > 0; ) {
                target.clear();
                left -= to.read(target);
            }
            sent.join();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void inPlainText() throws Exception {
        measure("plain text", TransportOptions.of(GrpcTransportTests.LOOPBACK, 0));
    }

    @Test
    void overTls(@TempDir Path directory) throws Exception {
        measure(
                "TLS",
                TransportOptions.of(GrpcTransportTests.LOOPBACK, 0)
                        .withTls(TestCertificates.tls(
                                new TestCertificates(directory).issue("near", "ip:127.0.0.1,dns:localhost"))));
    }
}
