package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.ConstantContract;
import io.github.iree4j.hal.spi.DeviceOptions;

class LocalConstantTest extends ConstantContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return LocalDevices.open(options);
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return LocalDevices.kernels(device, constants);
    }
}
