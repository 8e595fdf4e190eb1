package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A host call interrupted during a move of hidden memory. */
@ParameterizedClass
@EnumSource(GpuKind.class)
@Timeout(60)
class InterruptedTransferTest {
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    private static final int SIZE = 12 << 20; // more than a single piece

    @TempDir
    private Path directory;

    private final GpuKind kind;

    private final Random random = new Random(Effort.seed(InterruptedTransferTest.class, "contents", 20261201));

    InterruptedTransferTest(GpuKind kind) {
        this.kind = kind;
    }

    @Test
    void anInterruptedCallWaitsForItsTransfersOnceTheDeallocationBehindIsIssued() {
        AtomicBoolean submitted = new AtomicBoolean();
        AtomicBoolean stayed = new AtomicBoolean();
        try (StreamDevice device = GpuDrivers.fake(directory, kind, "")
                        .open(DeviceOptions.builder().queueCount(2));
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence allocated = Fence.at(timeline, 1);
                Fence called = Fence.at(timeline, 2);
                Fence freed = Fence.at(timeline, 3);
                Buffer buffer = device.queue(0).alloca(null, allocated, OF_DEVICE, SIZE, 0)) {
            device.queue(0)
                    .hostCall(
                            allocated,
                            called,
                            () -> {
                                while (!submitted.get() || !StreamDevices.isLeaving(buffer)) {
                                    Thread.onSpinWait();
                                }
                                Thread.currentThread().interrupt();
                                buffer.write(0, MemorySegment.ofArray(new byte[SIZE]));
                                stayed.set(Thread.interrupted());
                            },
                            0);
            device.queue(0).dealloca(called, freed, buffer, 0);
            submitted.set(true);
            freed.await(Duration.ofSeconds(30));
        }
        assertThat(stayed).isTrue();
    }

    @Test
    void aLargeWriteIsACopyForEachPieceOfHostMemory() {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        try (StreamDevice device = fake.open(DeviceOptions.builder());
                Buffer buffer = device.allocator().allocate(OF_DEVICE, SIZE + 5)) {
            byte[] contents = contents(SIZE + 5);
            long before = copies(fake);
            buffer.write(0, MemorySegment.ofArray(contents));
            assertThat(copies(fake) - before).isEqualTo(2);
            assertThat(read(buffer)).isEqualTo(contents);
        }
    }

    private long copies(GpuDrivers fake) {
        return Objects.requireNonNull(fake.library()).calls(kind == GpuKind.CUDA ? "copy_cuda" : "copy_hip");
    }

    /** The hardware hangs with both pieces in flight; another writer then needs host memory for pieces, too. */
    @Test
    void piecesOfAnInterruptedWriteAreNotReusedBeforeItsTransfersEnd() throws InterruptedException {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        try (StreamDevice device = fake.open(DeviceOptions.builder());
                Buffer first = device.allocator().allocate(OF_DEVICE, SIZE);
                Buffer second = device.allocator().allocate(OF_DEVICE, SIZE)) {
            byte[] one = contents(SIZE);
            byte[] other = contents(SIZE);
            DeviceQueue queue = device.queue(device.queueCount() - 1);
            long before = queue.counters().submitted();
            fake.hang();
            AtomicReference<IreeException> thrown = new AtomicReference<>();
            Thread interrupted = Thread.ofVirtual().start(() -> {
                try {
                    first.write(0, MemorySegment.ofArray(one));
                } catch (IreeException e) {
                    thrown.set(e);
                }
            });
            while (queue.counters().submitted() < before + 2) {
                Thread.onSpinWait();
            }
            interrupted.interrupt();
            interrupted.join();
            assertThat(thrown.get().code()).isEqualTo(StatusCode.CANCELLED);
            Thread writer = Thread.ofVirtual().start(() -> second.write(0, MemorySegment.ofArray(other)));
            while (queue.counters().submitted() < before + 4) {
                Thread.onSpinWait();
            }
            fake.goOn();
            writer.join();
            assertThat(read(second)).isEqualTo(other);
            assertThat(read(first)).isEqualTo(one);
        }
    }

    private byte[] contents(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] read(Buffer buffer) {
        byte[] bytes = new byte[(int) buffer.length()];
        buffer.read(0, MemorySegment.ofArray(bytes));
        return bytes;
    }
}
