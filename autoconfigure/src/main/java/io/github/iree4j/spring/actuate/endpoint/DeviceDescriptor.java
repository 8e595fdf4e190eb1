package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A device.
 *
 * @param name its name in {@code iree.devices}
 * @param driver the driver behind it
 * @param description what it calls itself
 * @param queues how many queues it has
 * @param executableFormats the formats of executables that it takes, of those that compilers produce today
 * @param failure why nothing runs here any more; null while it works
 */
public record DeviceDescriptor(
        String name,
        String driver,
        String description,
        int queues,
        List<String> executableFormats,
        @Nullable String failure) {

    static DeviceDescriptor of(IreeRuntime runtime, Device device) {
        return new DeviceDescriptor(
                runtime.nameOf(device),
                device.info().driver(),
                device.info().name(),
                device.queueCount(),
                IreeRuntime.executableFormats(device),
                device.failure() == null ? null : device.failure().toString());
    }

    /**
     * All devices.
     *
     * @param devices in the order in which programs see them
     */
    public record All(List<DeviceDescriptor> devices) implements OperationResponseBody {}
}
