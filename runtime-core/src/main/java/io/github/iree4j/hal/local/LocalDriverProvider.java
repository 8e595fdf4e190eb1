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

    /** IREE's own runtime has a driver for each way of running the device. */
    private static final List<String> ALIASES = List.of("local-sync", "local-task");

    /** Creates a provider for the service loader. */
    public LocalDriverProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> aliases() {
        return ALIASES;
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
        if (!deviceId.equals(NAME) && !ALIASES.contains(deviceId)) {
            throw IreeException.of(
                    StatusCode.NOT_FOUND, "driver 'local' has no device '" + deviceId + "'; it has: " + NAME);
        }
        return LocalDevice.open(devices().getFirst(), options);
    }

    /** Returns whether a pattern of {@code *} (any text) and {@code ?} (any character) names this device. */
    static boolean matches(String pattern) {
        return DevicePattern.matches(pattern, NAME)
                || ALIASES.stream().anyMatch(alias -> DevicePattern.matches(pattern, alias));
    }
}
