package io.github.iree4j.hal.gpu;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.GpuKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pools ask the driver for memory on a thread of their own while operations wait: the driver is not closed meanwhile. */
@Timeout(300)
class GpuGrowthTest {
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aDeviceThatIsClosedWhileItsPoolsGrowLeavesNothing(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        for (int round = 0; round < 150; round++) {
            StreamDevice device = fake.open(
                    DeviceOptions.builder().queueCount(3).memoryLimit(150_000).memoryRetained(0));
            try (TimelineSemaphore start = TimelineSemaphore.create(0);
                    Fence all = start(device, start, new Random(round))) {
                start.signal(1);
                all.await(Duration.ofSeconds(60));
            }
            device.close();
            GpuDrivers.assertNothingLeft(device);
        }
        fake.assertNothingToComplainOf();
    }

    /** Submits chains from a start to their ends, more than there is memory for at once; the caller closes what reaches all of these. */
    private static Fence start(StreamDevice device, TimelineSemaphore start, Random random) {
        List<Fence.Entry> ends = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            ends.add(new Fence.Entry(TimelineSemaphore.create(0), 3));
            chain(device.queue(i % 3), start, ends.getLast().semaphore(), 64 + random.nextInt(70_000));
        }
        Fence all = Fence.of(ends);
        ends.forEach(each -> each.semaphore().close());
        return all;
    }

    private static void chain(DeviceQueue queue, TimelineSemaphore start, TimelineSemaphore own, int size) {
        try (Fence begin = Fence.at(start, 1);
                Fence there = Fence.at(own, 1);
                Fence filled = Fence.at(own, 2);
                Fence end = Fence.at(own, 3);
                Buffer buffer = queue.alloca(begin, there, OF_DEVICE, size, 0)) {
            queue.fill(there, filled, buffer, 0, size, 1, 1, 0);
            queue.dealloca(filled, end, buffer, 0);
        }
    }
}
