package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
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
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.copying.CopyingDevice;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory shared by devices of a driver, memory of the host and the device, and events and memory of others. */
@Timeout(300)
class GpuSharingTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int ELEMENTS = 1000;
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_BOTH = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<StreamDevice> devices = new ArrayList<>();
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private @Nullable GpuDrivers fake;
    private long value;

    private void open(GpuKind kind, String settings, int count) {
        GpuDrivers made = GpuDrivers.fake(directory, kind, settings);
        fake = made;
        for (int i = 0; i < count; i++) {
            devices.add(made.driver().open(Integer.toString(i), DeviceOptions.DEFAULTS));
        }
    }

    private FakeGpu library() {
        return Objects.requireNonNull(Objects.requireNonNull(fake).library());
    }

    private <T extends AutoCloseable> T closed(T resource) {
        opened.add(resource);
        return resource;
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        for (StreamDevice device : devices) {
            device.close();
            assertThat(device.allocator().statistics().bytesLive()).isZero();
            GpuDrivers.assertNothingLeft(device);
        }
        timeline.close();
        if (fake != null) {
            fake.assertNothingToComplainOf();
        }
    }

    private Fence next() {
        return closed(Fence.at(timeline, ++value));
    }

    private Fence last() {
        return closed(Fence.at(timeline, value));
    }

    private void await() {
        timeline.await(value, LONG);
    }

    private Buffer buffer(int device) {
        return closed(devices.get(device).allocator().allocate(OF_DEVICE, 4L * ELEMENTS));
    }

    private static int[] contents(Buffer buffer) {
        int[] result = new int[ELEMENTS];
        buffer.read(0, MemorySegment.ofArray(result));
        return result;
    }

    private void scale(int device, Executable kernels, Buffer in, Buffer out, int factor, int more) {
        devices.get(device)
                .queue(0)
                .dispatch(
                        last(),
                        next(),
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(ELEMENTS, 1, 1),
                        new int[] {factor, more},
                        BindingTable.of(in, out),
                        0);
    }

    // ---- Peers.

    @ParameterizedTest
    @CsvSource({"CUDA,", "HIP,", "CUDA, no_attribute=115", "HIP, no_attribute=88"})
    void devicesOfADriverUseEachOthersMemoryInPlace(GpuKind kind, @Nullable String more) {
        open(kind, "devices=2 peer " + (more == null ? "" : more), 2);
        assertThat(devices.get(0).memoryObstacle(devices.get(1))).isEmpty();
        assertThat(devices.get(1).memoryObstacle(devices.get(0))).isEmpty();
        assertThat(CopyingDevice.of(List.copyOf(devices), "program")).isEqualTo(devices); // no copies
        List<Executable> kernels =
                devices.stream().map(each -> closed(GpuKernels.load(each))).toList();
        Buffer[] buffers = {buffer(0), buffer(1)};
        buffers[0].write(0, MemorySegment.ofArray(new int[ELEMENTS]));
        library().forget();
        for (int stage = 0;
                stage < 20;
                stage++) { // each reads data of the other device, and writes into its own, or the other way round
            int from = stage % 2;
            if (stage % 4 < 2) {
                scale(stage % 3 % 2, kernels.get(stage % 3 % 2), buffers[from], buffers[1 - from], 1, stage);
                continue;
            }
            try (CommandBuffer commands = devices.get(from).createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 1)) {
                commands.dispatch(
                        kernels.get(from),
                        JavaKernels.SCALE,
                        DispatchConfig.of(ELEMENTS, 1, 1),
                        new int[] {1, stage},
                        List.of(BufferRef.slot(0, 0, Buffer.WHOLE), BufferRef.of(buffers[1 - from], 0, Buffer.WHOLE)),
                        0);
                commands.finish();
                devices.get(from).queue(0).execute(last(), next(), commands, BindingTable.of(buffers[from]), 0);
            }
        }
        await();
        assertThat(library().calls(kind == GpuKind.CUDA ? "copy_cuda" : "copy_hip"))
                .isZero();
        assertThat(contents(buffers[0])).containsOnly(190);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void transfersBetweenPeersAreASingleCopy(GpuKind kind) {
        open(kind, "devices=2 peer", 2);
        Buffer first = buffer(0);
        Buffer second = buffer(1);
        devices.get(1).queue(0).fill(null, next(), first, 0, Buffer.WHOLE, 7, 4, 0);
        await();
        library().forget();
        devices.get(0).queue(0).copy(last(), next(), first, 0, second, 0, Buffer.WHOLE, 0);
        await();
        assertThat(library().calls(kind == GpuKind.CUDA ? "copy_cuda" : "copy_hip"))
                .isOne();
        assertThat(contents(second)).containsOnly(7);
        // Where the host comes in, the memory's own device moves the bytes; the memory is freed, too.
        devices.get(0).queue(0).update(last(), next(), MemorySegment.ofArray(new int[] {5}), second, 0, 0);
        await();
        assertThat(contents(second)[0]).isEqualTo(5);
        Buffer transientBuffer = closed(devices.get(1).queue(0).alloca(last(), next(), OF_DEVICE, 64, 0));
        devices.get(0).queue(0).fill(last(), next(), transientBuffer, 0, 64, 1, 4, 0);
        devices.get(0).queue(0).dealloca(last(), next(), transientBuffer, 0);
        await();
        devices.get(0).queue(0).fill(last(), next(), transientBuffer, 0, 64, 1, 4, 0);
        assertThatThrownBy(this::await).hasMessageContaining("has been deallocated");
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void otherDevicesCopyThroughTheHost(GpuKind kind) {
        open(kind, "devices=2", 2);
        assertThat(devices.get(0).memoryObstacle(devices.get(1)))
                .contains("the host does not see the memory of device '%s:1'"
                        .formatted(devices.get(1).info().driver()));
        Buffer first = buffer(0);
        assertThatThrownBy(() -> devices.get(1).queue(0).fill(null, null, first, 0, 4, 1, 4, 0))
                .hasMessageContaining("was not created by device");
        assertThat(CopyingDevice.of(List.copyOf(devices), "program")).isNotEqualTo(devices);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aClosedPeerIsNone(GpuKind kind) {
        open(kind, "devices=2 peer", 2);
        devices.get(1).close();
        assertThat(devices.get(0).memoryObstacle(devices.get(1))).isPresent();
        StreamDevice again = Objects.requireNonNull(fake).driver().open("1", DeviceOptions.DEFAULTS); // another context
        devices.set(1, again);
        assertThat(devices.get(0).memoryObstacle(again)).isEmpty();
        devices.get(0).queue(0).fill(null, next(), buffer(1), 0, 64, 1, 4, 0);
        await();
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aLostPeerFailsItsOwnWorkOnly(GpuKind kind) {
        open(kind, "devices=2 peer kernel_fault=1", 2);
        Executable faulting = closed(GpuKernels.load(devices.get(1)));
        Executable kernels = closed(GpuKernels.load(devices.get(0)));
        Buffer own = buffer(0);
        Buffer other = buffer(0);
        own.write(0, MemorySegment.ofArray(new int[ELEMENTS]));
        scale(1, faulting, own, other, 1, 1);
        assertThatThrownBy(this::await)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED));
        TimelineSemaphore done = closed(TimelineSemaphore.create(0));
        devices.get(0)
                .queue(0)
                .dispatch(
                        null,
                        closed(Fence.at(done, 1)),
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(ELEMENTS, 1, 1),
                        new int[] {1, 4},
                        BindingTable.of(own, other),
                        0);
        done.await(1, LONG);
        assertThat(contents(other)).containsOnly(4);
    }

    /** Stages on any of three devices and buffers of any, in the order needed by their data. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void randomPipelinesOverPeersMatchASingleDevice(GpuKind kind) {
        open(kind, "devices=3 peer", 3);
        List<Executable> kernels =
                devices.stream().map(each -> closed(GpuKernels.load(each))).toList();
        List<Buffer> buffers = List.of(buffer(0), buffer(1), buffer(2), buffer(0));
        long seed = Effort.seed(getClass(), "peers", 20261123);
        Random random = new Random(seed);
        int[] expected = new int[buffers.size()];
        buffers.forEach(each -> each.write(0, MemorySegment.ofArray(new int[ELEMENTS])));
        for (int i = 0; i < Effort.rounds(300); i++) {
            int from = random.nextInt(buffers.size());
            int to = (from + 1 + random.nextInt(buffers.size() - 1)) % buffers.size();
            int device = random.nextInt(devices.size());
            if (random.nextInt(3) == 0) {
                devices.get(device)
                        .queue(random.nextInt(2))
                        .copy(last(), next(), buffers.get(from), 0, buffers.get(to), 0, Buffer.WHOLE, 0);
                expected[to] = expected[from];
            } else {
                int factor = 1 + random.nextInt(3);
                scale(device, kernels.get(device), buffers.get(from), buffers.get(to), factor, i);
                expected[to] = expected[from] * factor + i;
            }
        }
        await();
        for (int i = 0; i < buffers.size(); i++) {
            assertThat(contents(buffers.get(i)))
                    .as("seed %d, buffer %d", seed, i)
                    .containsOnly(expected[i]);
        }
    }

    // ---- Managed memory.

    private static String managed(GpuKind kind) {
        return kind == GpuKind.CUDA ? "attribute=89:1" : "attribute=9:1";
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void managedMemoryIsMappedAndLocalToTheDevice(GpuKind kind) {
        open(kind, managed(kind), 1);
        Executable kernels = closed(GpuKernels.load(devices.getFirst()));
        Buffer both = closed(devices.getFirst().allocator().allocate(OF_BOTH, 4L * ELEMENTS));
        assertThat(both.memoryType())
                .isEqualTo(MemoryType.DEVICE_LOCAL
                        | MemoryType.HOST_VISIBLE
                        | MemoryType.HOST_COHERENT
                        | MemoryType.HOST_CACHED);
        both.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 0);
        scale(0, kernels, both, both, 1, 6);
        await();
        assertThat(both.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT)).containsOnly(6);
        assertThat(library().calls("memory_managed")).isOne();
        Buffer own = buffer(0);
        devices.getFirst().queue(0).copy(last(), next(), both, 0, own, 0, Buffer.WHOLE, 0);
        await();
        assertThat(contents(own)).containsOnly(6);
        // Memory without a need of mapping is not mapped.
        BufferParams wished = new BufferParams(
                MemoryType.OPTIMAL | MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT);
        assertThat(closed(devices.getFirst().allocator().allocate(wished, 64)).memoryType())
                .isEqualTo(MemoryType.DEVICE_LOCAL);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void withoutManagedMemoryTheMemoryOfTheHostIsUsed(GpuKind kind) {
        open(kind, "", 1);
        Buffer both = closed(devices.getFirst().allocator().allocate(OF_BOTH, 64));
        assertThat(both.memoryType() & MemoryType.HOST_LOCAL).isEqualTo(MemoryType.HOST_LOCAL);
        assertThat(library().calls("memory_managed")).isZero();
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void missingManagedMemoryIsRefused(GpuKind kind) {
        open(kind, managed(kind) + " fail=memory_managed:1:2 fail=memory_managed:2:2 fail=memory_managed:3:801", 1);
        // The first fails when the usual slab is refused, and then the smallest sufficient slab.
        for (StatusCode expected : List.of(StatusCode.RESOURCE_EXHAUSTED, StatusCode.UNIMPLEMENTED)) {
            assertThatThrownBy(() -> devices.getFirst().allocator().allocate(OF_BOTH, 64))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(expected))
                    .hasMessageContaining("allocation of managed memory of");
        }
        closed(devices.getFirst().allocator().allocate(OF_BOTH, 64));
    }

    // ---- Memory of others.

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void memoryOfOthersIsUsedInPlaceUntilTheLastWorkIsOver(GpuKind kind) {
        open(kind, "", 1);
        StreamDevice device = devices.getFirst();
        GpuDevice handle = GpuDrivers.handle(device);
        long address = handle.allocateMemory(8L * ELEMENTS, false);
        Owner owner = new Owner();
        Buffer imported = device.allocator().importDevice(OF_DEVICE, address + 4L * 16, 4L * ELEMENTS, owner);
        assertThat(owner.users).hasValue(1);
        Buffer own = buffer(0);
        library().hang();
        device.queue(0).fill(null, next(), imported, 0, Buffer.WHOLE, 8, 4, 0);
        device.queue(0).copy(last(), next(), imported, 0, own, 0, Buffer.WHOLE, 0);
        imported.close();
        assertThat(owner.users).hasValue(1);
        library().goOn();
        await();
        assertThat(contents(own)).containsOnly(8);
        while (owner.users.get() != 0) {
            Thread.onSpinWait();
        }
        handle.freeMemory(address, false);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void memoryUnknownToTheDriverIsRefused(GpuKind kind) {
        open(kind, "", 1);
        StreamDevice device = devices.getFirst();
        GpuDevice handle = GpuDrivers.handle(device);
        long address = handle.allocateMemory(4096, false);
        Owner owner = new Owner();
        refused(StatusCode.INVALID_ARGUMENT, "are not in the allocation of 4096 bytes", address + 64, 4096, owner);
        refused(StatusCode.INVALID_ARGUMENT, "aligned to 64 bytes", address + 4, 64, owner);
        refused(StatusCode.INVALID_ARGUMENT, "of 0 bytes", address, 0, owner);
        handle.freeMemory(address, false);
        refused(StatusCode.NOT_FOUND, "finding memory at 0x", address, 64, owner);
        assertThat(owner.users).hasValue(0);
    }

    private void refused(StatusCode code, String text, long address, long size, RefCounted owner) {
        assertThatThrownBy(() -> devices.getFirst().allocator().importDevice(OF_DEVICE, address, size, owner))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(text);
    }

    // ---- Events of others.

    /** Work of others on the device, and the event behind. */
    private record Others(GpuDevice device, long stream, long event, long memory) implements AutoCloseable {
        static Others of(GpuDevice device) {
            return new Others(
                    device, device.createStream(), device.createEvent(), device.allocateMemory(4L * ELEMENTS, false));
        }

        void begin() {
            GpuWords words = new GpuWords();
            words.fill(memory, 4L * ELEMENTS, 3, 4);
            words.record(event);
            device.run(stream, words.segment());
        }

        @Override
        public void close() {
            device.releaseStream(stream);
            device.releaseEvent(event);
            device.freeMemory(memory, false);
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void theDeviceWaitsForEventsOfOthers(GpuKind kind) {
        open(kind, "", 1);
        StreamDevice device = devices.getFirst();
        Others others = closed(Others.of(GpuDrivers.handle(device)));
        library().hang();
        others.begin();
        Buffer theirs = closed(device.allocator().importDevice(OF_DEVICE, others.memory, 4L * ELEMENTS, null));
        TimelineSemaphore theirDone = closed(TimelineSemaphore.create(0));
        device.importEvent(others.event, theirDone, 5);
        Buffer own = buffer(0);
        library().forget();
        device.queue(0).copy(closed(Fence.at(theirDone, 5)), next(), theirs, 0, own, 0, Buffer.WHOLE, 0);
        assertThat(library().calls("stream_wait_event")).isOne(); // and the host does not
        assertThat(device.queue(0).counters().deviceWaits()).isOne();
        assertThat(theirDone.value()).isZero();
        library().goOn();
        await();
        assertThat(contents(own)).containsOnly(3);
        theirDone.await(5, LONG);
        assertThat(theirDone.isTainted(5)).isTrue();
        device.queue(0).copy(closed(Fence.at(theirDone, 5)), next(), theirs, 0, own, 0, Buffer.WHOLE, 0);
        await();
        assertThat(library().calls("stream_wait_event")).isOne(); // over
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void theHostLearnsOfEventsOfOthers(GpuKind kind) {
        open(kind, "", 1);
        StreamDevice device = devices.getFirst();
        Others others = closed(Others.of(GpuDrivers.handle(device)));
        TimelineSemaphore done = closed(TimelineSemaphore.create(0));
        for (int i = 1; i <= 20; i++) { // recorded again once over
            others.begin();
            device.importEvent(others.event, done, i);
            done.await(i, LONG);
        }
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void importsOfEventsAreTakenBackAndFailWithTheDevice(GpuKind kind) {
        open(kind, "", 1);
        StreamDevice device = devices.getFirst();
        Others others = closed(Others.of(GpuDrivers.handle(device)));
        TimelineSemaphore cancelled = closed(TimelineSemaphore.create(0));
        TimelineSemaphore failing = closed(TimelineSemaphore.create(0));
        library().hang();
        others.begin();
        Cancellation cancellation = device.importEvent(others.event, cancelled, 1);
        assertThatThrownBy(() -> device.importEvent(others.event, cancelled, 1))
                .hasMessageContaining("is reached or promised already");
        assertThat(cancellation.cancel()).isTrue();
        cancelled.signal(1);
        device.importEvent(others.event, failing, 1);
        library().lose();
        assertThatThrownBy(() -> failing.await(1, LONG)).hasMessageContaining("is lost");
        library().goOn();
        assertThatThrownBy(() -> device.importEvent(others.event, closed(TimelineSemaphore.create(0)), 1))
                .isInstanceOf(IreeException.class);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void anythingButAnEventIsRefused(GpuKind kind) {
        open(kind, "", 1);
        assertThatThrownBy(() -> devices.getFirst().importEvent(0x40, timeline, 1))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining("INVALID_HANDLE");
        assertThat(library().complaints()).singleElement().asString().contains("is no event");
        library().forget();
        timeline.signal(1);
        Device device = devices.getFirst();
        device.queue(0).fill(closed(Fence.at(timeline, 1)), closed(Fence.at(timeline, 2)), buffer(0), 0, 4, 1, 4, 0);
        timeline.await(2, LONG);
    }
}
