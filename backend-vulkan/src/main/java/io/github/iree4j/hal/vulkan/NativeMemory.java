package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.nativeaccess.vulkan.VulkanAllocation;

/** An allocation, named by the buffer over all of it. */
final class NativeMemory extends DriverMemory {
    private final VulkanAllocation allocation;

    NativeMemory(VulkanAllocation allocation) {
        super(allocation.buffer(), allocation.deviceAddress(), allocation.host());
        this.allocation = allocation;
    }

    @Override
    protected int exportDescriptor() {
        return allocation.exportDescriptor();
    }

    @Override
    public void close() {
        allocation.close();
    }
}
