package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a Vulkan device: a single allocation with a single buffer over all bytes, permanently mapped if
 * host-visible and coherent.
 *
 * <p>The caller closes the allocation once no submitted work uses the memory any more.
 */
public final class VulkanAllocation extends VulkanObject {
    private final long buffer;
    private final long deviceAddress;
    private final long host;
    private final long size;

    VulkanAllocation(VulkanHandle device, long handle) {
        super(device, handle, VulkanShim::memoryRelease);
        NativeScratch scratch = device.scratch.take();
        try {
            VulkanShim.memoryQuery(handle, scratch.memory.address());
            this.buffer = scratch.memory.get(ValueLayout.JAVA_LONG, 0);
            this.deviceAddress = scratch.memory.get(ValueLayout.JAVA_LONG, 8);
            this.host = scratch.memory.get(ValueLayout.JAVA_LONG, 16);
            this.size = scratch.memory.get(ValueLayout.JAVA_LONG, 24);
        } finally {
            device.scratch.give(scratch);
        }
    }

    /**
     * Returns the buffer, only for words passed to this package.
     *
     * @return the handle, valid until closed; may be reused by another allocation afterwards
     */
    public long buffer() {
        return buffer;
    }

    /**
     * Returns the device address for shaders.
     *
     * @return the address, or 0 when the device was opened without {@link VulkanFeature#BUFFER_DEVICE_ADDRESS}
     */
    public long deviceAddress() {
        return deviceAddress;
    }

    /**
     * Returns the host address of the mapping.
     *
     * @return the address, valid until closed; 0 when not mapped
     */
    public long host() {
        return host;
    }

    /**
     * Returns the mapping as a segment. The segment must not be accessed once this is closed.
     *
     * @return all bytes, or null when not mapped
     */
    public @Nullable MemorySegment memory() {
        return host == 0 ? null : NativeLibrary.memory(host, size, Arena.global());
    }

    /**
     * Returns the size.
     *
     * @return the size in bytes, as requested
     */
    public long size() {
        return size;
    }

    /**
     * Exports the memory to other processes and drivers.
     *
     * @return a descriptor of the operating system; the caller closes it
     * @throws IreeException FAILED_PRECONDITION unless created exportable, or when closed
     */
    public int exportDescriptor() {
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.memoryExport(handle, scratch.memory.address(), scratch.error.address()));
            return scratch.memory.get(ValueLayout.JAVA_INT, 0);
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Closes a descriptor returned by {@link #exportDescriptor} and imported by no driver.
     *
     * @param descriptor the descriptor; invalid afterwards
     */
    public static void closeDescriptor(int descriptor) {
        EventDescriptor.close(descriptor);
    }

    @Override
    protected String describe() {
        return "allocation of " + size + " bytes on " + device.describe();
    }
}
