package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.nativeaccess.GpuKind;
import java.util.List;

/**
 * The driver of AMD's devices. {@code hip} is the first device; {@code hip:1} is the one with that number and {@code hip:<uuid>} the one
 * with that UUID.
 *
 * <p>The library, {@code libamdhip64.so} or what the environment variable {@code IREE4J_LIBHIP} names, is opened on first use, once for the
 * process.
 */
public final class HipDriverProvider implements DriverProvider {
    private static final class OfProcess {
        private static final GpuDriver INSTANCE = new GpuDriver(GpuKind.HIP, null);
    }

    /** For the service loader. */
    public HipDriverProvider() {}

    @Override
    public String name() {
        return "hip";
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
