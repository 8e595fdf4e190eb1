package io.github.iree4j.generation;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The device {@code given-gpu} of a driver among the options, for runtimes whose library has settings. */
public final class GivenGpuProvider implements DriverProvider {
    /**
     * The driver.
     *
     * @param drivers opens the device
     */
    record Given(@Nullable GpuDrivers drivers) implements DriverOptions {}

    @Override
    public String name() {
        return "given-gpu";
    }

    @Override
    public Availability availability() {
        return Availability.AVAILABLE;
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of();
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        return Objects.requireNonNull(options.driver(new Given(null)).drivers()).open(options.toBuilder());
    }
}
