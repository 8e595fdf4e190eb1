package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Constants of a client on the CPU of a server, and the client's views: reports, limits, effects of a hostile client,
 * and no leftovers.
 */
@Timeout(120)
class ServerConstantsTest {
    private static final int SIZE = 256 << 10;
    private static final long MEMORY_LIMIT = 700 << 10; // for the constant and a written view
    private static final RemoteOptions OPTIONS =
            new RemoteOptions(64 << 10, 1024, MEMORY_LIMIT, 1 << 16, 1 << 20, 4 << 20);
    private static final BufferParams CONSTANT = new BufferParams(
                    MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT | BufferUsage.SHARING_IMMUTABLE)
            .withAccess(MemoryAccess.READ);

    private final TestNodes nodes = new TestNodes();
    private final Loopback loopback = new Loopback(3);
    private final RemoteNode one = nodes.node(1);
    private final NodeIdentity identity = new NodeIdentity(TestNodes.CLUSTER, 2, 1, 2);
    private final SchedulingDomain domain = TestNodes.domain(identity);
    private final Device cpu = new LocalBackend().open(DeviceOptions.builder().schedulingDomain(domain));
    private final RemoteNode two =
            RemoteNode.builder(identity, domain).device(cpu).options(OPTIONS).build();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Loopback.Link link = loopback.connect(one, two);
    private final List<FrameType> answers = new ArrayList<>(); // of the server, in order; guarded by itself
    private final RemoteSession client;

    ServerConstantsTest() {
        loopback.run();
        client = one.session(2);
        Objects.requireNonNull(link.back).change(bytes -> {
            synchronized (answers) {
                answers.add(FrameType.of(bytes[0], streamOf(bytes[0])));
            }
            return bytes;
        });
    }

    private static PeerStream streamOf(int number) {
        return Arrays.stream(FrameType.values())
                .filter(each -> each.number == number)
                .findFirst()
                .orElseThrow()
                .stream;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        nodes.close();
        two.close();
        loopback.stop();
        cpu.close();
        assertThat(cpu.allocator().statistics().bytesLive()).isZero();
        assertThat(two.leftBehind()).as("bytes of the peer").hasValue(0);
        assertThat(one.memory()).as("memory at the peer").isEmpty();
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    private Device far() {
        loopback.start();
        return opened(client.openDevice(
                cpu.id(), DeviceOptions.builder().schedulingDomain(one.domain()).build()));
    }

    private Buffer constant(Device far) {
        SealedMemory memory = opened(SealedMemory.create(SIZE));
        memory.writable().fill((byte) 7);
        return opened(far.allocator().importHost(CONSTANT, memory.seal(), null));
    }

    private static MemoryHolder call(String name) {
        return new MemoryHolder(name, new OperationsUnderWay());
    }

    /** Begins to fill the start of a constant in a call. */
    private static void fill(MemoryHolder call, Device far, Buffer constant, Fence done) {
        MemoryHolder before = call.enter();
        try {
            far.queue(0).fill(null, done, constant, 0, 8, -1, 4, 0);
        } finally {
            call.leave(before);
        }
    }

    /** Fills the start of a constant in a call; returns the failure, or null. */
    private @Nullable IreeException fill(MemoryHolder call, Device far, Buffer constant) {
        try (Fence done = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            fill(call, far, constant, done);
            done.await();
            return null;
        } catch (IreeException e) {
            return e;
        }
    }

    private static byte first(Buffer buffer) {
        byte[] bytes = new byte[1];
        buffer.read(0, MemorySegment.ofArray(bytes));
        return bytes[0];
    }

    /** REMOTE-10: otherwise the client would give the view to another call. */
    @Test
    void theFirstWriteToAViewIsReportedAheadOfTheEndOfTheCommand() {
        Device far = far();
        Buffer constant = constant(far);
        MemoryHolder call = call("call");
        assertThat(first(constant)).isEqualTo((byte) 7);
        synchronized (answers) {
            answers.clear();
        }
        assertThat(fill(call, far, constant)).isNull();
        assertThat(fill(call, far, constant)).isNull();
        call.end();
        synchronized (answers) {
            assertThat(answers)
                    .filteredOn(each -> each == FrameType.WRITTEN || each == FrameType.COMPLETED)
                    .containsExactly(FrameType.WRITTEN, FrameType.COMPLETED, FrameType.COMPLETED);
        }
        assertThat(first(constant)).as("for the next").isEqualTo((byte) 7);
    }

    @Test
    void writtenViewsTakeMemoryOfThePeerUntilTheCallHasFinished() {
        Device far = far();
        Buffer constant = constant(far);
        MemoryHolder one = call("one");
        assertThat(fill(one, far, constant)).isNull();
        MemoryHolder other = call("other");
        IreeException failure = fill(other, far, constant);
        assertThat(failure).isNotNull();
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure).hasMessageContaining("the %d bytes that one peer may have".formatted(MEMORY_LIMIT));
        assertThat(fill(other, far, constant)).as("a view without its writes").isNotNull();
        assertThat(fill(one, far, constant)).as("of the first call").isNull();
        one.end();
        other.end();
        assertThat(fill(call("next"), far, constant)).isNull();
    }

