package io.github.iree4j.hal.vulkan;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.nativeaccess.VulkanHandle;
import io.github.iree4j.nativeaccess.VulkanTimeline;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A value of a foreign timeline on its way to one of ours. Submissions wait for it themselves; the host hears of it by the waiter. */
final class VulkanImport implements Cancellation {
    private final VulkanWaiter waiter;
    private final NativePoint point;
    private final TimelineSemaphore semaphore;
    private final long value;
    private final AtomicBoolean over = new AtomicBoolean();

    private VulkanImport(VulkanWaiter waiter, NativePoint point, TimelineSemaphore semaphore, long value) {
        this.waiter = waiter;
        this.point = point;
        this.semaphore = semaphore;
        this.value = value;
    }

    /** Imports; the descriptor is the driver's from then on, unless this throws. */
    static VulkanImport create(
            VulkanDevice device, VulkanWaiter waiter, int descriptor, TimelineSemaphore semaphore, long value) {
        semaphore.retain();
        VulkanTimeline foreign = null;
        boolean done = false;
        try {
            foreign = device.handle().createTimeline(0, VulkanHandle.EXPORTABLE);
            NativePoint point = new NativePoint(device, foreign, value);
            if (!semaphore.promiseExternal(value, point)) {
                IreeException failure = semaphore.failure();
                throw failure != null
                        ? failure.during("import of semaphore value " + value)
                        : new IreeException(
                                StatusCode.INVALID_ARGUMENT,
                                "semaphore value " + value + " is reached or promised already; the semaphore is at "
                                        + semaphore.value());
            }
            VulkanImport made = new VulkanImport(waiter, point, semaphore, value);
            try {
                foreign.importDescriptor(descriptor);
                waiter.add(made);
                done = true;
            } finally {
                if (!done) {
                    semaphore.withdrawPromise(value, point);
                }
            }
            return made;
        } finally {
            if (!done) {
                if (foreign != null) {
                    foreign.close();
                }
                semaphore.release();
            }
        }
    }

    VulkanTimeline timeline() {
        return point.timeline();
    }

    long value() {
        return value;
    }

    /** The foreign timeline is that far, or nobody looks any more. */
    void end(@Nullable IreeException failure) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        try {
            if (failure == null) {
                semaphore.signalExternal(value);
            } else {
                semaphore.fail(failure);
            }
        } catch (IreeException e) {
            semaphore.fail(e);
        }
        release();
    }

    @Override
    public boolean cancel() {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        waiter.remove(this);
        semaphore.withdrawPromise(value, point);
        release();
        return true;
    }

    private void release() {
        point.timeline().close(); // submissions that wait for it keep it
        semaphore.release();
    }
}
