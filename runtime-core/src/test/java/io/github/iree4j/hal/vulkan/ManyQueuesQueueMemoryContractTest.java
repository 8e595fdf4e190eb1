package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.QueueMemoryContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** STREAM-1: on several hardware queues, which the library without hardware has. */
class ManyQueuesQueueMemoryContractTest extends QueueMemoryContract {
    @TempDir
    private static Path directory;

    private final FakeDriver fake = FakeDriver.in(directory, "unified");

    @Override
    protected Device open(DeviceOptions.Builder options) {
        return fake.open(options);
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return VulkanKernels.load(device, constants);
    }

    @Override
    protected boolean kernelsAreHostFunctions() {
        return false;
    }

    @Override
    protected long importGranularity() {
        return 4096;
    }

    @AfterEach
    void nothingToComplainOf() {
        fake.assertNothingToComplainOf();
    }
}
