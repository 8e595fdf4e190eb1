package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The frames of a client to a server, recorded and then changed: whatever comes, the server ends the session or the
 * command with a status, and leaves nothing behind. Prints the seed of a failing run.
 */
@Timeout(300)
class HostileFramesTest {
    private static final int ROUNDS = 400;

    private static final List<Sent> FRAMES = new ArrayList<>();

    /** A frame of the recorded session. */
    private record Sent(PeerStream stream, byte[] bytes) {
        Sent with(byte[] other) {
            return new Sent(stream, other);
        }
    }

    /** A server without a network: frames are handed in, answers are read. */
    private static final class Server implements AutoCloseable, PeerConnection {
        final Device device;
        final RemoteNode node;
        final PeerListener in;
        final Map<Long, Long> ended = new TreeMap<>(); // last sequence by lane
        long completed;
        final AtomicInteger spans = new AtomicInteger(); // begun and not ended

        Server() {
            NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, 7, 1, 9);
            SchedulingDomain domain = TestNodes.domain(identity);
            device = new LocalBackend()
                    .open(DeviceOptions.builder()
                            .queueCount(2)
                            .memoryLimit(64 << 20)
                            .schedulingDomain(domain));
            RemoteTracer tracer = new RemoteTracer() {
                @Override
                public Consumer<@Nullable IreeException> begin(RemoteWork work) {
                    spans.incrementAndGet();
                    return _ -> spans.decrementAndGet();
                }
            };
            node = RemoteNode.builder(identity, domain)
                    .device(device)
                    .tracer(tracer)
                    .build();
            in = node.accept(this);
        }

