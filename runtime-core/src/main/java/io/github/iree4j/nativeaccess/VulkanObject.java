package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import java.util.function.LongConsumer;

/** Something of a Vulkan device. It keeps the device; a close during a call takes effect after it. */
abstract sealed class VulkanObject extends Resource
        permits VulkanAllocation, VulkanCommands, VulkanPipeline, VulkanPipelineCache, VulkanTimeline {
    final VulkanHandle device;
    final long handle;
    final UseGuard guard;

    /** Takes over the native object and a reference to the device. */
    VulkanObject(VulkanHandle device, long handle, LongConsumer free) {
        this.device = device;
        this.handle = handle;
        this.guard = new UseGuard(this::describe, () -> {
            free.accept(handle);
            device.release();
        });
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
