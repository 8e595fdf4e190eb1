package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.MemorySegment;

/** Local devices that run kernels written in Java. */
final class LocalDevices {
    private LocalDevices() {}

    static Device open(DeviceOptions.Builder options) {
        return new LocalDriverProvider()
                .open(
                        "local",
                        options.with(options.driver(CpuOptions.DEFAULT).withLoader(new JavaKernels()))
                                .build());
    }

    static Executable kernels(Device device, int... constants) {
        return device.createExecutable(
                new ExecutableParams(JavaKernels.FORMAT, MemorySegment.ofArray(new byte[1]), null, constants));
    }
}
