package io.example.threads;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.QueueCostContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.ArrayList;
import java.util.List;

class ThreadDeviceQueueCostTest extends QueueCostContract {
    private final List<ThreadDriver> drivers = new ArrayList<>();

    @Override
    protected Device open(DeviceOptions.Builder options) {
        DeviceOptions built = options.build();
        ThreadDriver driver = new ThreadDriver(built);
        drivers.add(driver);
        return ThreadDriverProvider.open(built, driver);
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return ContractKernels.load(device, constants);
    }

    @Override
    protected boolean kernelsAreHostFunctions() {
        return false;
    }

    @Override
    protected boolean completionsAreGathered() {
        return false; // each has a value of its lane's timeline
    }

    @Override
    protected void stopHardware() {
        drivers.forEach(driver -> driver.hold(true));
    }

    @Override
    protected void startHardware() {
        drivers.forEach(driver -> driver.hold(false));
    }
}
