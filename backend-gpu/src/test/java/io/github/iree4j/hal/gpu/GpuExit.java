package io.github.iree4j.hal.gpu;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.gpu.GpuKind;

/** A separate process that ends, or is told to exit, with work in flight and an open device. */
final class GpuExit {
    private GpuExit() {}

    public static void main(String[] arguments) {
        GpuDriver driver = new GpuDriver(GpuKind.valueOf(arguments[0]), arguments[1]);
        Device device =
                driver.open(driver.name(), DeviceOptions.builder().queueCount(3).build());
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 4096);
        for (int i = 1; i <= 2000; i++) {
            device.queue(i % 3).fill(null, null, buffer, 0, 4096, i, 4, 0);
        }
        device.queue(1).fill(null, Fence.at(timeline, 1), buffer, 0, 4096, 1, 4, 0);
        device.queue(2).copy(Fence.at(timeline, 1), Fence.at(timeline, 2), buffer, 0, buffer, 2048, 2048, 0);
        System.out.println("begun");
        if (arguments[2].equals("exit")) {
            System.exit(0);
        }
    }
}
