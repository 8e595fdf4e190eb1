package io.example.threads;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The driver as seen by the contract suites. */
final class ThreadBackend implements Backend {
    private final boolean hidden;
    private final List<ThreadDriver> drivers = new ArrayList<>();

    /** With memory visible to the host, or with hidden memory. */
    ThreadBackend(boolean hidden) {
        this.hidden = hidden;
    }

    @Override
    public String name() {
        return hidden ? "threads with hidden memory" : "threads";
    }

    @Override
    public Device open(DeviceOptions.Builder options) {
        DeviceOptions built = options.build();
        ThreadDriver driver = new ThreadDriver(built, hidden);
        drivers.add(driver);
        return ThreadDriverProvider.open(built, driver);
    }

    @Override
    public Executable kernels(Device device, int... constants) {
        return ContractKernels.load(device, constants);
    }

    /** A failing kernel loses the device, and each submission has a value of its lane's timeline. */
    @Override
    public Set<Capability> lacks() {
        return Set.of(
                Capability.HOST_KERNELS,
                Capability.CONCURRENT_HOST_CALLS,
                Capability.GATHERED_COMPLETIONS,
                Capability.COLLECTIVES);
    }

    @Override
    public void hold() {
        drivers.forEach(driver -> driver.hold(true));
    }

    @Override
    public void release() {
        drivers.forEach(driver -> driver.hold(false));
    }
}
