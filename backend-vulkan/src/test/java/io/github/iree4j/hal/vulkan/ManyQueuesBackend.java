package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.nio.file.Path;
import java.util.Set;

/** A Vulkan library without hardware, with several hardware queues. */
final class ManyQueuesBackend implements Backend {
    private final FakeDriver fake;

    /** Keeps the library's state in a directory. */
    ManyQueuesBackend(Path directory) {
        this.fake = FakeDriver.in(directory, "unified");
    }

    @Override
    public String name() {
        return "Vulkan without hardware";
    }

    @Override
    public Device open(DeviceOptions.Builder options) {
        return fake.open(options);
    }

    @Override
    public Executable kernels(Device device, int... constants) {
        return VulkanKernels.load(device, constants);
    }

    /** Each completion has a value of the hardware queue's timeline, and the host waits for the next. */
    @Override
    public Set<Capability> lacks() {
        return Set.of(
                Capability.HOST_KERNELS,
                Capability.FAILING_KERNELS,
                Capability.CONCURRENT_HOST_CALLS,
                Capability.GATHERED_COMPLETIONS,
                Capability.COLLECTIVES);
    }

    @Override
    public long importGranularity() {
        return 4096;
    }

    @Override
    public int streams() {
        return 3;
    }

    @Override
    public void hold() {
        fake.hang();
    }

    @Override
    public void release() {
        fake.goOn();
    }

    @Override
    public void close() {
        fake.assertNothingToComplainOf();
    }
}
