package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** STAGE-4, STAGE-5: large transfers with files in memory, registered meanwhile by the driver or refused. */
@Timeout(300)
class FileWindowTest {
    private static final Duration LONG = Duration.ofSeconds(120);
    private static final int MIB = 1 << 20;
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    @TempDir
    private Path directory;

    private final Arena arena = Arena.ofShared();
    private final Owner owner = new Owner();
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private @Nullable GpuDrivers drivers;
    private @Nullable StreamDevice opened;
    private long value;

    private StreamDevice open(GpuKind kind, String settings) {
        GpuDrivers made = GpuDrivers.fake(directory, kind, settings);
        drivers = made;
        StreamDevice device = made.open(DeviceOptions.builder().queueCount(2));
        opened = device;
        return device;
    }

    private FakeGpu library() {
        return Objects.requireNonNull(Objects.requireNonNull(drivers).library());
    }

    @AfterEach
    void nothingIsLeft() {
        StreamDevice device = Objects.requireNonNull(opened);
        device.close();
        GpuDrivers.assertNothingLeft(device); // registrations, too
        Objects.requireNonNull(drivers).assertNothingToComplainOf();
        assertThat(owner.users).hasValue(0);
        timeline.close();
        arena.close();
    }

    private MemorySegment random(Random random, long size) {
        MemorySegment bytes = arena.allocate(size + 8, 8).asSlice(random.nextInt(8), size);
        for (long i = 0; i + 8 <= size; i += 8) {
            bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, i, random.nextLong());
        }
        return bytes;
    }

    private Fence next() {
        return Fence.at(timeline, ++value);
    }

    private void await() {
        timeline.await(value, LONG);
    }

    private HalFile file(MemorySegment bytes) {
        return HalFile.ofMemory(bytes, bytes.isReadOnly() ? MemoryAccess.READ : MemoryAccess.ALL, owner);
    }

    private void there(StreamDevice device, MemorySegment bytes, long from, Buffer buffer, long at, long length) {
        try (HalFile file = file(bytes)) {
            device.queue(0).read(null, next(), file, from, buffer, at, length, 0);
        }
        await();
    }

    private void back(StreamDevice device, Buffer buffer, long at, MemorySegment bytes, long to, long length) {
        try (HalFile file = file(bytes)) {
            device.queue(0).write(null, next(), buffer, at, file, to, length, 0);
        }
        await();
    }

    /** Ranges of any place and length, to the device and back to elsewhere, whatever the driver makes of the memory. */
    @ParameterizedTest
    @CsvSource({
        "CUDA, ''",
        "HIP, ''",
        "CUDA, instances alignment=512 implicit_sync lazy",
        "CUDA, fail=host_register:1:801",
        "CUDA, fail=host_register:2:1 fail=host_register:4:2",
        "HIP, fail=host_register:3:801 fail=host_address:2:1"
    })
    void bytesArriveWhetherRegisteredByTheDriverOrNot(GpuKind kind, String settings) {
        StreamDevice device = open(kind, settings);
        Random random = new Random(Effort.seed(getClass(), "ranges", 20261126));
        int size = 41 * MIB;
        MemorySegment source = random(random, size);
        MemorySegment target = arena.allocate(size);
        MemorySegment expected = arena.allocate(size);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, size)) {
            for (int i = 0; i < Effort.rounds(12); i++) {
                long length = i == 0 ? size : 3 * MIB + random.nextInt(size - 3 * MIB);
                long from = random.nextLong(size - length + 1);
                long at = random.nextLong(size - length + 1);
                long to = random.nextLong(size - length + 1);
                there(device, random.nextBoolean() ? source : source.asReadOnly(), from, buffer, at, length);
                back(device, buffer, at, target, to, length);
                MemorySegment.copy(source, from, expected, to, length);
                assertThat(target.mismatch(expected)).as("round %d", i).isEqualTo(-1);
            }
        }
    }

    @Test
    void theHostCopiesNothingRegistered() {
        StreamDevice device = open(GpuKind.CUDA, "");
        MemorySegment source = arena.allocate(64L * MIB, 4096);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, source.byteSize())) {
            there(device, source, 0, buffer, 0, source.byteSize());
            back(device, buffer, 0, source, 0, source.byteSize());
        }
        long windows = library().calls("host_register");
        assertThat(windows).isBetween(8L, 10L); // of 16 MiB, there and back
        assertThat(library().calls("host_allocate")).as("staging memory").isZero();
    }

    @Test
    void smallTransfersRegisterNothing() {
        StreamDevice device = open(GpuKind.CUDA, "");
        MemorySegment source = random(new Random(6), 3 * MIB);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, source.byteSize())) {
            there(device, source, 0, buffer, 0, source.byteSize());
        }
        assertThat(library().calls("host_register")).isZero();
    }

    /** Memory without an owner may be freed at once when the signals are reached. */
    @Test
    void memoryKeptByNobodyIsNotRegistered() {
        StreamDevice device = open(GpuKind.CUDA, "");
        MemorySegment source = random(new Random(13), 9 * MIB);
        MemorySegment result = arena.allocate(9 * MIB);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, source.byteSize())) {
            try (HalFile file = HalFile.ofMemory(source, MemoryAccess.READ, null)) {
                device.queue(0).read(null, next(), file, 0, buffer, 0, source.byteSize(), 0);
            }
            await();
            assertThat(library().calls("host_register")).isZero();
            back(device, buffer, 0, result, 0, source.byteSize());
        }
        assertThat(result.mismatch(source)).isEqualTo(-1);
    }

    /** Others may own the rest of the first and of the last page, and register or free the rest. */
    @Test
    void onlyWholePagesOfAFileAreRegistered() {
        StreamDevice device = open(GpuKind.CUDA, "");
        MemorySegment all = arena.allocate(6 * MIB, 4096);
        MemorySegment source = all.asSlice(4096, 5 * MIB + 64).asReadOnly(); // the last page is shared
        BufferParams ofHost = new BufferParams(
                MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, source.byteSize())) {
            Objects.requireNonNull(drivers).hang();
            try (HalFile file = file(source)) {
                device.queue(0).read(null, next(), file, 0, buffer, 0, source.byteSize(), 0);
            }
            long began = System.nanoTime();
            while (library().calls("host_register") == 0) {
                assertThat(System.nanoTime() - began).isLessThan(LONG.toNanos());
                Thread.onSpinWait();
            }
            // Refused for a page that is registered to be read.
            device.allocator()
                    .importHost(ofHost, all.asSlice(4096 + 5 * MIB + 64, 64), null)
                    .close();
            Objects.requireNonNull(drivers).goOn();
            await();
        }
    }

    /**
     * The file's contents are the contents at the operation's place in the order of its queue, and not at its
     * submission.
     */
    @Test
    void transfersInPlaceKeepTheOrderOfTheirFences() {
        StreamDevice device = open(GpuKind.CUDA, "");
        long size = 20L * MIB;
        MemorySegment memory = random(new Random(7), size);
        MemorySegment result = arena.allocate(size);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, size);
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                HalFile file = file(memory);
                HalFile out = file(result)) {
            try (Fence wait = Fence.at(gate, 1);
                    Fence first = next();
                    Fence second = next();
                    Fence third = next()) {
                device.queue(0).read(wait, first, file, 0, buffer, 0, size, 0);
                device.queue(1).fill(first, second, buffer, 0, size, 0x55, 1, 0);
                device.queue(0).write(second, third, buffer, 0, file, 0, size / 2, 0);
                try (Fence last = next()) {
                    device.queue(1).read(third, last, file, 0, buffer, 0, size, 0);
                }
            }
            memory.fill((byte) 0x11); // before the gate opens
            gate.signal(1);
            await();
            device.queue(1).write(null, next(), buffer, 0, out, 0, size, 0);
            await();
        }
        assertThat(result.asSlice(0, size / 2).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x55);
        assertThat(result.asSlice(size / 2).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x11);
    }

    /** Drivers may register only once the work of all queues is over. */
    @Test
    void nothingIsRegisteredWhileAnotherQueueIsBusy() {
        StreamDevice device = open(GpuKind.CUDA, "implicit_sync");
        GpuDrivers own = Objects.requireNonNull(drivers);
        long size = 20L * MIB;
        MemorySegment source = random(new Random(11), size);
        MemorySegment result = arena.allocate(size);
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, size);
                Buffer other = device.allocator().allocate(OF_DEVICE, 4096);
                Fence filled = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            there(device, source.asSlice(0, MIB), 0, buffer, 0, MIB); // staging memory is there
            library().forget();
            own.hang(1);
            device.queue(1).fill(null, filled, other, 0, 4096, 1, 1, 0);
            there(device, source, 0, buffer, 0, size);
            assertThat(library().calls("host_register")).isZero();
            own.goOn();
            filled.await(LONG);
            back(device, buffer, 0, result, 0, size);
            assertThat(library().calls("host_register")).isPositive();
        }
        assertThat(result.mismatch(source)).isEqualTo(-1);
    }

    /** The system would read the pages of a file one after the other during the registration. */
    @Test
    void pagesOfAFileAreRegisteredOnceInMemory() throws IOException {
        StreamDevice device = open(GpuKind.CUDA, "");
        long size = 9L * MIB;
        MemorySegment result = arena.allocate(size).fill((byte) 1);
        Path path = directory.resolve("sparse");
        try (RandomAccessFile made = new RandomAccessFile(path.toFile(), "rw")) {
            made.setLength(size);
        }
        try (FileChannel file = FileChannel.open(path);
                Buffer buffer = device.allocator().allocate(OF_DEVICE, size)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
            there(device, mapped, 0, buffer, 0, size);
            assertThat(library().calls("host_register")).isZero();
            mapped.load();
            there(device, mapped, 0, buffer, 0, size);
            assertThat(library().calls("host_register")).isPositive();
            back(device, buffer, 0, result, 0, size);
        }
        assertThat(result.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    /** STAGE-5: the others wait until a window is unregistered. */
    @Test
    void fourWindowsOfAQueueAreRegisteredAtMost() {
        StreamDevice device = open(GpuKind.CUDA, "");
        long size = 5L * MIB;
        List<Fence> ends = new ArrayList<>();
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, size)) {
            Objects.requireNonNull(drivers).hang();
            for (int i = 0; i < 6; i++) {
                Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                try (HalFile file = file(arena.allocate(size, 8 * MIB))) { // in a single window
                    device.queue(0).read(null, done, file, 0, buffer, 0, size, 0);
                }
                ends.add(done);
            }
            long began = System.nanoTime();
            while (StreamDevices.waitingWindows(device.queue(0)) < 2
                    || library().calls("host_register") < 4) {
                assertThat(System.nanoTime() - began).isLessThan(LONG.toNanos());
                Thread.onSpinWait();
            }
            assertThat(library().calls("host_register")).isEqualTo(4);
            Objects.requireNonNull(drivers).goOn();
            ends.forEach(each -> each.await(LONG));
        }
        ends.forEach(Fence::close);
        assertThat(library().calls("host_register")).isEqualTo(6);
    }

    /** In place or through staging memory, as the other queue happens to be busy or not. */
    @ParameterizedTest
    @CsvSource({"CUDA", "HIP"})
    void transfersOfTwoQueuesAtOnceArrive(GpuKind kind) {
        StreamDevice device = open(kind, "");
        int count = 6;
        long size = 35L * MIB;
        Random random = new Random(Effort.seed(getClass(), "turns", 8));
        List<MemorySegment> sources = new ArrayList<>();
        List<MemorySegment> targets = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        List<Fence> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sources.add(random(random, size));
            targets.add(arena.allocate(size));
            buffers.add(device.allocator().allocate(OF_DEVICE, size));
        }
        for (int i = 0; i < count; i++) {
            Fence read = Fence.adopt(TimelineSemaphore.create(0), 1);
            Fence written = Fence.adopt(TimelineSemaphore.create(0), 1);
            try (HalFile source = file(sources.get(i));
                    HalFile target = file(targets.get(i))) {
                device.queue(i % 2).read(null, read, source, 0, buffers.get(i), 0, size, 0);
                device.queue(1 - i % 2).write(read, written, buffers.get(i), 0, target, 0, size, 0);
            }
            ends.add(read);
            ends.add(written);
        }
        ends.forEach(each -> each.await(LONG));
        for (int i = 0; i < count; i++) {
            assertThat(targets.get(i).mismatch(sources.get(i)))
                    .as("transfer %d", i)
                    .isEqualTo(-1);
        }
        ends.forEach(Fence::close);
        buffers.forEach(Buffer::close);
    }

    /**
     * STAGE-5: windows and staging memory of a queue are held by transfers behind a call in a wait for another queue.
     */
    @ParameterizedTest
    @CsvSource({"''", "no_attribute=99"})
    void aTransferEndsThoughManyAreBehindACallWaitingForIt(String settings) {
        StreamDevice device = open(GpuKind.CUDA, settings);
        long size = 20L * MIB;
        MemorySegment source = random(new Random(12), size);
        MemorySegment result = arena.allocate(size);
        List<HalFile> files = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            files.add(file(arena.allocate(size)));
        }
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, size);
                Buffer other = device.allocator().allocate(OF_DEVICE, size);
                Fence called = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence there = Fence.adopt(TimelineSemaphore.create(0), 1);
                HalFile awaited = file(source)) {
            device.queue(0).hostCall(null, called, () -> there.await(LONG), 0);
            List<Fence> ends = new ArrayList<>(List.of(called));
            for (HalFile each : files) {
                Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                device.queue(0).read(null, done, each, 0, buffer, 0, size, 0);
                ends.add(done);
            }
            device.queue(1).read(null, there, awaited, 0, other, 0, size, 0);
            ends.forEach(each -> each.await(LONG));
            ends.subList(1, ends.size()).forEach(Fence::close);
            back(device, other, 0, result, 0, size);
        }
        assertThat(result.mismatch(source)).isEqualTo(-1);
        files.forEach(HalFile::close);
    }

    @Test
    void mappedFilesUnregisteredByTheDriverArrive() throws IOException {
        StreamDevice device = open(GpuKind.CUDA, "no_files");
        long size = 9L * MIB;
        MemorySegment bytes = random(new Random(9), size);
        MemorySegment result = arena.allocate(size);
        try (FileChannel file = FileChannel.open(
                        directory.resolve("mapped"),
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                Buffer buffer = device.allocator().allocate(OF_DEVICE, size)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, size, arena);
            mapped.copyFrom(bytes);
            there(device, mapped.asReadOnly(), 0, buffer, 0, size);
            back(device, buffer, 0, result, 0, size);
        }
        assertThat(result.mismatch(bytes)).isEqualTo(-1);
    }

    /** Transfers under way, and in line for a window, when their device is closed or lost. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void aDeviceEndingMeanwhileLeavesNothingRegistered(boolean lost) {
        StreamDevice device = open(GpuKind.CUDA, "");
        long size = 33L * MIB;
        MemorySegment source = random(new Random(10), size);
        List<Fence> ends = new ArrayList<>();
        try (Buffer buffer = device.allocator().allocate(OF_DEVICE, size)) {
            Objects.requireNonNull(drivers).hang();
            for (int i = 0; i < 5; i++) {
                Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                try (HalFile file = file(source)) {
                    device.queue(i % 2).read(null, done, file, 0, buffer, 0, size, 0);
                }
                ends.add(done);
            }
            if (lost) {
                library().lose();
            }
            Objects.requireNonNull(drivers).goOn();
        }
        device.close();
        for (Fence each : ends) {
            try {
                each.await(LONG);
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("device");
            }
            each.close();
        }
    }
}
