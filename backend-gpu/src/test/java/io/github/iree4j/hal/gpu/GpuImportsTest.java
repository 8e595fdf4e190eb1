package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory of the host with common pages, registered once by drivers for all their devices. */
@Timeout(300)
class GpuImportsTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final long PAGE = 4096;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final BufferParams OF_HOST = new BufferParams(
            MemoryType.HOST_VISIBLE | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    @TempDir
    private Path directory;

    private final List<StreamDevice> devices = new ArrayList<>();
    private @Nullable GpuDrivers fake;
    private @Nullable TimelineSemaphore timeline;
    private long value;

    private void open(GpuKind kind, int count) {
        open(kind, count, "");
    }

    private void open(GpuKind kind, int count, String settings) {
        GpuDrivers made = GpuDrivers.fake(directory, kind, "devices=2 " + settings);
        fake = made;
        for (int i = 0; i < count; i++) {
            devices.add(made.driver().open(Integer.toString(i % 2), DeviceOptions.DEFAULTS));
        }
        timeline = TimelineSemaphore.create(0);
    }

    @AfterEach
    void close() {
        for (StreamDevice device : devices) {
            device.close();
            GpuDrivers.assertNothingLeft(device);
        }
        if (timeline != null) {
            timeline.close();
        }
        if (fake != null) {
            fake.assertNothingToComplainOf();
        }
    }

    private Fence next() {
        return Fence.at(Objects.requireNonNull(timeline), ++value);
    }

    private void await() {
        Objects.requireNonNull(timeline).await(value, LONG);
    }

    private static Buffer imported(Device device, MemorySegment bytes) {
        int access = bytes.isReadOnly() ? MemoryAccess.READ : MemoryAccess.ALL;
        return device.allocator().importHost(OF_HOST.withAccess(access), bytes, null);
    }

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void buffersSharingPagesAreBothUsable(GpuKind kind) {
        open(kind, 1);
        StreamDevice device = devices.getFirst();
        try (Arena arena = Arena.ofShared();
                Executable kernels = GpuKernels.load(device);
                Buffer result = device.allocator().allocate(OF_HOST, 3 * PAGE)) {
            MemorySegment all = arena.allocate(4 * PAGE, PAGE);
            Buffer first = imported(device, all.asSlice(0, 2048));
            Buffer second = imported(device, all.asSlice(2048, 1024)); // in the same page
            Buffer third = imported(device, all.asSlice(3072, 2 * PAGE)); // in the same, and two more
            first.close(); // the page stays
            device.queue(0).fill(null, next(), second, 0, 1024, 5, 4, 0);
            device.queue(0).fill(null, next(), third, 0, 2 * PAGE, 7, 4, 0);
            await();
            assertThat(all.get(INT, 2048)).isEqualTo(5);
            assertThat(all.get(INT, 3068)).isEqualTo(5);
            assertThat(all.get(INT, 3072)).isEqualTo(7);
            assertThat(all.get(INT, 3068 + 2 * PAGE)).isEqualTo(7);
            device.queue(0)
                    .dispatch(
                            null,
                            next(),
                            kernels,
                            JavaKernels.SCALE,
                            DispatchConfig.of(2048, 1, 1),
                            new int[] {2, 1},
                            BindingTable.of(third, third),
                            0);
            await();
            device.queue(0).copy(null, next(), third, 0, result, PAGE, 2 * PAGE, 0);
            device.queue(0).fill(null, next(), third, 0, 2 * PAGE, 0x1122334455667788L, 8, 0);
            await();
            assertThat(result.map(MemoryAccess.READ, PAGE, 2 * PAGE).toArray(INT))
                    .containsOnly(15);
            assertThat(all.asSlice(3072, 2 * PAGE).toArray(ValueLayout.JAVA_LONG_UNALIGNED))
                    .containsOnly(0x1122334455667788L);
            second.close();
            third.close();
        }
    }

    /** Memory of a read-only file, with a number in each place. */
    private MemorySegment readOnlyFile() throws IOException {
        int[] numbers = IntStream.range(0, (int) (2 * PAGE / Integer.BYTES)).toArray();
        Path path = directory.resolve("constant");
        Files.write(path, MemorySegment.ofArray(numbers).toArray(ValueLayout.JAVA_BYTE));
        try (FileChannel file = FileChannel.open(path)) {
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), Arena.ofAuto());
        }
    }

    private static void assertRefusedWithRemedy(Device device, MemorySegment bytes) {
        assertThatThrownBy(() -> imported(device, bytes))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                .hasMessageContaining("%d bytes of the host at 0x%x".formatted(2 * PAGE, bytes.address() & -PAGE))
                .hasMessageContaining("copy the bytes");
    }

    @Test
    void readOnlyMemoryIsImportedForReading() throws IOException {
        open(GpuKind.CUDA, 1);
        StreamDevice device = devices.getFirst();
        try (Executable kernels = GpuKernels.load(device);
                Buffer constant = imported(device, readOnlyFile());
                Buffer result = device.allocator().allocate(OF_HOST, 2 * PAGE)) {
            device.queue(0)
                    .dispatch(
                            null,
                            next(),
                            kernels,
                            JavaKernels.SCALE,
                            DispatchConfig.of(2048, 1, 1),
                            new int[] {3, 1},
                            BindingTable.of(constant, result),
                            0);
            await();
            assertThat(result.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT))
                    .startsWith(1, 4, 7)
                    .endsWith(3 * 2047 + 1);
        }
    }

    @ParameterizedTest
    @CsvSource({"CUDA, no_attribute=113", "CUDA, no_files", "HIP, ''"})
    void memoryUnregisteredByTheDriverIsRefusedWithARemedy(GpuKind kind, String settings) throws IOException {
        open(kind, 1, settings);
        assertRefusedWithRemedy(devices.getFirst(), readOnlyFile());
    }

    /** A constant of a CPU, used in place or, where the driver refuses, copied. */
    @ParameterizedTest
    @CsvSource({"CUDA, ''", "CUDA, no_attribute=113", "CUDA, no_files", "HIP, ''"})
    void constantsOfACpuAreUsedWhateverTheDriverRegisters(GpuKind kind, String settings) throws IOException {
        open(kind, 1, settings);
        StreamDevice device = devices.getFirst();
        BufferParams immutable = new BufferParams(
                MemoryType.HOST_LOCAL, BufferUsage.DEFAULT | BufferUsage.MAPPING | BufferUsage.SHARING_IMMUTABLE);
        try (Device cpu = new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS);
                Buffer constant =
                        cpu.allocator().importHost(immutable.withAccess(MemoryAccess.READ), readOnlyFile(), null);
                Buffer result = device.allocator().allocate(OF_HOST, PAGE)) {
            for (int i = 0; i < 3; i++) {
                long from = i * 1024L;
                device.queue(0).copy(null, next(), constant, from, result, 0, PAGE, 0);
                await();
                assertThat(result.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(INT))
                        .startsWith((int) from / 4, (int) from / 4 + 1)
                        .endsWith((int) (from + PAGE) / 4 - 1);
            }
        }
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    /** Pages are registered once, with a single kind of access. */
    @Test
    void memoryImportedForReadingIsNotWrittenThroughAnotherImport() {
        open(GpuKind.CUDA, 2);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment all = arena.allocate(2 * PAGE, PAGE);
            Buffer read = imported(devices.getFirst(), all.asSlice(0, 1024).asReadOnly());
            assertRefusedWithRemedy(devices.getLast(), all.asSlice(2048, PAGE));
            Buffer other = imported(devices.getLast(), all.asSlice(1024, 1024).asReadOnly());
            read.close();
            other.close();
            try (Buffer written = imported(devices.getLast(), all.asSlice(2048, PAGE));
                    Buffer readToo =
                            imported(devices.getFirst(), all.asSlice(0, 1024).asReadOnly())) {
                devices.getLast().queue(0).fill(null, next(), written, 0, PAGE, 6, 4, 0);
                await();
                assertThat(readToo.access() & MemoryAccess.WRITE).isZero();
            }
            assertThat(all.get(INT, 2048)).isEqualTo(6);
        }
    }

    /** Two devices of the same driver: the second takes the pages as registered for both. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void devicesOfTheSameDriverImportTheSameMemory(GpuKind kind) {
        open(kind, 3); // two of the same hardware
        try (Arena arena = Arena.ofShared()) {
            MemorySegment all = arena.allocate(2 * PAGE, PAGE);
            List<Buffer> seen = new ArrayList<>();
            for (StreamDevice device : devices) {
                seen.add(imported(device, all));
            }
            for (int i = 0; i < 3; i++) {
                devices.get(i).queue(0).fill(null, next(), seen.get(i), 1024L * i, 1024, i + 1, 4, 0);
                await();
            }
            seen.getFirst().close(); // the registering context
            devices.get(1).queue(0).fill(null, next(), seen.get(1), 3072, 1024, 9, 4, 0);
            await();
            seen.forEach(Buffer::close);
            for (int i = 0; i < 4; i++) {
                assertThat(all.get(INT, 1024L * i)).isEqualTo(i == 3 ? 9 : i + 1);
            }
        }
    }

    /** Random ranges, imported and closed in any order by several devices, filled and copied, against the same done by the host. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void anyRangesMayOverlap(GpuKind kind) {
        open(kind, 2);
        Random random = new Random(Effort.seed(getClass(), "ranges", 20261122));
        int size = (int) (12 * PAGE);
        try (Arena arena = Arena.ofShared();
                Arena others = Arena.ofShared()) {
            MemorySegment all = arena.allocate(size, PAGE);
            MemorySegment model = others.allocate(size, PAGE);
            record Part(StreamDevice device, Buffer buffer, int from) {}
            List<Part> parts = new ArrayList<>();
            List<Buffer> own = devices.stream()
                    .map(each -> each.allocator().allocate(OF_DEVICE, size))
                    .toList();
            for (int i = 0; i < Effort.rounds(2000); i++) {
                int choice = random.nextInt(8);
                if (parts.isEmpty() || choice == 0 && parts.size() < 10) {
                    int from = 64 * random.nextInt(size / 64);
                    int length = 1 + random.nextInt(size - from);
                    StreamDevice device = devices.get(random.nextInt(2));
                    parts.add(new Part(device, imported(device, all.asSlice(from, length)), from));
                    continue;
                }
                Part part = parts.get(random.nextInt(parts.size()));
                int at = random.nextInt((int) part.buffer.length());
                int length = 1 + random.nextInt((int) part.buffer.length() - at);
                if (choice == 1) {
                    part.buffer.close();
                    parts.remove(part);
                } else if (choice < 5) {
                    byte byteValue = (byte) random.nextInt();
                    part.device.queue(0).fill(null, next(), part.buffer, at, length, byteValue, 1, 0);
                    model.asSlice(part.from + at, length).fill(byteValue);
                } else { // through memory of the device, from a place to another of the same length
                    Part target = parts.get(random.nextInt(parts.size()));
                    int room = Math.min(length, (int) target.buffer.length());
                    int to = random.nextInt((int) target.buffer.length() - room + 1);
                    if (!target.device.equals(part.device)) {
                        continue;
                    }
                    Buffer between = own.get(devices.indexOf(part.device));
                    part.device
                            .queue(0)
                            .copy(null, next(), part.buffer, at, between, 3, room - Math.min(3, room - 1), 0);
                    await();
                    int copied = room - Math.min(3, room - 1);
                    part.device.queue(0).copy(null, next(), between, 3, target.buffer, to, copied, 0);
                    byte[] bytes = model.asSlice(part.from + at, copied).toArray(ValueLayout.JAVA_BYTE);
                    MemorySegment.copy(bytes, 0, model, ValueLayout.JAVA_BYTE, target.from + to, copied);
                }
                await();
                assertThat(all.mismatch(model)).as("round %d", i).isEqualTo(-1);
            }
            own.forEach(Buffer::close);
            parts.forEach(each -> each.buffer.close());
        }
    }
}
