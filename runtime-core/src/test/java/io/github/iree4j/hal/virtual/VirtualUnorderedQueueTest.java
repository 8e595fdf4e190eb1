package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.QueueContract;
import io.github.iree4j.hal.spi.DeviceOptions;

class VirtualUnorderedQueueTest extends QueueContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return VirtualDevices.unordered(options);
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return VirtualDevices.kernels(device, constants);
    }
}
