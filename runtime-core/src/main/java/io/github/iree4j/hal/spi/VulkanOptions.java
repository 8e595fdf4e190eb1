package io.github.iree4j.hal.spi;

import java.util.Objects;

/**
 * Options of Vulkan devices.
 *
 * @param compiledCode cache of compiled shaders, kept between runs: a directory not writable by other users,
 *     {@code off} for no cache, or empty for the user's cache directory
 */
public record VulkanOptions(String compiledCode) implements DriverOptions {
    /** A cache in the user's cache directory. */
    public static final VulkanOptions DEFAULT = new VulkanOptions("");

    /** Checks. */
    public VulkanOptions {
        Objects.requireNonNull(compiledCode, "compiledCode");
    }
}
