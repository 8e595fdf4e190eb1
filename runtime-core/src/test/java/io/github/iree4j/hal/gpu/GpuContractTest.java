package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.BufferContract;
import io.github.iree4j.hal.contract.CommandBufferContract;
import io.github.iree4j.hal.contract.ConstantContract;
import io.github.iree4j.hal.contract.ExecutableContract;
import io.github.iree4j.hal.contract.FenceContract;
import io.github.iree4j.hal.contract.FileContract;
import io.github.iree4j.hal.contract.QueueContract;
import io.github.iree4j.hal.contract.QueueCostContract;
import io.github.iree4j.hal.contract.QueueMemoryContract;
import io.github.iree4j.hal.contract.RandomGraphContract;
import io.github.iree4j.hal.contract.SemaphoreContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.GpuKind;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The suites of all backends on CUDA and on HIP: without hardware, or on the machine's devices, see {@link GpuDrivers}. */
@ParameterizedClass
@EnumSource(GpuKind.class)
class GpuContractTest {
    @TempDir
    static Path directory;

    private final GpuDrivers driver;

    GpuContractTest(GpuKind kind) {
        this.driver = GpuDrivers.in(directory, kind);
    }

    @AfterEach
    void nothingToComplainOf() {
        driver.assertNothingToComplainOf();
    }

    @Nested
    class Buffers extends BufferContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class CommandBuffers extends CommandBufferContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class Constants extends ConstantContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class Executables extends ExecutableContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
        }

        @Override
        protected boolean kernelsAreHostFunctions() {
            return false;
        }

        @Override
        protected boolean kernelsAreToldLengths() {
            return false;
        }

        @Override
        protected long importGranularity() {
            return 4096;
        }
    }

    @Nested
    class Fences extends FenceContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class Files extends FileContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class Queues extends QueueContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
        }

        @Override
        protected boolean kernelsAreHostFunctions() {
            return false;
        }

        @Override
        protected long importGranularity() {
            return 4096;
        }

        @Override
        protected boolean goesOnDuringHostCalls() {
            return false;
        }
    }

    @Nested
    class QueueCosts extends QueueCostContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
        }

        @Override
        protected boolean kernelsAreHostFunctions() {
            return false;
        }

        @Override
        protected long importGranularity() {
            return 4096;
        }

        /** Each submission has its event, and the host hears of each. */
        @Override
        protected boolean completionsAreGathered() {
            return false;
        }

        @Override
        protected void stopHardware() {
            driver.hang();
        }

        @Override
        protected void startHardware() {
            driver.goOn();
        }
    }

    @Nested
    class QueueMemory extends QueueMemoryContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class RandomGraphs extends RandomGraphContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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

    @Nested
    class Semaphores extends SemaphoreContract {
        @Override
        protected Device open(DeviceOptions.Builder options) {
            return driver.open(options);
        }

        @Override
        protected Executable kernels(Device device, int... constants) {
            return GpuKernels.load(device, constants);
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
}
