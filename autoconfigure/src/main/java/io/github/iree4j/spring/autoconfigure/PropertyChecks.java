package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.MissingPart;
import io.github.iree4j.NativeCode;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.spring.OnChange;
import io.github.iree4j.spring.Placement;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Rejects properties with no effect or a wrong effect, naming each property. */
final class PropertyChecks {

    private static final Logger log = LoggerFactory.getLogger(PropertyChecks.class);

    /** Numbers meant in seconds are hardly greater, and calls hardly faster. */
    private static final Duration HASTE = Duration.ofMillis(10);

    private final IreeProperties properties;

    PropertyChecks(IreeProperties properties) {
        this.properties = properties;
    }

    /**
     * Checks all properties that can be checked without devices and programs.
     *
     * @throws InvalidConfigurationPropertyValueException naming the first property that is out of range
     */
    void ranges() {
        limit("iree.invocation.timeout", properties.invocation().timeout());
        limit("iree.loading.timeout", properties.loading().timeout());
        if (properties.loading().onChange() == OnChange.RELOAD
                && !properties.watchdog().enabled()) {
            throw invalid(
                    "iree.loading.on-change",
                    "reload",
                    "The watchdog finds files that were changed, and 'iree.watchdog.enabled' is false: enable it, or leave this property out.");
        }
        notNegative("iree.watchdog.after", properties.watchdog().after());
        positive("iree.watchdog.interval", properties.watchdog().interval());
        notNegative("iree.invocation.drain-timeout", properties.invocation().drainTimeout());
        properties
                .modules()
                .forEach((name, module) -> limit("iree.modules.%s.timeout".formatted(name), module.timeout()));
        properties.advanced().devices().forEach((name, device) -> {
            if (device.queueCount() < 0) {
                throw invalid(
                        "iree.advanced.devices.%s.queue-count".formatted(name),
                        device.queueCount(),
                        "It must not be negative; it is zero for the device's own number.");
            }
        });
        properties
                .pools()
                .forEach((device, pool) -> pool.quotas().forEach((program, quota) -> {
                    if (pool.budget() != null && quota.compareTo(pool.budget()) > 0) {
                        throw invalid(
                                "iree.pools.%s.quotas.%s".formatted(device, program),
                                quota,
                                "It is more than 'iree.pools.%s.budget', %s, and would have no effect."
                                        .formatted(device, pool.budget()));
                    }
                }));
        named("iree.advanced.modules.", properties.advanced().modules(), "program", properties.modules());
        properties.advanced().queues().forEach((name, queue) -> {
            if (queue.index() < 0) {
                throw invalid(
                        "iree.advanced.queues.%s.index".formatted(name), queue.index(), "It must not be negative.");
            }
        });
    }

    /**
     * Checks whether each device can be opened on this machine, as far as the driver reports.
     *
     * @throws InvalidConfigurationPropertyValueException naming the property that refers to a nonexistent device
     */
    void devices() {
        properties.devices().forEach((name, device) -> {
            if (device.uri() != null) {
                driver("iree.devices.%s.uri".formatted(name), device.uri(), device.uri());
            } else {
                driver("iree.devices.%s".formatted(name), name, name);
            }
        });
        reference("iree.device", properties.device());
        properties
                .modules()
                .forEach((name, module) ->
                        module.devices().forEach(each -> reference("iree.modules.%s.devices".formatted(name), each)));
        properties
                .advanced()
                .queues()
                .forEach((name, queue) -> reference("iree.advanced.queues.%s.device".formatted(name), queue.device()));
        Map<String, ?> devices = properties.allDevices();
        named("iree.pools.", properties.pools(), "device", devices);
        named("iree.advanced.pools.", properties.advanced().pools(), "device", devices);
        named("iree.advanced.devices.", properties.advanced().devices(), "device", devices);
    }

    /** Checks that each key names an existing device or program. */
    private static void named(String prefix, Map<String, ?> given, String kind, Map<String, ?> known) {
        given.keySet().forEach(name -> {
            if (!known.containsKey(name)) {
                throw invalid(
                        prefix + name,
                        name,
                        "There is no %s of that name; there are %s.".formatted(kind, new TreeSet<>(known.keySet())));
            }
        });
    }

