package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
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
}
