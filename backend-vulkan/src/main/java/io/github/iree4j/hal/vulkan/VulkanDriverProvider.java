package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.List;

/**
 * The driver of Vulkan devices. {@code vulkan} is the first hardware device, or the first device when all are software;
 * {@code vulkan:1} is the device with number 1 and {@code vulkan:<uuid>} the device with the UUID, stable when devices
 * are added or removed.
 *
 * <p>The library, {@code libvulkan.so.1}, is opened on first use, once for the process. With the system property
 * {@code iree4j.vulkan.validation} set to true, Vulkan's validation layers check every call if they are installed.
 */
public final class VulkanDriverProvider implements DriverProvider {
    /** For the service loader. */
    public VulkanDriverProvider() {}

    @Override
    public String name() {
        return VulkanDriver.NAME;
    }

    @Override
    public Availability availability() {
        return VulkanDriver.ofProcess().availability();
    }

    @Override
    public List<DeviceInfo> devices() {
        return VulkanDriver.ofProcess().devices();
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        return VulkanDriver.ofProcess().open(deviceId, options);
    }
}
