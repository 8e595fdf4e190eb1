package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A device.
 *
 * @param name the device's name in {@code iree.devices}
 * @param driver the device's driver
 * @param description the device's own description
 * @param machine index of the device's machine
 * @param queues number of queues
 * @param executableFormats the supported executable formats among formats produced by current compilers
 * @param failure the reason for the device's loss; null while the device works
 */
public record DeviceDescriptor(
        String name,
        String driver,
        String description,
        int machine,
        int queues,
        List<String> executableFormats,
        @Nullable String failure) {

    static DeviceDescriptor of(IreeRuntime runtime, Device device) {
        return new DeviceDescriptor(
                runtime.monitor().devices().nameOf(device),
                device.info().driver(),
                device.info().name(),
                DeviceInfo.machine(device.id(), device.queue(0).axis()),
                device.queueCount(),
                device.executableFormats(),
                device.failure().map(IreeException::toString).orElse(null));
    }

    /**
     * All devices.
     *
     * @param devices in the order seen by programs
     */
    public record All(List<DeviceDescriptor> devices) implements OperationResponseBody {}
}
