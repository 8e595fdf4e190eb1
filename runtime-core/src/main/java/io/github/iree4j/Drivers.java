package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Services;
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

    static List<DriverProvider> all() {
        return Services.of(DriverProvider.class);
    }

    /** Opens all devices of this machine, or no device. */
    static NamedDevices open(List<DeviceSource> sources, ProcessExecutor executor) {
        if (sources.isEmpty()) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "no device given; name one, such as local");
        }
        List<DriverProvider> drivers = all();
        int sharers =
                (int) sources.stream().filter(Drivers::hasDefaultLimitOfCpu).count();
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
                throw new IreeException(
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
        return drivers.stream()
                .anyMatch(driver -> driver.isRemote() && driver.name().equals(driverName(scheme(source.uri()))));
    }

    private static boolean hasDefaultLimitOfCpu(DeviceSource source) {
        return source.options().memoryLimit() == 0
                && driverName(scheme(source.uri())).equals("local");
    }

    private static Device open(
            DeviceSource source, List<DriverProvider> drivers, ProcessExecutor executor, int sharers) {
        DeviceOptions options = source.options();
        CpuOptions cpu = options.driver(CpuOptions.DEFAULT).withSharers(Math.max(1, sharers));
        return open(
                source.uri(),
                drivers,
                options.toBuilder()
                        .name(source.name())
                        .with(cpu.executor() != null ? cpu : cpu.withExecutor(executor))
                        .build());
    }

    /** The part before {@code ://}. */
    private static String scheme(String uri) {
        int end = uri.indexOf("://");
        return end < 0 ? uri : uri.substring(0, end);
    }

    private static Device open(String name, List<DriverProvider> drivers, DeviceOptions options) {
        String wanted = scheme(name);
        String id = name.length() <= wanted.length() + 3 ? wanted : name.substring(wanted.length() + 3);
        for (DriverProvider driver : drivers) {
            if (driver.name().equals(driverName(wanted))) {
                Availability availability = driver.availability();
                if (!availability.available()) {
                    throw new IreeException(
                            StatusCode.UNAVAILABLE,
                            "driver '%s' is not available: %s".formatted(driver.name(), availability.reason()));
                }
                return driver.open(id.equals(wanted) && id.indexOf(':') < 0 ? driver.name() : id, options);
            }
        }
        throw new IreeException(
                StatusCode.NOT_FOUND,
                "there is no driver '%s' for device '%s' (installed: %s)%s"
                        .formatted(
                                wanted,
                                name,
                                drivers.stream().map(DriverProvider::name).collect(Collectors.joining(", ")),
                                MissingPart.atEnd(List.of(wanted))));
    }

    /** Maps aliases: IREE has two names for the CPU driver, for two ways of scheduling. An id like {@code vulkan:1} begins with the driver. */
    private static String driverName(String name) {
        int number = name.indexOf(':');
        return name.equals("local-task") || name.equals("local-sync")
                ? "local"
                : number < 0 ? name : name.substring(0, number);
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
