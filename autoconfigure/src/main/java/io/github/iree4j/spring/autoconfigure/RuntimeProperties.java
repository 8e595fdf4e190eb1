package io.github.iree4j.spring.autoconfigure;

import com.sun.management.OperatingSystemMXBean;
import io.github.iree4j.RuntimeBuilder;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.ChannelOptions;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.GpuOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.task.Topology;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;
import org.springframework.util.unit.DataSize;

/** Applies the properties to a runtime builder; rejects an invalid value with the name of the property. */
final class RuntimeProperties {

    private static final String BASE64 = "base64:";

    private final IreeProperties properties;
    private final SchedulingDomain domain;
    private final List<IreeDeviceCustomizer> deviceCustomizers;

    RuntimeProperties(
            IreeProperties properties, SchedulingDomain domain, List<IreeDeviceCustomizer> deviceCustomizers) {
        this.properties = properties;
        this.domain = domain;
        this.deviceCustomizers = deviceCustomizers;
    }

    void apply(RuntimeBuilder builder) {
        properties
                .allDevices()
                .forEach((name, device) ->
                        builder.device(name, device.uri() == null ? name : device.uri(), options(name, device)));
        tasks(builder);
    }

    private DeviceOptions options(String name, IreeProperties.Device device) {
        DeviceOptions.Builder options = DeviceOptions.builder()
                .schedulingDomain(domain)
                .executableFormats(properties.executables().allowedFormats());
        IreeProperties.Advanced.Device advanced = properties.advanced().device(name);
        String key = "iree.advanced.devices." + name;
        checked(
                key + ".queue-count",
                advanced.queueCount(),
                () -> options.queueCount(properties.queueCount(name)).build());
        checked(
                key + ".inline-work",
                advanced.inlineWork(),
                () -> options.with(options.driver(CpuOptions.DEFAULTS).inlineWork(advanced.inlineWork()))
                        .build());
        String compiledCode = device.gpu().compiledCode();
        if (!compiledCode.isEmpty()) {
            options.with(GpuOptions.DEFAULTS.compiledCode(compiledCode));
        }
        channel(key + ".channel", advanced.channel(), options);
        budget(
                "iree.pools." + name,
                properties.pools().getOrDefault(name, IreeProperties.Pool.DEFAULT),
                isLocal(name, device),
                options);
        pool("iree.advanced.pools." + name, properties.advanced().pool(name), options);
        deviceCustomizers.forEach(customizer -> customizer.customize(name, options));
        return options.build();
    }

    private static void channel(
            String key, IreeProperties.Advanced.Device.Channel channel, DeviceOptions.Builder options) {
        if (channel.equals(IreeProperties.Advanced.Device.Channel.DEFAULT)) {
            return;
        }
        Integer count = channel.count();
        checked(key + ".count", count, () -> {
            if (count == null) {
                throw new IllegalArgumentException("it must be set where '" + key + "' is: a group has participants");
            }
            return ChannelParams.of(ChannelParams.DEFAULT, count);
        });
        checked(key + ".id", channel.id(), () -> ChannelParams.of(id(channel.id()), ChannelParams.DEFAULT, 1));
        checked(
                key + ".rank",
                channel.rank(),
                () -> options.with(new ChannelOptions(new ChannelParams(
                        id(channel.id()),
                        channel.group(),
                        channel.rank() == null ? ChannelParams.DEFAULT : channel.rank(),
                        Objects.requireNonNull(count)))));
    }

    /** Decodes an id: ids consist of any bytes, which properties cannot hold. */
    private static String id(String text) {
        return text.startsWith(BASE64)
                ? new String(Base64.getDecoder().decode(text.substring(BASE64.length())), StandardCharsets.ISO_8859_1)
                : text;
    }

    private static boolean isLocal(String name, IreeProperties.Device device) {
        return (device.uri() == null ? name : device.uri()).startsWith(IreeProperties.DEFAULT_DEVICE);
    }

    private static long memoryOfThisMachine() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }

    private static void budget(
            String key, IreeProperties.Pool pool, boolean onThisMachine, DeviceOptions.Builder options) {
        DataSize budget = pool.budget();
        if (budget != null) {
            checked(key + ".budget", budget, () -> {
                if (budget.toBytes() == 0) {
                    throw new IllegalArgumentException("it must not be zero");
                }
                long most = memoryOfThisMachine();
                if (onThisMachine && budget.toBytes() > most) {
                    throw new IllegalArgumentException(
                            "it exceeds the memory of this machine or container, %d MB".formatted(most >> 20));
                }
                return options.memoryLimit(budget.toBytes()).build();
            });
        }
        pool.quotas()
                .forEach((program, quota) -> checked(
                        key + ".quotas." + program,
                        quota,
                        () -> options.memoryQuota(program, quota.toBytes()).build()));
    }

    private static void pool(String key, IreeProperties.Advanced.Pool pool, DeviceOptions.Builder options) {
        checked(
                key + ".trim.idle-after",
                pool.trim().idleAfter(),
                () -> options.memoryIdle(pool.trim().idleAfter()).build());
        checked(
                key + ".trim.retained",
                pool.trim().retained(),
                () -> options.memoryRetained(pool.trim().retained().toBytes()).build());
        checked(
                key + ".waiting.limit",
                pool.waiting().limit(),
                () -> options.memoryWait(pool.waiting().limit()).build());
        checked(
                key + ".waiting.host",
                pool.waiting().host(),
                () -> options.memoryHostWait(pool.waiting().host()).build());
    }

    private void tasks(RuntimeBuilder builder) {
        IreeProperties.Task task = properties.task();
        if (!task.topology().strip().equals("auto")) {
            checked("iree.task.topology", task.topology(), () -> builder.topology(Topology.of(task.topology())));
        }
        checked("iree.task.workers", task.workers(), () -> builder.taskWorkers(task.workers()));
        builder.taskAffinity(properties.advanced().task().affinity());
    }

    /** Sets an option; the returned value is ignored. */
    @FunctionalInterface
    private interface Step {
        Object run();
    }

    /** Runs a step that rejects values out of range, and names the property in the failure. */
    private static void checked(String property, @Nullable Object value, Step step) {
        try {
            step.run();
        } catch (IreeException | IllegalArgumentException | ArithmeticException e) {
            throw new InvalidConfigurationPropertyValueException(
                    property, value, reason(String.valueOf(e.getMessage())));
        }
    }

    /** Returns a sentence without the name of the runtime's option, which is unknown to users of properties. */
    private static String reason(String message) {
        return StringUtils.capitalize(message.replaceFirst("^'memory[^']*' is ", "it is ")) + ".";
    }
}
