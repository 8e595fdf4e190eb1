package io.github.iree4j.spring.health;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.Programs.LoadedProgram;
import io.github.iree4j.status.IreeException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Health of the runtime: each device, each program, each driver that does not work here, with reasons.
 *
 * <p>Down when a program cannot run because it is closed or none of its devices answers, or when no device does. A driver that is
 * not available is reported and changes nothing else. Never waits for work on a device.
 */
public final class IreeHealthIndicator extends AbstractHealthIndicator {

    private final IreeRuntime runtime;
    private final Programs programs;

    /**
     * An indicator for one runtime.
     *
     * @param runtime whose devices to report
     * @param programs the programs to report
     */
    public IreeHealthIndicator(IreeRuntime runtime, Programs programs) {
        super("the health of the IREE runtime could not be determined");
        this.runtime = runtime;
        this.programs = programs;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        Map<String, Object> devices = new LinkedHashMap<>();
        boolean anyDevice = false;
        for (Device device : runtime.devices()) {
            String failure = failure(device);
            anyDevice |= failure == null;
            Map<String, Object> detail = detail(failure);
            detail.put("driver", device.info().driver());
            detail.put("name", device.info().name());
            devices.put(device.id(), detail);
        }
        Map<String, Object> modules = new LinkedHashMap<>();
        boolean allModules = true;
        for (LoadedProgram loaded : programs.all()) {
            String failure = failure(loaded);
            allModules &= failure == null;
            Map<String, Object> detail = detail(failure);
            detail.put("location", loaded.source().location());
            detail.put(
                    "devices",
                    loaded.program().devices().stream().map(Device::id).toList());
            modules.put(loaded.source().name(), detail);
        }
        builder.status(anyDevice && allModules ? Status.UP : Status.DOWN)
                .withDetail("devices", devices)
                .withDetail("modules", modules);
        Map<String, String> unavailable = unavailableDrivers();
        if (!unavailable.isEmpty()) {
            builder.withDetail("unavailableDrivers", unavailable);
        }
    }

    private static Map<String, Object> detail(@Nullable String failure) {
        Map<String, Object> detail = new LinkedHashMap<>();
        detail.put("status", (failure == null ? Status.UP : Status.DOWN).getCode());
        if (failure != null) {
            detail.put("reason", failure);
        }
        return detail;
    }

    /** Why a device does not answer; null when it does. */
    private static @Nullable String failure(Device device) {
        try {
            device.queryI64("hal.device", "concurrency");
            return null;
        } catch (IreeException e) {
            return e.toString();
        }
    }

    private static @Nullable String failure(LoadedProgram loaded) {
        if (loaded.program().isClosed()) {
            return "program is closed";
        }
        List<Device> devices = loaded.program().devices();
        for (Device device : devices) {
            if (failure(device) == null) {
                return null;
            }
        }
        return "none of its devices answers";
    }

    private static Map<String, String> unavailableDrivers() {
        Map<String, String> reasons = new TreeMap<>();
        for (DriverProvider driver : IreeRuntime.drivers()) {
            Availability availability = driver.availability();
            if (!availability.available()) {
                reasons.put(driver.name(), String.valueOf(availability.reason()));
            }
        }
        return reasons;
    }
}
