package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.Set;

/** Virtual devices with a clock that advances when everything waits for it, with kernels written in Java. */
final class VirtualBackend implements Backend {
    private final boolean streams;

    /** With streams, or with queues that begin operations in any order. */
    VirtualBackend(boolean streams) {
        this.streams = streams;
    }

    @Override
    public String name() {
        return streams ? "virtual streams" : "virtual queues without order";
    }

    @Override
    public Device open(DeviceOptions.Builder builder) {
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

    @Override
    public Executable kernels(Device device, int... constants) {
        return JavaKernels.load(device, constants);
    }

    @Override
    public Set<Capability> lacks() {
        return Set.of(streams ? Capability.CONCURRENT_HOST_CALLS : Capability.STREAMS);
    }
}
