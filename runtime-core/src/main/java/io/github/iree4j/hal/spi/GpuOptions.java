package io.github.iree4j.hal.spi;

import java.util.Objects;

/**
 * Options of CUDA devices.
 *
 * @param compiledCode cache of machine code compiled from PTX, kept between runs: a directory not writable by other
 *     users, {@code off} for no cache, or empty for the user's cache directory
 */
public record GpuOptions(String compiledCode) implements DriverOptions {
    /** A cache in the user's cache directory. */
    public static final GpuOptions DEFAULT = new GpuOptions("");

    /** Checks. */
    public GpuOptions {
        Objects.requireNonNull(compiledCode, "compiledCode");
    }
}
