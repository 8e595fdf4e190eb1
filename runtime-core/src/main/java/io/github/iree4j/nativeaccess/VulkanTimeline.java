package io.github.iree4j.nativeaccess;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.ValueLayout;

/**
 * A timeline semaphore of a Vulkan device: a counter that submissions and the host raise and wait for. Safe for use from any thread.
 *
 * <p>Whoever closes it knows that no submitted work uses it any more; a close during {@link VulkanHandle#waitAny} takes effect when
 * that returns.
 */
public final class VulkanTimeline extends VulkanObject {
    VulkanTimeline(VulkanHandle device, long handle) {
        super(device, handle, VulkanShim::timelineRelease);
    }

    /**
     * Returns the handle, for the words of this package's calls only.
     *
     * @return valid until closed
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns how far it is.
     *
     * @return the counter
     * @throws IreeException ABORTED when the device is lost, FAILED_PRECONDITION when closed
     */
    public long value() {
        guard.enter();
        VulkanScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineValue(handle, scratch.memory.address(), scratch.error.address()));
            return scratch.memory.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Raises it from the host.
     *
     * @param value more than it is and than any signal that was submitted before it
     * @throws IreeException ABORTED when the device is lost, FAILED_PRECONDITION when closed
     */
    public void signal(long value) {
        guard.enter();
        VulkanScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineSignal(handle, value, scratch.error.address()));
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Exports it to other processes and drivers.
     *
     * @return a descriptor of the operating system, the caller's to close
     * @throws IreeException UNIMPLEMENTED naming the extension the device lacks; FAILED_PRECONDITION unless it was made exportable
     */
    public int exportDescriptor() {
        guard.enter();
        VulkanScratch scratch = device.scratch.take();
        try {
            scratch.check(VulkanShim.timelineExport(handle, scratch.memory.address(), scratch.error.address()));
            return scratch.memory.get(ValueLayout.JAVA_INT, 0);
        } finally {
            device.scratch.give(scratch);
            guard.exit();
        }
    }

    /**
     * Makes it another name of a timeline that was exported.
     *
     * @param descriptor of the operating system; belongs to the driver when this returns, else still to the caller
     * @throws IreeException UNIMPLEMENTED naming the extension the device lacks; INVALID_ARGUMENT for a descriptor of something else
     */
    public void importDescriptor(int descriptor) {
        guard.enter();
        VulkanScratch scratch = device.scratch.take();
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
