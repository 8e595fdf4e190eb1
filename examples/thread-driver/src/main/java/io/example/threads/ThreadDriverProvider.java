package io.example.threads;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** The driver {@code threads}. */
public final class ThreadDriverProvider implements DriverProvider {
    private static final String NAME = "threads";

    private static final DeviceInfo DEVICE = new DeviceInfo(NAME, NAME + ":0", "threads of this process");

    /** For the service loader. */
    public ThreadDriverProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        return Availability.AVAILABLE;
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(DEVICE);
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        if (!deviceId.equals(NAME) && !deviceId.equals(DEVICE.id())) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND,
                    "driver 'threads' has no device '%s'; it has: %s".formatted(deviceId, DEVICE.id()));
        }
        return open(options, new ThreadDriver(options));
    }

    /** Creates a device that owns the driver. */
    static StreamDevice open(DeviceOptions options, ThreadDriver driver) {
        try {
            return new StreamDevice(DEVICE, options, driver, StreamDevice.CLOSE_LIMIT);
        } catch (RuntimeException | Error e) {
            driver.close();
            throw e;
        }
    }
}
