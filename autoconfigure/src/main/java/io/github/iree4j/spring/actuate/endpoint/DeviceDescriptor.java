package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import java.util.List;

/**
 * A device.
 *
 * @param id its id, as {@code iree.device} takes it
 * @param driver the driver behind it
 * @param name what it calls itself
 * @param executableFormats the formats of executables that it takes, of those that compilers produce today
 */
public record DeviceDescriptor(String id, String driver, String name, List<String> executableFormats) {

    /** Formats to ask a device for; it has no list of its own to give. */
    private static final List<String> FORMATS = List.of(
            "embedded-elf-x86_64",
            "embedded-elf-arm_64",
            "embedded-elf-riscv_64",
            "vmvx-bytecode-fb",
            "cuda-nvptx-fb",
            "rocm-hsaco-fb",
            "vulkan-spirv-fb",
            "vulkan-spirv-bda-v1");

    static DeviceDescriptor of(Device device) {
        DeviceInfo info = device.info();
        return new DeviceDescriptor(
                info.id(),
                info.driver(),
                info.name(),
                FORMATS.stream()
                        .filter(format ->
                                device.queryI64("hal.executable.format", format).orElse(0) != 0)
                        .toList());
    }
}
