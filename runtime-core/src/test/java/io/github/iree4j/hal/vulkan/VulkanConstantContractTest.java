package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.ConstantContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NothingWrong.class)
class VulkanConstantContractTest extends ConstantContract {
    @Override
    protected Device open(DeviceOptions.Builder options) {
        return VulkanDrivers.openWithAllChecks(options);
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
}
