package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Common part of the providers of CUDA and HIP: the driver of the process. The first call opens the driver's library. */
abstract class GpuDriverProvider implements DriverProvider {
    private static final Map<GpuKind, GpuDriver> OF_PROCESS = new ConcurrentHashMap<>();

    private final GpuKind kind;

    GpuDriverProvider(GpuKind kind) {
        this.kind = kind;
    }

    private GpuDriver driver() {
        return OF_PROCESS.computeIfAbsent(kind, each -> new GpuDriver(each, null));
    }

    @Override
    public String name() {
        return GpuDriver.name(kind);
    }

    @Override
    public Availability availability() {
        return driver().availability();
    }

    @Override
    public List<DeviceInfo> devices() {
        return driver().devices();
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        return driver().open(deviceId, options);
    }
}
