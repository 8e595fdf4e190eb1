package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.nativeaccess.GpuKind;
import java.util.List;

/**
 * The driver of NVIDIA's devices. {@code cuda} is the first device; {@code cuda:1} is the one with that number and {@code cuda:<uuid>} the one
 * with that UUID.
 *
 * <p>The library, {@code libcuda.so.1} or what the environment variable {@code IREE4J_LIBCUDA} names, is opened on first use, once for the
 * process.
 */
public final class CudaDriverProvider implements DriverProvider {
    private static final class OfProcess {
        private static final GpuDriver INSTANCE = new GpuDriver(GpuKind.CUDA, null);
    }

    /** For the service loader. */
    public CudaDriverProvider() {}

    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public Availability availability() {
        return OfProcess.INSTANCE.availability();
    }

    @Override
    public List<DeviceInfo> devices() {
        return OfProcess.INSTANCE.devices();
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        return OfProcess.INSTANCE.open(deviceId, options);
    }
}
