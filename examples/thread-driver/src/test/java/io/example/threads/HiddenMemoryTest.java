package io.example.threads;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import org.junit.jupiter.api.Nested;

/** The suites on a device whose memory the host does not see: what goes between them is staged. */
class HiddenMemoryTest {
    private static Device hidden(DeviceOptions.Builder options) {
        DeviceOptions built = options.build();
        return ThreadDriverProvider.open(built, new ThreadDriver(built, true));
    }

    @Nested
    class Buffer extends ThreadDeviceBufferTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class Queue extends ThreadDeviceQueueTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class QueueMemory extends ThreadDeviceQueueMemoryTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class CommandBuffer extends ThreadDeviceCommandBufferTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class Constant extends ThreadDeviceConstantTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class Executable extends ThreadDeviceExecutableTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class File extends ThreadDeviceFileTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class Fence extends ThreadDeviceFenceTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class Semaphore extends ThreadDeviceSemaphoreTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }

    @Nested
    class RandomGraph extends ThreadDeviceRandomGraphTest {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return hidden(options);
        }
    }
}
