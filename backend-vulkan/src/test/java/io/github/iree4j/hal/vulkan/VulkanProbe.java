package io.github.iree4j.hal.vulkan;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * A separate process, with its own drivers and file system: prints the driver's reports, and whether its devices work.
 */
final class VulkanProbe {
    private VulkanProbe() {}

    public static void main(String[] ids) {
        VulkanDriverProvider driver = new VulkanDriverProvider();
        System.out.println(driver.availability());
        for (DeviceInfo device : driver.devices()) {
            System.out.println("device " + device.id() + " " + device.name());
        }
        for (String id : ids) {
            try (Device device = driver.open(id, DeviceOptions.DEFAULTS);
                    TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                    Fence done = Fence.at(timeline, 1);
                    Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64)) {
                device.queue(0).fill(null, done, buffer, 0, 64, 42, 4, 0);
                done.await(Duration.ofSeconds(60));
                int found = buffer.map(MemoryAccess.READ, 0, 64).get(ValueLayout.JAVA_INT_UNALIGNED, 60);
                System.out.println("filled " + device.id() + " with " + found);
            } catch (IreeException e) {
                System.out.println("failed " + id + ": " + e);
            }
        }
        System.out.println("over");
    }
}
