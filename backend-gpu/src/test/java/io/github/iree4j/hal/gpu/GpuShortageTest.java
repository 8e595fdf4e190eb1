package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A driver short of memory. */
@ParameterizedClass
@EnumSource(GpuKind.class)
@Timeout(300)
class GpuShortageTest {
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final int MIB = 1 << 20;

    @TempDir
    private Path directory;

    private final GpuKind kind;
    private GpuDrivers fake;
    private StreamDevice device;

    GpuShortageTest(GpuKind kind) {
        this.kind = kind;
    }

    private void open(String settings) {
        fake = GpuDrivers.fake(directory, kind, settings);
        device = fake.open(DeviceOptions.builder());
    }

    @AfterEach
    void close() {
        device.close();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        GpuDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }

    private static void assertExhausted(Throwable thrown, String... says) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                .hasMessageContainingAll(says);
    }

    private static Fence fence() {
        return Fence.adopt(TimelineSemaphore.create(0), 1);
    }

    @Test
    void anAllocationRefusedByTheDriverFailsWithNumbersAndRemedy() {
        open("oom_allocation=1");
        assertThatThrownBy(() -> device.allocator().allocate(OF_DEVICE, 20 * MIB))
                .satisfies(e -> assertExhausted(e, "20971520 bytes", "OUT_OF_MEMORY (2)", "close buffers"));
        device.allocator().allocate(OF_DEVICE, 20 * MIB).close();
    }

    @Test
    void memoryOfOtherProcessesIsOutsideOfTheBudget() {
        open("heap_mib=100 others_mib=60");
        device.allocator().allocate(OF_DEVICE, 30 * MIB).close();
        assertThatThrownBy(() -> device.allocator().allocate(OF_DEVICE, 50 * MIB))
                .satisfies(e -> assertExhausted(e, "52428800 bytes"))
                .hasMessageNotContaining("OUT_OF_MEMORY"); // the driver is not asked
    }

    @Test
    void withABudgetOfTheUserTheDriverIsAskedForMemoryPerhapsFreedByOthers() {
        fake = GpuDrivers.fake(directory, kind, "heap_mib=100 others_mib=60");
        device = fake.open(DeviceOptions.builder().memoryLimit(100 * MIB));
        device.allocator().allocate(OF_DEVICE, 50 * MIB).close();
    }

    /** Many readers, and results of several pieces: a computed result needs no memory of the budget to be read. */
    @Test
    void resultsAreReadThoughTheBudgetIsExhausted() throws Exception {
        fake = GpuDrivers.fake(directory, kind, "");
        device = fake.open(DeviceOptions.builder().memoryLimit(MIB));
        int count = 12;
        byte[] contents = new byte[MIB / count - 100 & -8];
        new Random(20261126).nextBytes(contents);
        List<Buffer> results = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Buffer result = device.allocator().allocate(OF_DEVICE, contents.length);
            result.write(0, MemorySegment.ofArray(contents));
            results.add(result);
        }
        try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<byte[]>> read = new ArrayList<>();
            for (int i = 0; i < 3 * count; i++) {
                Buffer result = results.get(i % count);
                read.add(readers.submit(() -> {
                    byte[] bytes = new byte[contents.length - 3];
                    result.read(3, MemorySegment.ofArray(bytes));
                    return bytes;
                }));
            }
            for (Future<byte[]> each : read) {
                assertThat(each.get()).isEqualTo(Arrays.copyOfRange(contents, 3, contents.length));
            }
        }
        results.forEach(Buffer::close);
    }

    @Test
    void largeResultsAreReadInPiecesWhoeverReadsAtTheSameTime() throws Exception {
        fake = GpuDrivers.fake(directory, kind, "");
        int length = 9 * MIB + 5;
        device = fake.open(DeviceOptions.builder().memoryLimit(10 * MIB));
        byte[] contents = new byte[length];
        new Random(20261127).nextBytes(contents);
        try (Buffer result = device.allocator().allocate(OF_DEVICE, length);
                ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            result.write(0, MemorySegment.ofArray(contents));
            List<Future<byte[]>> read = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                int from = i * 7;
                read.add(readers.submit(() -> {
                    byte[] bytes = new byte[length - from];
                    result.read(from, MemorySegment.ofArray(bytes));
                    return bytes;
                }));
            }
            for (int i = 0; i < 9; i++) {
                assertThat(Arrays.equals(read.get(i).get(), Arrays.copyOfRange(contents, i * 7, length)))
                        .isTrue();
            }
        }
    }

    @Test
    void manyWritersShareTheStagingMemory() throws Exception {
        open("");
        int length = 3 * MIB + 17;
        List<byte[]> contents = new ArrayList<>();
        List<Buffer> targets = new ArrayList<>();
        Random random = new Random(20261128);
        for (int i = 0; i < 20; i++) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            contents.add(bytes);
            targets.add(device.allocator().allocate(OF_DEVICE, length));
        }
        try (ExecutorService writers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> written = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                int each = i;
                written.add(
                        writers.submit(() -> targets.get(each).write(0, MemorySegment.ofArray(contents.get(each)))));
            }
            for (Future<?> each : written) {
                each.get();
            }
        }
        for (int i = 0; i < 20; i++) {
            byte[] bytes = new byte[length];
            targets.get(i).read(0, MemorySegment.ofArray(bytes));
            assertThat(Arrays.equals(bytes, contents.get(i))).as("buffer %d", i).isTrue();
            targets.get(i).close();
        }
    }

    /** All staging memory is in flight on hanging hardware. */
    @Test
    void aWriterWaitingForStagingMemoryCanBeInterrupted() throws Exception {
        open("");
        byte[] bytes = new byte[16 * MIB];
        try (Buffer first = device.allocator().allocate(OF_DEVICE, bytes.length);
                Buffer second = device.allocator().allocate(OF_DEVICE, MIB);
                Fence staged = fence();
                Fence updated = fence()) {
            DeviceQueue queue = device.queue(device.queueCount() - 1);
            queue.update(null, staged, MemorySegment.ofArray(bytes), first, 0, 0);
            staged.await(); // there is staging memory
            fake.hang();
            queue.update(null, updated, MemorySegment.ofArray(bytes), first, 0, 0);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread writer = Thread.ofVirtual().unstarted(() -> {
                try {
                    second.write(0, MemorySegment.ofArray(new byte[MIB]));
                } catch (IreeException e) {
                    thrown.set(e);
                }
            });
            writer.start();
            while (writer.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            writer.interrupt();
            writer.join();
            assertThat(thrown.get())
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
            fake.goOn();
            updated.await();
        }
    }

    @Test
    void aDriverSilentAboutFreeMemoryIsTakenAtItsWhole() {
        open("heap_mib=100 fail=memory_info:1:2");
        device.allocator().allocate(OF_DEVICE, 90 * MIB).close();
    }

    @Test
    void keptMemoryIsGivenBackBeforeAnAllocationFails() {
        open("heap_mib=100");
        device.allocator().allocate(OF_DEVICE, 60 * MIB).close(); // kept for later
        assertThat(device.allocator().statistics().bytesReserved()).isGreaterThanOrEqualTo(60 * MIB);
        device.allocator().allocate(OF_DEVICE, 61 * MIB).close();
    }

    @Test
    void aRefusingDriverIsAskedAgainOnceKeptMemoryIsBack() {
        open("oom_allocation=2");
        device.allocator().allocate(OF_DEVICE, 20 * MIB).close(); // kept for later
        device.allocator().allocate(OF_DEVICE, 30 * MIB).close();
        assertThat(device.allocator().statistics().bytesReserved()).isLessThan(50 * MIB);
    }

    /** In queue order: the second allocation waits until work gives back the first, for any size of slab. */
    @Test
    void anAllocationWithoutRoomWaitsForWorkGivingMemoryBack() {
        open("heap_mib=100");
        try (Fence gate = fence();
                Fence first = fence();
                Fence freed = fence();
                Fence second = fence();
                Fence done = fence();
                Fence end = fence()) {
            Buffer one = device.queue(0).alloca(null, first, OF_DEVICE, 60 * MIB, 0);
            first.await();
            Buffer two = device.queue(1).alloca(null, second, OF_DEVICE, 61 * MIB, 0);
            device.queue(1).fill(second, done, two, 0, Buffer.WHOLE, 7, 4, 0);
            device.queue(1).dealloca(done, end, two, 0);
            device.queue(0).dealloca(gate, freed, one, 0);
            assertThat(second.isReached()).isFalse();
            gate.signal();
            end.await(Duration.ofSeconds(60));
            one.close();
            two.close();
        }
    }
}
