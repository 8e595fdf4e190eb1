package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.gpu.GpuKind;

/**
 * Driver of AMD's devices. {@code hip} is the first device, {@code hip:1} the device with this number, and
 * {@code hip:<uuid>} the device with this UUID.
 *
 * <p>The library, {@code libamdhip64.so} or the value of the environment variable {@code IREE4J_LIBHIP}, is opened on
 * first use, once for the process.
 */
public final class HipDriverProvider extends GpuDriverProvider {
    /** Creates a provider for the service loader. */
    public HipDriverProvider() {
        super(GpuKind.HIP);
    }
}