    /** The next call may begin as soon as anybody knows of the end of the work: here, within the signal. */
    @Test
    void aSignalledCallHasNoWrittenViewAnyMore() {
        Device far = far();
        Buffer constant = constant(far);
        MemoryHolder one = call("one");
        TimelineSemaphore first = opened(TimelineSemaphore.create(0));
        TimelineSemaphore second = opened(TimelineSemaphore.create(0));
        first.whenReached(1, (_, _) -> {
            one.end();
            try (Fence done = Fence.at(second, 1)) {
                fill(call("next"), far, constant, done);
            }
        });
        try (Fence done = Fence.at(first, 1)) {
            fill(one, far, constant, done);
        }
        second.await(1, Duration.ofSeconds(60));
    }

    /** A view made again would lack the writes before. */
    @Test
    void aViewWithoutRoomForItsWritesStaysFailed() {
        Device far = far();
        Buffer constant = constant(far);
        Buffer ballast = constant(far);
        MemoryHolder call = call("call");
        assertThat(fill(call, far, constant)).isNotNull();
        ballast.close();
        assertThat(fill(call, far, constant)).isNotNull();
        call.end();
        assertThat(fill(call("next"), far, constant)).isNull();
    }

    private void post(FrameWriter frame) {
        client.post(frame);
        loopback.run();
    }

    private FrameWriter constantFrame(long handle, long transfer, byte[] digest) {
        return new FrameWriter(FrameType.CONSTANT)
                .u64(handle)
                .u16(0)
                .u64(transfer)
                .u64(SIZE)
                .bytes(digest)
                .bytes(GrantKey.create().bytes());
    }

    private static FrameWriter viewFrame(long handle, long of) {
        return new FrameWriter(FrameType.VIEW)
                .u64(handle)
                .u64(of)
                .bytes(GrantKey.create().bytes());
    }

    private static FrameWriter sealFrame(long handle, long of, long length) {
        return new FrameWriter(FrameType.SEAL)
                .u64(handle)
                .u64(of)
                .u64(length)
                .bytes(GrantKey.create().bytes());
    }

    private @Nullable IreeException failure(long handle) {
        ServerObject object = two.session(1).server().objects().find(handle);
        try {
            return object.isSettledOrThen(() -> {}) ? object.failure() : null;
        } finally {
            object.release();
        }
    }

    /** Sends bytes as a constant under a digest; returns the transfer. */
    private void send(long handle, byte[] digest) {
        long transfer = client.transfers().next();
        client.transfers().sendConstant(transfer, MemorySegment.ofArray(new byte[SIZE]));
        post(constantFrame(handle, transfer, digest));
        client.transfers().withdraw(transfer);
    }

