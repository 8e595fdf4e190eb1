package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.spi.DeviceOptions;

/** A CPU that runs kernels written in Java, beside Vulkan devices that run the same kernels as shaders. */
public final class MixedDevices {
    private MixedDevices() {}

    public static Device cpu(DeviceOptions.Builder options) {
        return new LocalBackend().open(options);
    }

    /** Loads the kernels of the contract suites in the device's format. */
    public static Executable kernels(Device device, int... constants) {
        return device.queryI64("hal.executable.format", JavaKernels.FORMAT).orElse(0) == 0
                ? VulkanKernels.load(device, constants)
                : JavaKernels.load(device, constants);
    }
}
