package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.gpu.GpuKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.VulkanKernels;

/** A CPU and devices of all drivers with streams, for the same kernels. */
public final class MixedDevices {
    private MixedDevices() {}

    /** A CPU with kernels written in Java. */
    public static Device cpu(DeviceOptions.Builder options) {
        return new LocalBackend().open(options);
    }

    /** Loads the kernels of the contract suites in the device's format. */
    public static Executable kernels(Device device, int... constants) {
        return switch (device.info().driver()) {
            case "cuda", "hip" -> GpuKernels.load(device, constants);
            case "vulkan" -> VulkanKernels.load(device, constants);
            default -> JavaKernels.load(device, constants);
        };
    }
}
