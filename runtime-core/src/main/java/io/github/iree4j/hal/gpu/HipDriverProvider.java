package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.GpuKind;

/**
 * The driver of AMD's devices. {@code hip} is the first device; {@code hip:1} is the one with that number and {@code hip:<uuid>} the one
 * with that UUID.
 *
 * <p>The library, {@code libamdhip64.so} or what the environment variable {@code IREE4J_LIBHIP} names, is opened on first use, once for the
 * process.
 */
public final class HipDriverProvider extends GpuDriverProvider {
    /** For the service loader. */
    public HipDriverProvider() {
        super(GpuKind.HIP);
    }
}
