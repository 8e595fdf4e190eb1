package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.List;

/**
 * The driver of Vulkan devices. {@code vulkan} is the first device that is not made of software, or the first of all when there is no
 * other; {@code vulkan:1} is the one with that number and {@code vulkan:<uuid>} the one with that UUID, which stays the same when others
 * come and go.
 *
 * <p>The library, {@code libvulkan.so.1}, is opened at the first question, once for the process. With the system property
 * {@code iree4j.vulkan.validation} set to true, Vulkan's validation layers check every call, where they are installed.
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
