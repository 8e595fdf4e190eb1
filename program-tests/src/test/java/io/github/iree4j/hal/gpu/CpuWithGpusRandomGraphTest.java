package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.contract.RandomGraphContract;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.MixedDevices;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;

/**
 * GPU-2, GPU-3: the random graphs on a CPU, CUDA and HIP together, in the CPU's memory; one device has more queues than
 * streams.
 */
class CpuWithGpusRandomGraphTest extends RandomGraphContract {
    @TempDir
    private static Path directory;

    CpuWithGpusRandomGraphTest() {
        super(new CpuWithGpus(directory));
    }

    private static final class CpuWithGpus implements Backend {
        private final GpuDrivers cuda;
        private final GpuDrivers hip;

        CpuWithGpus(Path directory) {
            this.cuda = GpuDrivers.fake(directory, GpuKind.CUDA, GpuDrivers.AS_HARDWARE + " capacity=32", 16);
            this.hip = GpuDrivers.fake(directory, GpuKind.HIP, GpuDrivers.AS_HARDWARE, 2);
        }

        @Override
        public String name() {
            return "a CPU with CUDA and HIP";
        }

        @Override
        public Device open(DeviceOptions.Builder options) {
            return MixedDevices.cpu(options);
        }

        @Override
        public List<Device> peers() {
            return List.of(
                    cuda.open(DeviceOptions.builder().queueCount(4)),
                    hip.open(DeviceOptions.builder().queueCount(20)));
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

        @Override
        public void close() {
            cuda.assertNothingToComplainOf();
            hip.assertNothingToComplainOf();
        }
    }
}
