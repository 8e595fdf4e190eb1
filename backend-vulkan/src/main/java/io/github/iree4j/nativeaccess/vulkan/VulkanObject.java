package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import java.util.function.LongConsumer;

/** An object of a Vulkan device, holding a reference to the device. A close during a call takes effect after the call. */
abstract sealed class VulkanObject extends Resource
        permits VulkanAllocation, VulkanCommands, VulkanPipeline, VulkanPipelineCache, VulkanTimeline {
    final VulkanHandle device;
    final long handle;
    final UseGuard guard;

    /** Takes ownership of the native object and of a reference to the device. */
    VulkanObject(VulkanHandle device, long handle, LongConsumer free) {
        this.device = device;
        this.handle = handle;
        this.guard = UseGuard.of(this::describe, () -> {
            free.accept(handle);
            device.release();
        });
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
