package io.github.iree4j.hal.spi;

import java.util.Objects;

/** Options of CUDA devices. Immutable: each method with a parameter returns changed options. */
public final class GpuOptions implements DriverOptions {
    /** A cache in the user's cache directory. */
    public static final GpuOptions DEFAULTS = new GpuOptions("");

    private final String compiledCode;

    private GpuOptions(String compiledCode) {
        this.compiledCode = Objects.requireNonNull(compiledCode, "compiledCode");
    }

    /**
     * Returns these options with another cache of machine code compiled from PTX, kept between runs.
     *
     * @param cache a directory not writable by other users, {@code off} for no cache, or empty for the user's cache
     *     directory
     * @return the options
     */
    public GpuOptions compiledCode(String cache) {
        return new GpuOptions(cache);
    }

    /**
     * Returns the cache of machine code compiled from PTX.
     *
     * @return a directory, {@code off} for no cache, or empty for the user's cache directory
     */
    public String compiledCode() {
        return compiledCode;
    }
}
