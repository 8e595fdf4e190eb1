package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.MemorySegment;

/** Virtual devices that run kernels written in Java, as soon as there is work. */
final class VirtualDevices {
    private VirtualDevices() {}

    static Device streams(DeviceOptions.Builder builder) {
        return open(builder, true);
    }

    static Device unordered(DeviceOptions.Builder builder) {
        return open(builder, false);
    }

    private static Device open(DeviceOptions.Builder builder, boolean streams) {
        DeviceOptions options = builder.build();
        VirtualDevice.Builder device = VirtualDevice.builder()
                .clock(VirtualClock.automatic())
                .loader(new JavaKernels())
                .memoryLimit(options.memoryLimit());
        for (int i = 0; i < Math.max(1, options.queueCount()); i++) {
            if (streams) {
                device.fifoQueues(1);
            } else {
                device.unorderedQueue(4);
            }
        }
        return device.build();
    }

    static Executable kernels(Device device, int... constants) {
        return device.createExecutable(
                new ExecutableParams(JavaKernels.FORMAT, MemorySegment.ofArray(new byte[1]), null, constants));
    }
}