        @Override
        public synchronized boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body) {
            if (stream == PeerStream.QUEUE) {
                FrameReader frame = new FrameReader(stream, head);
                if (frame.type == FrameType.COMPLETED) {
                    long lane = frame.u64("lane");
                    long sequence = frame.u64("sequence");
                    assertThat(sequence).as("end of a command").isEqualTo(ended.getOrDefault(lane, 0L) + 1);
                    ended.put(lane, sequence);
                    completed++;
                    notifyAll();
                }
            }
            return true;
        }

        synchronized void awaitEnds(int count) throws InterruptedException {
            while (completed < count) {
                wait();
            }
        }

        @Override
        public void close(IreeException cause) {}

        @Override
        public String describe() {
            return "hostile";
        }

        @Override
        public void close() {
            node.close();
            device.close(); // waits for running work
            assertThat(device.allocator().statistics().bytesLive())
                    .as("bytes left")
                    .isZero();
            assertThat(node.leftBehind()).as("bytes charged to the peer").hasValue(0);
            assertThat(spans).as("spans without an end").hasValue(0);
        }
    }

    /** Records a session with every kind of frame. */
    @BeforeAll
    static void record() {
        FRAMES.clear();
        RemoteBackend backend = new RemoteBackend(9, (stream, bytes) -> {
            synchronized (FRAMES) {
                FRAMES.add(new Sent(stream, bytes));
            }
        });
        BufferParams far = new BufferParams(
                MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS);
        BufferParams near = new BufferParams(
                MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
        try (Device device = backend.open(DeviceOptions.builder().queueCount(2));
                Executable kernels = JavaKernels.load(device, 5);
                Buffer buffer = device.allocator().allocate(far, 4096);
                Buffer host = device.allocator().allocate(near, 4096);
                HalFile constants =
                        HalFile.ofMemory(MemorySegment.ofArray(new byte[Step.LEAST_CONTENT]), MemoryAccess.READ, null);
                TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                CommandBuffer commands =
                        device.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 1)) {
            commands.fillBuffer(BufferRef.slot(0, 0, 64), 1, 4, 0);
            commands.executionBarrier(-1 & 0x3F, -1 & 0x3F, 0);
            commands.updateBuffer(MemorySegment.ofArray(new int[16]), BufferRef.of(buffer, 64, 64), 0);
            commands.copyBuffer(BufferRef.slot(0, 0, 64), BufferRef.of(buffer, 256, 64), 0);
            commands.dispatch(
                    kernels,
                    JavaKernels.SCALE,
                    DispatchConfig.of(4, 1, 1),
                    new int[] {2, 3},
                    List.of(BufferRef.of(buffer, 0, 64), BufferRef.of(buffer, 512, 64)),
                    0);
            commands.dispatchIndirect(
                    kernels,
                    JavaKernels.COORDINATES,
                    BufferRef.of(buffer, 1024, 12),
                    new int[0],
                    List.of(BufferRef.of(buffer, 2048, 64)),
                    0);
            commands.finish();
            long value = 0;
            for (int i = 0; i < 3; i++) {
                device.queue(0)
                        .fill(
                                value == 0 ? null : Fence.at(timeline, value),
                                Fence.at(timeline, ++value),
                                buffer,
                                0,
                                64,
                                7,
                                4,
                                0);
                device.queue(1)
                        .execute(
                                Fence.at(timeline, value),
                                Fence.at(timeline, ++value),
                                commands,
                                BindingTable.of(buffer),
                                0);
                device.queue(0)
                        .dispatch(
                                Fence.at(timeline, value),
                                Fence.at(timeline, ++value),
                                kernels,
                                JavaKernels.ADD,
                                DispatchConfig.of(4, 1, 1),
                                new int[0],
                                BindingTable.of(buffer, host, host),
                                0);
                device.queue(1)
                        .copy(Fence.at(timeline, value), Fence.at(timeline, ++value), host, 0, buffer, 0, 4096, 0);
            }
            device.queue(0)
                    .read(
                            Fence.at(timeline, value),
                            Fence.at(timeline, ++value),
                            constants,
                            0,
                            buffer,
                            0,
                            Step.LEAST_CONTENT,
                            0);
            timeline.await(value, Duration.ofSeconds(60));
            writeConstant(device);
            byte[] bytes = new byte[4096];
            buffer.read(0, MemorySegment.ofArray(bytes));
            buffer.write(0, MemorySegment.ofArray(bytes));
        } finally {
            backend.close();
        }
        assertThat(FRAMES).hasSizeGreaterThan(30);
        assertThat(FRAMES)
                .filteredOn(each -> each.stream == PeerStream.QUEUE)
                .extracting(each -> (int) each.bytes[0])
                .contains(FrameType.CONSTANT.number, FrameType.VIEW.number, FrameType.SEAL.number);
    }

    /** Writes into a constant during its making, and in a call. */
    private static void writeConstant(Device device) {
        BufferParams params = new BufferParams(
                        MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT | BufferUsage.SHARING_IMMUTABLE)
                .withAccess(MemoryAccess.READ);
        MemoryHolder loading = new MemoryHolder("loading", new OperationsUnderWay());
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        try (SealedMemory memory = SealedMemory.create(64)) {
            Buffer constant = during(loading, () -> device.allocator().importHost(params, memory.seal(), null));
            for (MemoryHolder each : List.of(loading, call, call)) {
                try (Fence done = Fence.adopt(TimelineSemaphore.create(0), 1)) {
                    during(each, () -> {
                        device.queue(0).fill(null, done, constant, 0, 8, 3, 4, 0);
                        return null;
                    });
                    done.await(Duration.ofSeconds(60));
                }
            }
            constant.close();
        }
    }

    private static <T extends @Nullable Object> T during(MemoryHolder call, Supplier<T> work) {
        MemoryHolder before = call.enter();
        try {
            return work.get();
        } finally {
            call.leave(before);
        }
    }

    /** Hands frames to a new server; returns why the session failed, or null. */
    private static IreeException run(List<Sent> frames, Object seed) {
        RemoteSession session = null;
        try (Server server = new Server()) {
            for (Sent each : frames) {
                server.in.received(each.stream, ByteBuffer.wrap(each.bytes));
                if (session == null && !server.node.sessions().isEmpty()) {
                    session = server.node.sessions().getFirst();
                }
            }
            IreeException failure = session == null ? null : session.failure();
            if (failure != null) {
                assertThat(failure.getMessage()).isNotBlank();
            }
            return failure;
        } catch (Throwable t) {
            throw new AssertionError("seed " + seed, t);
        }
    }

    @Test
    void theRecordedSessionItselfIsFine() {
        assertThat(run(FRAMES, "none")).isNull();
    }

    @Test
    void anyChangeOfAFrameEndsInAStatus() {
        Map<String, Integer> outcomes = new TreeMap<>();
        for (long seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            List<Sent> frames = new ArrayList<>(FRAMES);
            for (int i = random.nextInt(3); i >= 0; i--) {
                int at = random.nextInt(frames.size());
                change(frames, at, random);
            }
            IreeException failure = run(frames, seed);
            outcomes.merge(failure == null ? "OK" : failure.code().name(), 1, Integer::sum);
        }
        assertThat(outcomes.keySet()).contains("OK", "DATA_LOSS").doesNotContain("INTERNAL");
    }

    private static void change(List<Sent> frames, int at, Random random) {
        Sent frame = frames.get(at);
        byte[] bytes = frame.bytes.clone();
        switch (random.nextInt(9)) {
            case 0, 1, 2 -> bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            case 3 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 4 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(40));
            case 5 -> giant(bytes, random);
            case 6 -> {
                frames.add(random.nextInt(frames.size()), frame); // once more, elsewhere
                return;
            }
            case 7 -> {
                frames.remove(at);
                renumber(frames, frame.stream);
                return;
            }
            default -> {
                int other = random.nextInt(frames.size());
                frames.set(at, frames.get(other));
                frames.set(other, frame);
                renumber(frames, frame.stream);
                renumber(frames, frames.get(at).stream);
                return;
            }
        }
        frames.set(at, frame.with(bytes));
    }

    /** A length, a count, a handle, an axis, an epoch: of the largest size possible. */
    private static void giant(byte[] bytes, Random random) {
        ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < 17) {
            return;
        }
        int at = 8 + random.nextInt(bytes.length - 16);
        switch (random.nextInt(3)) {
            case 0 -> all.putLong(at, Long.MAX_VALUE - random.nextInt(3));
            case 1 -> all.putInt(at, Integer.MAX_VALUE - random.nextInt(3));
            default -> all.putLong(at, -1L >>> random.nextInt(64));
        }
    }

    /** A hostile peer numbers its frames correctly. */
    private static void renumber(List<Sent> frames, PeerStream stream) {
        int number = 0;
        for (int i = 0; i < frames.size(); i++) {
            Sent each = frames.get(i);
            if (each.stream == stream && each.bytes.length >= FrameWriter.HEAD) {
                byte[] bytes = each.bytes.clone();
                ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(FrameWriter.NUMBER, ++number);
                frames.set(i, each.with(bytes));
            }
        }
    }

    @Test
    void onlyTheBytesOfATransferComeInPieces() {
        FrameWriter credit = new FrameWriter(FrameType.CREDIT).u64(2).u64(0);
        FrameWriter cut = new FrameWriter(FrameType.DATA);
        for (FrameWriter each : List.of(credit, cut)) {
            ByteBuffer frame = each.finish().putInt(FrameWriter.NUMBER, 1);
            try (Server server = new Server()) {
                for (Sent sent : FRAMES) {
                    if (sent.stream == PeerStream.CONTROL) {
                        server.in.received(sent.stream, ByteBuffer.wrap(sent.bytes));
                    }
                }
                RemoteSession session = server.node.sessions().getFirst();
                server.in.received(PeerStream.BULK, frame, ByteBuffer.allocate(PeerListener.PIECES_FROM));
                assertThat(session.failure())
                        .isInstanceOfSatisfying(
                                IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
            }
        }
    }

    @Test
    void handlesOfAnotherSessionAreUnknown() throws InterruptedException {
        List<Sent> frames = new ArrayList<>(FRAMES.stream()
                .filter(each -> each.stream != PeerStream.QUEUE
                        || each.bytes[0] != FrameType.ALLOCATE.number && each.bytes[0] != FrameType.RELEASE.number)
                .toList());
        renumber(frames, PeerStream.QUEUE);
        Server server = new Server();
        for (Sent each : frames) {
            server.in.received(each.stream, ByteBuffer.wrap(each.bytes));
        }
        assertThat(server.node.sessions())
                .as("commands fail, the session does not")
                .hasSize(1);
        server.awaitEnds(5);
        server.close();
    }

    @Test
    void commandsForAClosedDeviceEnd() throws InterruptedException {
        Server server = new Server();
        for (Sent each : FRAMES) {
            if (each.stream == PeerStream.QUEUE && each.bytes[0] == FrameType.COMMAND.number) {
                server.device.close();
            }
            server.in.received(each.stream, ByteBuffer.wrap(each.bytes));
        }
        assertThat(server.node.sessions())
                .as("commands fail, the session does not")
                .hasSize(1);
        server.awaitEnds(5);
        server.close();
    }
}