    @Test
    void objectsOfUnfitHandlesFailAlone() {
        byte[] digest = RemoteClient.digest(MemorySegment.ofArray(new byte[SIZE]));
        send(1, digest);
        assertThat(failure(1)).isNull();
        post(viewFrame(2, 99));
        assertThat(failure(2).code()).isEqualTo(StatusCode.NOT_FOUND);
        post(viewFrame(3, 1));
        assertThat(failure(3)).isNull();
        post(viewFrame(4, 3));
        assertThat(failure(4)).hasMessageContaining("a view is used as a constant");
        post(sealFrame(5, 3, SIZE - 1));
        assertThat(failure(5)).hasMessageContaining("is made of %d bytes".formatted(SIZE));
        post(new FrameWriter(FrameType.RELEASE).u64(5));
        post(sealFrame(6, 3, SIZE));
        assertThat(failure(6)).as("a constant with the bytes of the view").isNull();
        post(sealFrame(7, 3, SIZE));
        assertThat(failure(7).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        post(viewFrame(8, 7));
        assertThat(failure(8).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        post(new FrameWriter(FrameType.ALLOCATE)
                .u64(9)
                .u16(0)
                .u64(64)
                .bytes(GrantKey.create().bytes()));
        post(viewFrame(10, 9));
        assertThat(failure(10).code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        send(11, new byte[32]);
        assertThat(failure(11)).isNotNull();
        assertThat(client.failure()).as("the session").isNull();
    }

    @Test
    void contentWithAnotherDigestFails() {
        send(1, new byte[32]);
        assertThat(failure(1).code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(failure(1)).hasMessageContaining("do not have the digest that was announced");
    }

    @Test
    void constantsOfNoBytesEndTheSession() {
        post(new FrameWriter(FrameType.CONSTANT)
                .u64(1)
                .u16(0)
                .u64(client.transfers().next())
                .u64(0)
                .bytes(new byte[32])
                .bytes(GrantKey.create().bytes()));
        assertThat(Objects.requireNonNull(client.failure()).code()).isEqualTo(StatusCode.DATA_LOSS);
    }

    @Test
    void aShortenedMappedFileFailsTheConstantAlone(@TempDir Path directory) throws IOException {
        Path path = directory.resolve("constant.bin");
        Files.write(path, new byte[SIZE]);
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, SIZE, arena);
            long transfer = client.transfers().next();
            client.transfers().sendConstant(transfer, mapped);
            file.truncate(0);
            post(constantFrame(1, transfer, new byte[32]));
        }
        assertThat(failure(1).code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(failure(1)).hasMessageContaining("a mapped file has become shorter while being read");
        assertThat(client.failure()).as("the session").isNull();
        byte[] digest = RemoteClient.digest(MemorySegment.ofArray(new byte[SIZE]));
        send(2, digest);
        assertThat(failure(2)).as("of the next constant").isNull();
    }

    /** The check after each test finds leftovers of the constants. */
    @Test
    void aSessionEndingWhileAConstantArrivesLeavesNothing() {
        link.hold(PeerStream.BULK, true);
        long transfer = client.transfers().next();
        client.transfers().sendConstant(transfer, MemorySegment.ofArray(new byte[SIZE]));
        post(constantFrame(1, transfer, new byte[32]));
        post(viewFrame(2, 1));
        post(viewFrame(3, 1));
        post(new FrameWriter(FrameType.RELEASE).u64(3));
        loopback.cut(link);
        loopback.run();
    }

    @Test
    void aConstantReleasedOnArrivalLeavesNothing() {
        Objects.requireNonNull(link.back).hold(PeerStream.BULK, true); // no credit comes
        long transfer = client.transfers().next();
        client.transfers().sendConstant(transfer, MemorySegment.ofArray(new byte[SIZE]));
        post(constantFrame(1, transfer, new byte[32]));
        post(viewFrame(2, 1));
        client.transfers().withdraw(transfer);
        post(new FrameWriter(FrameType.RELEASE).u64(1));
        link.back.hold(PeerStream.BULK, false);
        loopback.run();
        assertThat(failure(2).code()).isEqualTo(StatusCode.CANCELLED);
    }

    /** Only a hostile client makes a constant of itself: the constant waits for itself. */
    @Test
    void aConstantOfItselfLeavesNothing() {
        long handle = 1 << 20;
        client.post(new FrameWriter(FrameType.SEAL)
                .u64(handle)
                .u64(handle)
                .u64(SIZE)
                .bytes(new byte[GrantKey.KEY_BYTES]));
        loopback.run();
        assertThat(two.session(1).failure()).isNull();
        loopback.cut(link);
        loopback.run();
        assertThat(two.sessions()).isEmpty();
        assertThat(two.leftBehind()).as("bytes of the peer").hasValue(0);
    }

    /** A command using the object may end, and the client give the handle back, before the making thread goes on. */
    @Test
    void aMadeObjectIsKeptByItsUsersOnly() {
        List<Runnable> making = new ArrayList<>();
        List<String> events = new ArrayList<>();
        Resource resource = new Resource() {
            @Override
            protected void destroy() {
                events.add("closed");
            }
        };
        ServerObject object = new ServerObject("object", null, () -> events.add("uncharged"));
        object.make(making::add, () -> resource);
        object.isSettledOrThen(() -> {
            assertThat(object.get(Resource.class)).isSameAs(resource);
            object.close(); // the handle
            assertThat(events).containsExactly("closed", "uncharged");
        });
        making.forEach(Runnable::run);
        assertThat(events).as("once").hasSize(2);
    }

    @Test
    void anObjectReleasedWhileMadeLeavesNothing() {
        List<Runnable> making = new ArrayList<>();
        List<String> events = new ArrayList<>();
        ServerObject object = new ServerObject("object", null, () -> events.add("uncharged"));
        object.make(making::add, () -> new Resource() {
            @Override
            protected void destroy() {
                events.add("closed");
            }
        });
        object.close();
        assertThat(events).isEmpty();
        making.forEach(Runnable::run);
        assertThat(events).containsExactly("closed", "uncharged");
    }
}
