package io.github.iree4j.hal.spi;

import java.util.Objects;

/**
 * Options of CUDA devices.
 *
 * @param compiledCode where machine code compiled of PTX is cached between runs: a directory that other users cannot write, {@code off} for no
 *     cache, or empty for the user's cache directory
 */
public record GpuOptions(String compiledCode) implements DriverOptions {
    /** A cache in the user's cache directory. */
    public static final GpuOptions DEFAULT = new GpuOptions("");

    /** Checks. */
    public GpuOptions {
        Objects.requireNonNull(compiledCode, "compiledCode");
    }
}
