package io.github.iree4j.nativeaccess.vulkan;

import io.github.iree4j.nativeaccess.NativeScratch;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.ValueLayout;

/**
 * A timeline semaphore of a Vulkan device: a counter signalled and awaited by submissions and the host. Safe from any
 * thread.
 *
 * <p>The caller closes the timeline once no submitted work uses the timeline any more; a close during
 * {@link VulkanHandle#waitAny} takes effect when {@code waitAny} returns.
 */
public final class VulkanTimeline extends VulkanObject {
    VulkanTimeline(VulkanHandle device, long handle) {
        super(device, handle, VulkanShim::timelineRelease);
    }

    /**
     * Returns the handle, only for words passed to this package.
     *
     * @return the handle, valid until closed
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns the current value.
     *
     * @return the counter
     * @throws IreeException ABORTED when the device is lost, FAILED_PRECONDITION when closed
     */
    public long value() {
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineValue(handle, scratch.memory.address(), scratch.error.address()));
            return scratch.memory.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Signals the timeline from the host.
     *
     * @param value greater than the current value and than any signal submitted before
     * @throws IreeException ABORTED when the device is lost, FAILED_PRECONDITION when closed
     */
    public void signal(long value) {
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineSignal(handle, value, scratch.error.address()));
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Exports the timeline to other processes and drivers.
     *
     * @return a file descriptor; the caller closes it
     * @throws IreeException UNIMPLEMENTED, naming the missing extension; FAILED_PRECONDITION unless created exportable
     */
    public int exportDescriptor() {
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineExport(handle, scratch.memory.address(), scratch.error.address()));
            return scratch.memory.get(ValueLayout.JAVA_INT, 0);
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Replaces the timeline's payload with the payload of an exported timeline.
     *
     * @param descriptor the file descriptor; owned by the driver after a return, by the caller after an exception
     * @throws IreeException UNIMPLEMENTED, naming the missing extension; INVALID_ARGUMENT for a descriptor of another
     *     kind
     */
    public void importDescriptor(int descriptor) {
        guard.enter();
        NativeScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineImport(handle, descriptor, scratch.error.address()));
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    @Override
    protected String describe() {
        return "timeline on " + device.describe();
    }
}
