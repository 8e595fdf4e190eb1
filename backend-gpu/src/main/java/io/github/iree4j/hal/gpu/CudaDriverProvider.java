package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.gpu.GpuKind;

/**
 * Driver of NVIDIA's devices. {@code cuda} is the first device, {@code cuda:1} the device with this number, and
 * {@code cuda:<uuid>} the device with this UUID.
 *
 * <p>The library, {@code libcuda.so.1} or the value of the environment variable {@code IREE4J_LIBCUDA}, is opened on
 * first use, once for the process.
 */
public final class CudaDriverProvider extends GpuDriverProvider {
    /** Creates a provider for the service loader. */
    public CudaDriverProvider() {
        super(GpuKind.CUDA);
    }
}
