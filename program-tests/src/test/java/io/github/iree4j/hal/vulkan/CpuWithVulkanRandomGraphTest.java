package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.contract.RandomGraphContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.MixedDevices;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/** The random graphs on a CPU and Vulkan together, in the memory of either. */
@ExtendWith(NothingWrong.class)
class CpuWithVulkanRandomGraphTest {
    /** A device with the memory, and a device importing the memory. */
    private record Mixed(
            String name, Function<DeviceOptions.Builder, Device> first, Function<DeviceOptions.Builder, Device> second)
            implements Backend {
        @Override
        public Device open(DeviceOptions.Builder options) {
            return first.apply(options);
        }

        @Override
        public List<Device> peers() {
            return List.of(second.apply(DeviceOptions.builder().queueCount(2)));
        }

        @Override
        public Executable kernels(Device device, int... constants) {
            return MixedDevices.kernels(device, constants);
        }

        @Override
        public Set<Capability> lacks() {
            return Set.of(Capability.HOST_KERNELS);
        }

        @Override
        public long importGranularity() {
            return 4096;
        }
    }

    @Nested
    class InMemoryOfTheCpu extends RandomGraphContract {
        InMemoryOfTheCpu() {
            super(new Mixed("a CPU with Vulkan", MixedDevices::cpu, VulkanDrivers::open));
        }
    }

    @Nested
    class InMemoryOfVulkan extends RandomGraphContract {
        InMemoryOfVulkan() {
            super(new Mixed("Vulkan with a CPU", VulkanDrivers::open, MixedDevices::cpu));
        }
    }
}
