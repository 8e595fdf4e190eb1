package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.RandomGraphContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;

/** The random graphs on a CPU and Vulkan together, in the CPU's memory. */
@ExtendWith(NothingWrong.class)
class CpuWithVulkanRandomGraphTest extends RandomGraphContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return MixedDevices.cpu(options);
    }

    @Override
    protected List<Device> others() {
        return List.of(VulkanDrivers.open(DeviceOptions.builder().queueCount(2)));
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return MixedDevices.kernels(device, constants);
    }

    @Override
    protected boolean kernelsAreHostFunctions() {
        return false;
    }

    @Override
    protected long importGranularity() {
        return 4096;
    }
}
