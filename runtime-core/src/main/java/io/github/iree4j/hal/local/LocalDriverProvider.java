package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DevicePattern;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** The driver of the CPU: one device, {@code local}, on every machine. */
public final class LocalDriverProvider implements DriverProvider {
    private static final String NAME = "local";

    /** Names by which programs may refer to a CPU device; IREE's own runtime has a driver for each way of running the device. */
    private static final List<String> IDENTIFIERS = List.of(NAME, "local-sync", "local-task");

    /** Creates a provider for the service loader. */
    public LocalDriverProvider() {}

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
        int processors = Runtime.getRuntime().availableProcessors();
        return List.of(new DeviceInfo(
                NAME,
                NAME,
                System.getProperty("os.arch") + " CPU, " + processors
                        + (processors == 1 ? " processor" : " processors")));
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        if (!IDENTIFIERS.contains(deviceId)) {
            throw new IreeException(
                    StatusCode.NOT_FOUND, "driver 'local' has no device '" + deviceId + "'; it has: " + NAME);
        }
        return LocalDevice.open(devices().getFirst(), options);
    }

    /** Returns whether a pattern of {@code *} (any text) and {@code ?} (any character) names this device. */
    static boolean matches(String pattern) {
        return IDENTIFIERS.stream().anyMatch(identifier -> DevicePattern.matches(pattern, identifier));
    }
}
