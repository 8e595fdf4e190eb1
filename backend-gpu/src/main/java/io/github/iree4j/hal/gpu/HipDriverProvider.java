package io.github.iree4j.hal.gpu;

import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.util.List;

/**
 * Driver of AMD's devices. {@code hip} is the first device, {@code hip:1} the device with this number, and
 * {@code hip:<uuid>} the device with this UUID. {@code rocm} is the driver's name in IREE until 2024.
 *
 * <p>The library, {@code libamdhip64.so} or the value of the environment variable {@code IREE4J_LIBHIP}, is opened on
 * first use, once for the process.
 */
public final class HipDriverProvider extends GpuDriverProvider {
    static final String FORMER_NAME = "rocm";

    /** Creates a provider for the service loader. */
    public HipDriverProvider() {
        super(GpuKind.HIP);
    }

    @Override
    public List<String> aliases() {
        return List.of(FORMER_NAME);
    }
}
