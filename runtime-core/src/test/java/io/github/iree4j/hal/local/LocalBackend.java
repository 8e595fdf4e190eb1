package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.time.Duration;
import java.util.Set;

/** The CPU, with kernels written in Java. */
public final class LocalBackend implements Backend {
    private final int workers;

    /** With the workers of the options. */
    public LocalBackend() {
        this(0);
    }

    /** With so many workers for all work; 0 for the number in the options. */
    LocalBackend(int workers) {
        this.workers = workers;
    }

    @Override
    public String name() {
        return workers == 0 ? "local" : "local, all work by " + workers + " workers";
    }

    @Override
    public Device open(DeviceOptions.Builder options) {
        CpuOptions cpu = options.driver(CpuOptions.DEFAULTS).loader(new JavaKernels());
        if (workers > 0) {
            cpu = cpu.workers(workers).inlineWork(Duration.ZERO);
        }
        return new LocalDriverProvider().open("local", options.with(cpu).build());
    }

    @Override
    public Executable kernels(Device device, int... constants) {
        return JavaKernels.load(device, constants);
    }

    @Override
    public Set<Capability> lacks() {
        return Set.of(Capability.STREAMS);
    }
}
