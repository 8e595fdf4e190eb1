package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The contract suites without the validation layer, as in production. The layer, which all other tests use, makes handles unique,
 * takes time and locks, and so hides what depends on any of that.
 */
@Tag("nightly")
class WithoutLayerContractTest {
    @Nested
    class Buffer extends VulkanBufferContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class CommandBuffer extends VulkanCommandBufferContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class Executable extends VulkanExecutableContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class Fence extends VulkanFenceContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class File extends VulkanFileContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class Queue extends VulkanQueueContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class QueueMemory extends VulkanQueueMemoryContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class RandomGraph extends VulkanRandomGraphContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }

    @Nested
    class Semaphore extends VulkanSemaphoreContractTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return VulkanDrivers.openWithoutLayer(options);
        }
    }
}
