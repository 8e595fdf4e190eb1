package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.contract.Participants;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.SlabMemory;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;

/** CUDA or HIP: without hardware, or the machine's, see {@link GpuDrivers}; participants of collectives have no hardware, and a device each. */
final class GpuBackend implements Backend {
    private final Path directory;
    private final GpuKind kind;
    private final GpuDrivers driver;

    /** Keeps the library's state in a directory. */
    GpuBackend(Path directory, GpuKind kind) {
        this.directory = directory;
        this.kind = kind;
        this.driver = GpuDrivers.in(directory, kind);
    }

    @Override
    public String name() {
        return kind.name();
    }

    @Override
    public Device open(DeviceOptions.Builder options) {
        return driver.open(options);
    }

    @Override
    public Executable kernels(Device device, int... constants) {
        return GpuKernels.load(device, constants);
    }

    /**
     * Each submission has its event, and the host hears of each. Hardware has a single context for the process, so no
     * test there lets a kernel fault.
     */
    @Override
    public Set<Capability> lacks() {
        Set<Capability> lacks = EnumSet.of(
                Capability.HOST_KERNELS,
                Capability.BINDING_LENGTHS,
                Capability.CONCURRENT_HOST_CALLS,
                Capability.GATHERED_COMPLETIONS);
        if (kind == GpuKind.HIP) {
            lacks.add(Capability.READ_ONLY_IMPORTS);
        }
        if (GpuDrivers.isReal(kind)) {
            lacks.add(Capability.FAILING_KERNELS);
        }
        return lacks;
    }

    @Override
    public long importGranularity() {
        return SlabMemory.pageSize();
    }

    @Override
    public void hold() {
        driver.hang();
    }

    @Override
    public void release() {
        driver.goOn();
    }

    @Override
    public Participants participants() {
        return new GpuRanks(directory, kind, GpuDrivers.AS_HARDWARE);
    }

    @Override
    public boolean has(Collective operation) {
        return GpuRanks.has(operation);
    }

    @Override
    public void close() {
        driver.assertNothingToComplainOf();
    }
}
