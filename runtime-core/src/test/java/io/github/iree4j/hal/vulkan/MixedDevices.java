package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.MemorySegment;

/** A CPU that runs kernels written in Java, beside Vulkan devices that run the same kernels as shaders. */
public final class MixedDevices {
    private MixedDevices() {}

    public static Device cpu(DeviceOptions.Builder options) {
        return new LocalDriverProvider()
                .open(
                        "local",
                        options.with(options.driver(CpuOptions.DEFAULT).withLoader(new JavaKernels()))
                                .build());
    }

    /** Loads the kernels of the contract suites in the device's format. */
    public static Executable kernels(Device device, int... constants) {
        return device.queryI64("hal.executable.format", JavaKernels.FORMAT).orElse(0) == 0
                ? VulkanKernels.load(device, constants)
                : device.createExecutable(
                        new ExecutableParams(JavaKernels.FORMAT, MemorySegment.ofArray(new byte[1]), null, constants));
    }
}
