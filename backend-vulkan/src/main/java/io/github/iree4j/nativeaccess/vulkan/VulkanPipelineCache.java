package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A cache of compiled pipelines of a Vulkan device, able to persist between runs. Safe from any thread. */
public final class VulkanPipelineCache extends VulkanObject {
    VulkanPipelineCache(VulkanHandle device, long handle) {
        super(device, handle, VulkanShim::pipelineCacheRelease);
    }

    /**
     * Returns the cache's contents, for {@link VulkanHandle#createPipelineCache} with the same device and driver.
     *
     * @return a copy
     * @throws IreeException ABORTED when the device is lost, FAILED_PRECONDITION when closed
     */
    public byte[] data() {
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try (Arena arena = Arena.ofConfined()) {
            long outSize = scratch.memory.address();
            long error = scratch.error.address();
            scratch.check(VulkanShim.pipelineCacheData(handle, 0, 0, outSize, error));
            // Another thread may add to the cache meanwhile: retry while the cache grows.
            while (true) {
                long capacity = scratch.memory.get(ValueLayout.JAVA_LONG, 0);
                MemorySegment out = arena.allocate(capacity + 1);
                scratch.check(VulkanShim.pipelineCacheData(handle, out.address(), capacity, outSize, error));
                long size = scratch.memory.get(ValueLayout.JAVA_LONG, 0);
                if (size <= capacity) {
                    return out.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
                }
            }
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    @Override
    protected String describe() {
        return "pipeline cache on " + device.describe();
    }
}
