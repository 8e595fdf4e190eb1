package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/** Finds drivers and opens devices by name. */
final class Drivers {
    private Drivers() {}

    /** Opens all devices of this machine, or no device. */
    static NamedDevices open(List<DeviceSource> sources, ProcessExecutor executor) {
        if (sources.isEmpty()) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "no device given; name one, such as local");
        }
        List<DriverProvider> drivers = DriverProvider.installed();
        int sharers = (int) sources.stream()
                .filter(source -> hasDefaultLimitOfCpu(source, drivers))
                .count();
        Map<String, Device> own = new LinkedHashMap<>();
        List<DeviceSource> remote = new ArrayList<>();
        try {
            for (DeviceSource source : sources) {
                if (isRemote(source, drivers)) {
                    remote.add(source);
                } else {
                    own.put(source.name(), open(source, drivers, executor, sharers));
                }
            }
            if (own.isEmpty()) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "the devices %s belong to other machines; add one of this machine, such as local"
                                .formatted(
                                        remote.stream().map(DeviceSource::name).toList()));
            }
        } catch (RuntimeException | Error e) {
            close(List.copyOf(own.values()));
            throw e;
        }
        return new NamedDevices(own, remote, source -> open(source, drivers, executor, sharers));
    }

    private static boolean isRemote(DeviceSource source, List<DriverProvider> drivers) {
        return drivers.stream().anyMatch(driver -> driver.isRemote() && driver.isNamed(driverName(source.uri())));
    }

    private static boolean hasDefaultLimitOfCpu(DeviceSource source, List<DriverProvider> drivers) {
        return source.options().memoryLimit() == 0
                && drivers.stream()
                        .anyMatch(driver -> driver.name().equals("local") && driver.isNamed(driverName(source.uri())));
    }

    private static Device open(
            DeviceSource source, List<DriverProvider> drivers, ProcessExecutor executor, int sharers) {
        DeviceOptions options = source.options();
        CpuOptions cpu = options.driver(CpuOptions.DEFAULTS).sharers(Math.max(1, sharers));
        return open(
                source.uri(),
                drivers,
                options.toBuilder()
                        .name(source.name())
                        .with(cpu.executor() != null ? cpu : cpu.executor(executor))
                        .build());
    }

    /** The part before {@code ://}. */
    private static String scheme(String uri) {
        int end = uri.indexOf("://");
        return end < 0 ? uri : uri.substring(0, end);
    }

    private static Device open(String name, List<DriverProvider> drivers, DeviceOptions options) {
        String wanted = scheme(name);
        String called = driverName(name);
        String id = name.length() <= wanted.length() + 3 ? wanted : name.substring(wanted.length() + 3);
        for (DriverProvider driver : drivers) {
            if (driver.isNamed(called)) {
                Availability availability = driver.availability();
                if (!availability.available()) {
                    throw IreeException.of(
                            StatusCode.UNAVAILABLE,
                            "driver '%s' is not available: %s".formatted(driver.name(), availability.reason()));
                }
                return driver.open(id.equals(wanted) ? driver.name() + wanted.substring(called.length()) : id, options);
            }
        }
        throw IreeException.of(
                StatusCode.NOT_FOUND,
                "there is no driver '%s' for device '%s' (installed: %s)%s"
                        .formatted(
                                wanted,
                                name,
                                drivers.stream().map(DriverProvider::name).collect(Collectors.joining(", ")),
                                MissingPart.atEnd(MissingPart.remedyOfDevice(wanted))));
    }

    /** The part before {@code ://}, or before the colon of an id like {@code vulkan:1}. */
    private static String driverName(String uri) {
        int end = uri.indexOf(':');
        return end < 0 ? uri : uri.substring(0, end);
    }

    static void close(List<Device> devices) {
        for (Device device : devices.reversed()) {
            try {
                device.close();
            } catch (RuntimeException e) {
                LoggerFactory.getLogger(Drivers.class).warn("device '{}' failed to close", device.id(), e);
            }
        }
    }
}
