package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.VulkanOptions;
import io.github.iree4j.nativeaccess.CacheFile;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties;
import java.util.Locale;

/** The file with a driver's compiled pipelines, kept between runs: a file for each device, driver and driver version. */
final class PipelineCacheFile {
    /** System property naming the directory, or {@value #OFF}. */
    static final String PROPERTY = "iree.vulkan.pipeline-cache";

    static final String OFF = "off";

    private PipelineCacheFile() {}

    /** Returns the configured directory, {@link #OFF}, or an empty string. */
    static String configured(DeviceOptions options) {
        String chosen = options.driver(VulkanOptions.DEFAULTS).compiledCode();
        return (chosen.isBlank() ? System.getProperty(PROPERTY, "") : chosen).strip();
    }

    /**
     * Returns the file of a device.
     *
     * @param configured the directory; empty for the user's cache directory
     */
    static CacheFile of(VulkanDeviceProperties device, String configured) {
        return new CacheFile("IREE4JVK", configured, PROPERTY, name(device));
    }

    /** Returns a name containing everything on which the contents depend. */
    private static String name(VulkanDeviceProperties device) {
        return String.format(
                Locale.ROOT,
                "vulkan-%08x-%08x-%08x-%s.cache",
                device.vendorId(),
                device.deviceId(),
                device.driverVersion(),
                device.pipelineCacheUuid());
    }
}
