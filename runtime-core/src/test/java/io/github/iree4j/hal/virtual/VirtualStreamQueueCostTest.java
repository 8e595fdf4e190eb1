package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.QueueCostContract;
import io.github.iree4j.hal.spi.DeviceOptions;

class VirtualStreamQueueCostTest extends QueueCostContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return VirtualDevices.streams(options);
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return VirtualDevices.kernels(device, constants);
    }
}
