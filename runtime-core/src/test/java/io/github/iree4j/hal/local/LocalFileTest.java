package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.FileContract;
import io.github.iree4j.hal.spi.DeviceOptions;

class LocalFileTest extends FileContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return LocalDevices.open(options);
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return LocalDevices.kernels(device, constants);
    }
}
