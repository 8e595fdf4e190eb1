package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Consumers of different size on one device. */
@ParameterizedClass
@EnumSource(GpuKind.class)
@Timeout(300)
class GpuFairnessTest {
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    private static final int LIMIT = 1 << 20;
    private static final int SMALL = LIMIT / 64;
    private static final int INVOCATIONS = 600;
    private static final int AHEAD = 8; // invocations under way at a time
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    @TempDir
    private Path directory;

    private final GpuKind kind;
    private final AtomicInteger over = new AtomicInteger();

    GpuFairnessTest(GpuKind kind) {
        this.kind = kind;
    }

    @Test
    void aStreamOfSmallInvocationsLetsThroughAnInvocationOfTheWholeBudget() throws Exception {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        StreamDevice device = fake.open(DeviceOptions.builder().queueCount(2).memoryLimit(LIMIT));
        try (device;
                TimelineSemaphore done = TimelineSemaphore.create(0);
                TimelineSemaphore large = TimelineSemaphore.create(0);
                Fence granted = Fence.at(large, 1);
                Fence freed = Fence.at(large, 2)) {
            Thread stream = Thread.ofPlatform().start(() -> invokeAll(device.queue(0), done));
            try (Fence begun = Fence.at(done, 2 * AHEAD)) {
                begun.await(Duration.ofSeconds(60));
            }
            int before = over.get();
            try (Buffer all = device.queue(1).alloca(null, granted, OF_DEVICE, LIMIT, 0)) {
                granted.await(Duration.ofSeconds(60));
                int passed = over.get() - before;
                device.queue(1).dealloca(granted, freed, all, 0);
                freed.await(Duration.ofSeconds(60));
                assertThat(passed).as("small ones served meanwhile").isLessThan(INVOCATIONS / 4);
            } finally {
                stream.join();
            }
        }
        fake.assertNothingToComplainOf();
    }

    /** Runs small invocations one after the other, some ahead of the ended invocations. */
    private void invokeAll(DeviceQueue queue, TimelineSemaphore done) {
        for (int i = 1; i <= INVOCATIONS; i++) {
            try (TimelineSemaphore own = TimelineSemaphore.create(0);
                    Fence allocated = Fence.at(own, 1);
                    Fence used = Fence.at(own, 2);
                    Fence end = Fence.at(done, i);
                    Fence room = Fence.at(done, Math.max(1, i - AHEAD))) {
                if (i > AHEAD) {
                    room.await(Duration.ofSeconds(60));
                }
                Buffer small = queue.alloca(null, allocated, OF_DEVICE, SMALL, 0);
                queue.hostCall(
                        allocated,
                        used,
                        () -> {
                            LockSupport.parkNanos(WORK_NANOS); // the computation of the invocation
                            over.incrementAndGet();
                        },
                        0);
                queue.dealloca(used, end, small, 0);
                small.close();
            }
        }
    }
}
