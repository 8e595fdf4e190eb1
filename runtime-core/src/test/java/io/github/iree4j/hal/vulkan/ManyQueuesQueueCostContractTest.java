package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.QueueCostContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** STREAM-1: on several hardware queues, which the library without hardware has. */
class ManyQueuesQueueCostContractTest extends QueueCostContract {
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
    protected int queues() {
        return 3; // as many as the library without hardware has
    }

    @Override
    protected void stopHardware() {
        fake.library().hang();
    }

    @Override
    protected void startHardware() {
        fake.library().goOn();
    }

    @Override
    protected boolean completionsAreGathered() {
        return false; // each has a value of the hardware queue's timeline, and the host waits for the next
    }

    @AfterEach
    void nothingToComplainOf() {
        fake.assertNothingToComplainOf();
    }
}
