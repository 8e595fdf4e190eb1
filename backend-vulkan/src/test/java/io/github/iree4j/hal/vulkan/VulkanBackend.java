package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.contract.Backend;
import io.github.iree4j.hal.contract.Capability;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.Set;
import java.util.function.Function;

/** The machine's Vulkan. */
final class VulkanBackend implements Backend {
    private final String name;
    private final Function<DeviceOptions.Builder, ? extends Device> opener;

    private VulkanBackend(String name, Function<DeviceOptions.Builder, ? extends Device> opener) {
        this.name = name;
        this.opener = opener;
    }

    static VulkanBackend withAllChecks() {
        return new VulkanBackend("Vulkan", VulkanDrivers::openWithAllChecks);
    }

    static VulkanBackend withoutLayer() {
        return new VulkanBackend("Vulkan without the validation layer", VulkanDrivers::openWithoutLayer);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Device open(DeviceOptions.Builder options) {
        return opener.apply(options);
    }

    @Override
    public Executable kernels(Device device, int... constants) {
        return VulkanKernels.load(device, constants);
    }

    @Override
    public Set<Capability> lacks() {
        return Set.of(
                Capability.HOST_KERNELS,
                Capability.FAILING_KERNELS,
                Capability.CONCURRENT_HOST_CALLS,
                Capability.STREAMS,
                Capability.COLLECTIVES);
    }

    @Override
    public long importGranularity() {
        return 4096;
    }
}