    /** Warns of properties without effect in combination with others, as may occur in configurations shared by several applications. */
    void warn(Environment environment) {
        IreeProperties.Recorder recorder = properties.recorder();
        if (recorder.file() != null && !recorder.enabled()) {
            log.warn(
                    "'iree.recorder.file={}' has no effect: nothing is recorded; set 'iree.recorder.enabled=true', or remove it",
                    recorder.file());
        }
        Binder given = Binder.get(environment);
        warnOfHaste(given, "iree.invocation.timeout", properties.invocation().timeout());
        warnOfHaste(given, "iree.loading.timeout", properties.loading().timeout());
        properties.modules().forEach((name, module) -> {
            warnOfHaste(given, below("iree.modules", name) + ".timeout", module.timeout());
            Set<String> devices = Set.copyOf(properties.devicesOf(module));
            if (module.placement() == Placement.LEAST_LOADED && devices.size() < 2) {
                log.warn(
                        "'iree.modules.{}.placement=least-loaded' has no effect: the program runs on one device, {}; list several in 'iree.modules.{}.devices', or remove it",
                        name,
                        devices.iterator().next(),
                        name);
            }
        });
    }

    /** Warns of a limit given without a unit that was probably meant in seconds. */
    private static void warnOfHaste(Binder given, String property, @Nullable Duration limit) {
        if (limit != null
                && limit.isPositive()
                && limit.compareTo(HASTE) < 0
                && given.bind(property, String.class).orElse("").matches("[0-9]+")) {
            log.warn(
                    "'{}' is {} ms; a number without a unit is milliseconds, and '{}s' is seconds",
                    property,
                    limit.toMillis(),
                    limit.toMillis());
        }
    }

    /**
     * Warns of a time for calls in flight that stopping cuts short.
     *
     * @param times the division of time during stopping
     * @param configured the configured time, or null
     */
    void warnOfDraining(StopTimes times, @Nullable Duration configured) {
        if (configured != null && configured.compareTo(times.draining()) > 0) {
            log.warn(
                    "'iree.invocation.drain-timeout', which is {}, has no effect beyond {}, two thirds of '{}'; raise the latter to {}, or lower the former",
                    DurationText.of(configured),
                    DurationText.of(times.draining()),
                    StopTimes.PHASE,
                    DurationText.of(StopTimes.phaseFor(configured)));
        }
    }

    /**
     * Warns when compiled code cannot run on the CPU although it may: programs with a form without native code run that
     * form, slower, and nothing else tells it.
     *
     * @param devices of the runtime
     */
    void warnOfMissingNativeCode(List<Device> devices) {
        Set<String> allowed = properties.executables().allowedFormats();
        if (!allowed.isEmpty() && allowed.stream().noneMatch(format -> format.contains("-elf-"))) {
            return; // nobody wants compiled code
        }
        if (devices.stream().anyMatch(device -> device.info().driver().equals("local"))) {
            NativeCode.unavailabilityCause()
                    .ifPresent(cause -> log.warn(
                            "native code is not available, and programs on the CPU run with portable kernels only, which are slower: {}",
                            cause.getMessage()));
        }
    }

    /**
     * Warns of formats accepted by no device, such as misspelled formats.
     *
     * @param devices all devices of the runtime
     */
    void warnOfFormats(List<Device> devices) {
        if (devices.size() < properties.allDevices().size()) {
            return; // devices of other machines are opened later
        }
        Set<String> taken = new TreeSet<>();
        devices.forEach(device -> taken.addAll(device.executableFormats()));
        Set<String> unknown = new TreeSet<>(properties.executables().allowedFormats());
        unknown.removeAll(taken);
        if (!unknown.isEmpty()) {
            log.warn(
                    "'iree.executables.allowed-formats={}' has no effect: no device here takes the format, and all devices together take {} of the allowed formats; correct or remove the property",
                    String.join(",", unknown),
                    taken.isEmpty() ? "none" : taken);
        }
    }

