package io.example.threads;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.ConstantContract;
import io.github.iree4j.hal.spi.DeviceOptions;

class ThreadDeviceConstantTest extends ConstantContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return new ThreadDriverProvider().open("threads", options.build());
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return ContractKernels.load(device, constants);
    }

    @Override
    protected boolean kernelsAreHostFunctions() {
        return false;
    }
}
