package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.RandomGraphContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.MixedDevices;
import io.github.iree4j.nativeaccess.GpuKind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** GPU-2, GPU-3: the random graphs on a CPU, CUDA and HIP together, in the CPU's memory; one of them has more queues than streams. */
class CpuWithGpusRandomGraphTest extends RandomGraphContract {
    @TempDir
    private static Path directory;

    private final GpuDrivers cuda = GpuDrivers.fake(directory, GpuKind.CUDA, "capacity=32", 16);
    private final GpuDrivers hip = GpuDrivers.fake(directory, GpuKind.HIP, "", 2);

    @AfterEach
    void nothingToComplainOf() {
        cuda.assertNothingToComplainOf();
        hip.assertNothingToComplainOf();
    }

    @Override
    protected Device open(DeviceOptions.Builder options) {
        return MixedDevices.cpu(options);
    }

    @Override
    protected List<Device> others() {
        return List.of(
                cuda.open(DeviceOptions.builder().queueCount(4)),
                hip.open(DeviceOptions.builder().queueCount(20)));
    }

    @Override
    protected Executable kernels(Device device, int... constants) {
        return device.info().driver().equals("local")
                ? MixedDevices.kernels(device, constants)
                : GpuKernels.load(device, constants);
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
