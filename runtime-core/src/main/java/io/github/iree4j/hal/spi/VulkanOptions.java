package io.github.iree4j.hal.spi;

import java.util.Objects;

/** Options of Vulkan devices. Immutable: each method with a parameter returns changed options. */
public final class VulkanOptions implements DriverOptions {
    /** A cache in the user's cache directory. */
    public static final VulkanOptions DEFAULTS = new VulkanOptions("");

    private final String compiledCode;

    private VulkanOptions(String compiledCode) {
        this.compiledCode = Objects.requireNonNull(compiledCode, "compiledCode");
    }

    /**
     * Returns these options with another cache of compiled shaders, kept between runs.
     *
     * @param cache a directory not writable by other users, {@code off} for no cache, or empty for the user's cache
     *     directory
     * @return the options
     */
    public VulkanOptions compiledCode(String cache) {
        return new VulkanOptions(cache);
    }

    /**
     * Returns the cache of compiled shaders.
     *
     * @return a directory, {@code off} for no cache, or empty for the user's cache directory
     */
    public String compiledCode() {
        return compiledCode;
    }
}
