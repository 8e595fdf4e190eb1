package io.github.iree4j.hal.programs;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.programs.QueueProgram.DeviceSetup;
import io.github.iree4j.hal.programs.QueueProgram.Setup;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.MixedDevices;
import io.github.iree4j.hal.vulkan.VulkanDrivers;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Opens the devices of programs: CPUs, CUDA and HIP without hardware, and Vulkan where there is a driver. */
final class ProgramDevices {
    /** Longer than any of these programs takes. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final GpuDrivers cuda;
    private final GpuDrivers hip;

    ProgramDevices(Path directory) {
        this.cuda = GpuDrivers.fake(directory, GpuKind.CUDA, "");
        this.hip = GpuDrivers.fake(directory, GpuKind.HIP, "");
    }

    /** Opens the devices of a program; closed by the caller. */
    Opened open(Setup setup) {
        return new Opened(setup);
    }

    /** The devices of a program; closed in reverse order, the tracker last. */
    final class Opened implements AutoCloseable {
        final FrontierTracker tracker = FrontierTracker.create();
        final List<Device> devices = new ArrayList<>();

        private Opened(Setup setup) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, setup.capacity());
            for (DeviceSetup each : setup.devices()) {
                DeviceOptions.Builder options = DeviceOptions.builder()
                        .queueCount(each.queues())
                        .memoryLimit(each.budget())
                        .memoryWait(PATIENCE.dividedBy(2))
                        .semaphoreHistory(setup.history())
                        .schedulingDomain(domain);
                devices.add(
                        switch (each.backend()) {
                            case CPU -> MixedDevices.cpu(options.with(CpuOptions.DEFAULTS.workers(each.workers())));
                            case CUDA -> cuda.open(options);
                            case HIP -> hip.open(options);
                            case VULKAN -> VulkanDrivers.openWithoutLayer(options);
                        });
            }
        }

        @Override
        public void close() {
            devices.reversed().forEach(Device::close);
            tracker.close();
        }
    }

    /** Fails when a driver was misused. */
    void assertNothingToComplainOf() {
        cuda.assertNothingToComplainOf();
        hip.assertNothingToComplainOf();
    }
}