    /**
     * Warns of quotas above the default budget of a device without a configured budget; the default depends on the
     * machine.
     *
     * @param device name of the device
     * @param budget of the device, in bytes
     */
    void warnOfQuotas(String device, long budget) {
        IreeProperties.Pool pool = properties.pools().get(device);
        if (pool == null) {
            return;
        }
        pool.quotas().forEach((program, quota) -> {
            if (quota.toBytes() > budget) {
                log.warn(
                        "'iree.pools.{}.quotas.{}={}' has no effect: device '{}' has {} bytes for all programs; lower it, or set 'iree.pools.{}.budget'",
                        device,
                        program,
                        quota,
                        device,
                        budget,
                        device);
            }
        });
    }

    /**
     * Checks that each quota belongs to a program.
     *
     * @param known names of programs
     * @throws InvalidConfigurationPropertyValueException naming the first quota without a program
     */
    void quotas(TreeSet<String> known) {
        properties
                .pools()
                .forEach((device, pool) -> pool.quotas().forEach((program, quota) -> {
                    if (!known.contains(program)) {
                        throw invalid(
                                "iree.pools.%s.quotas.%s".formatted(device, program),
                                quota,
                                "There is no program of that name; there are %s. An 'IreeDeviceCustomizer' sets quotas of programs that are loaded later."
                                        .formatted(known));
                    }
                }));
    }

    private void reference(String property, @Nullable String device) {
        if (device != null && !properties.devices().containsKey(device)) {
            driver(property, device, device);
        }
    }

    /** Checks the driver of a device. Names of drivers end at a colon: {@code vulkan://id}, {@code vulkan:1}. */
    private void driver(String property, Object value, String uri) {
        int end = uri.indexOf(':');
        String wanted = end < 0 ? uri : uri.substring(0, end);
        List<DriverProvider> drivers = DriverProvider.installed();
        for (DriverProvider driver : drivers) {
            if (driver.isNamed(wanted)) {
                Availability availability = driver.availability();
                if (!availability.available()) {
                    throw invalid(
                            property,
                            value,
                            "Driver '%s' is not available: %s. Drivers here: %s."
                                    .formatted(driver.name(), availability.reason(), describe(drivers)));
                }
                return;
            }
        }
        String part = MissingPart.remedyOfDevice(wanted)
                .map(remedy -> " %s.".formatted(StringUtils.capitalize(remedy)))
                .orElse("");
        throw invalid(
                property,
                value,
                "'%s' is neither a device of 'iree.devices', which has %s, nor a driver; drivers here: %s.%s"
                        .formatted(wanted, new TreeSet<>(properties.devices().keySet()), describe(drivers), part));
    }

    /** Returns a longer name; an element with characters not allowed in names is in brackets. */
    static String below(String name, String element) {
        return element.indexOf('.') < 0 && ConfigurationPropertyName.isValid(element)
                ? name + "." + element
                : "%s[%s]".formatted(name, element);
    }

    private static String describe(List<DriverProvider> drivers) {
        return drivers.stream()
                .map(driver -> {
                    Availability availability = driver.availability();
                    return availability.available()
                            ? driver.name()
                            : "%s (not available: %s)".formatted(driver.name(), availability.reason());
                })
                .collect(Collectors.joining(", "));
    }

    private static void limit(String property, @Nullable Duration value) {
        if (value != null && value.isNegative()) {
            throw invalid(property, value, "It must not be negative; zero is for no limit.");
        }
    }

    private static void positive(String property, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw invalid(property, value, "It must be positive.");
        }
    }

    private static void notNegative(String property, Duration value) {
        if (value.isNegative()) {
            throw invalid(property, value, "It must not be negative.");
        }
    }

    static InvalidConfigurationPropertyValueException invalid(String property, @Nullable Object value, String reason) {
        return new InvalidConfigurationPropertyValueException(property, value, reason);
    }
}
