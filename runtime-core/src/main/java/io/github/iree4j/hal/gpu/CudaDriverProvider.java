package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.GpuKind;

/**
 * The driver of NVIDIA's devices. {@code cuda} is the first device; {@code cuda:1} is the one with that number and {@code cuda:<uuid>} the one
 * with that UUID.
 *
 * <p>The library, {@code libcuda.so.1} or what the environment variable {@code IREE4J_LIBCUDA} names, is opened on first use, once for the
 * process.
 */
public final class CudaDriverProvider extends GpuDriverProvider {
    /** For the service loader. */
    public CudaDriverProvider() {
        super(GpuKind.CUDA);
    }
}
