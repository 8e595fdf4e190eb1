package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a Vulkan device: one allocation, one buffer over all of it, mapped for good where the host can see it coherently.
 *
 * <p>Whoever closes it knows that no submitted work uses it any more.
 */
public final class VulkanAllocation extends VulkanObject {
    private static final AtomicLong GENERATIONS = new AtomicLong();

    private final long generation = GENERATIONS.incrementAndGet();
    private final long buffer;
    private final long deviceAddress;
    private final long host;
    private final long size;
    private final int memoryType;

    VulkanAllocation(VulkanHandle device, long handle) {
        super(device, handle, VulkanShim::memoryRelease);
        VulkanScratch scratch = device.scratch.take();
        try {
            VulkanShim.memoryQuery(handle, scratch.memory.address());
            this.buffer = scratch.memory.get(ValueLayout.JAVA_LONG, 0);
            this.deviceAddress = scratch.memory.get(ValueLayout.JAVA_LONG, 8);
            this.host = scratch.memory.get(ValueLayout.JAVA_LONG, 16);
            this.size = scratch.memory.get(ValueLayout.JAVA_LONG, 24);
            this.memoryType = (int) scratch.memory.get(ValueLayout.JAVA_LONG, 32);
        } finally {
            device.scratch.give(scratch);
        }
    }

    /**
     * Returns what tells it from all other allocations of this process. Handles and addresses do not: drivers give them out again as soon as
     * they are free.
     *
     * @return more than 0, and more than any that was made before
     */
    public long generation() {
        return generation;
    }

    /**
     * Returns the buffer, for the words of this package's calls only.
     *
     * @return valid until closed; another allocation's afterwards
     */
    public long buffer() {
        return buffer;
    }

    /**
     * Returns where shaders find it.
     *
     * @return its address, or 0 when the device was opened without {@link VulkanFeature#BUFFER_DEVICE_ADDRESS}
     */
    public long deviceAddress() {
        return deviceAddress;
    }

    /**
     * Returns where the host finds it.
     *
     * @return its address, valid until closed; 0 when the host cannot see it
     */
    public long host() {
        return host;
    }

    /**
     * Returns the mapping as a segment, which must not be touched once this is closed.
     *
     * @return all bytes, or null when the host cannot see them
     */
    @SuppressWarnings("restricted") // of as many bytes as are mapped
    public @Nullable MemorySegment memory() {
        return host == 0 ? null : MemorySegment.ofAddress(host).reinterpret(size);
    }

    /**
     * Returns its size.
     *
     * @return bytes, as asked for
     */
    public long size() {
        return size;
    }

    /**
     * Returns the memory type it has.
     *
     * @return index into {@link VulkanDeviceProperties#memoryTypes}
     */
    public int memoryType() {
        return memoryType;
    }

    /**
     * Exports it to other processes and drivers.
     *
     * @return a descriptor of the operating system, the caller's to close
     * @throws IreeException FAILED_PRECONDITION unless it was made exportable, or when closed
     */
    public int exportDescriptor() {
        guard.enter();
        VulkanScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.memoryExport(handle, scratch.memory.address(), scratch.error.address()));
            return scratch.memory.get(ValueLayout.JAVA_INT, 0);
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Closes a descriptor that {@link #exportDescriptor} gave out and nobody imports.
     *
     * @param descriptor the descriptor; not to be used any more
     */
    public static void closeDescriptor(int descriptor) {
        Shim.eventClose(descriptor);
    }

    @Override
    protected String describe() {
        return "allocation of " + size + " bytes on " + device.describe();
    }
}
