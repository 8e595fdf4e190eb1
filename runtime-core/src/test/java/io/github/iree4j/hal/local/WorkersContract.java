package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.CommandBufferContract;
import io.github.iree4j.hal.contract.ConstantContract;
import io.github.iree4j.hal.contract.ExecutableContract;
import io.github.iree4j.hal.contract.FenceContract;
import io.github.iree4j.hal.contract.QueueContract;
import io.github.iree4j.hal.contract.QueueMemoryContract;
import io.github.iree4j.hal.contract.RandomGraphContract;
import io.github.iree4j.hal.contract.SemaphoreContract;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/** The queue contract, with all work of the local device done by a number of workers. */
abstract class WorkersContract {
    private final int workers;

    WorkersContract(int workers) {
        this.workers = workers;
    }

    private Device device(DeviceOptions.Builder options) {
        return LocalDevices.open(options.with(
                options.driver(CpuOptions.DEFAULT).withWorkers(workers).withInlineWork(Duration.ZERO)));
    }

    @Nested
    class CommandBuffers extends CommandBufferContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class Constants extends ConstantContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class Executables extends ExecutableContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class Fences extends FenceContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class Queues extends QueueContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class QueueMemories extends QueueMemoryContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class RandomGraphs extends RandomGraphContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }

    @Nested
    class Semaphores extends SemaphoreContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return device(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return LocalDevices.kernels(device, constants);
        }
    }
}
