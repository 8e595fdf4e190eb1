package io.github.iree4j.hal.vulkan;

import io.github.iree4j.async.CompletionSource;
import io.github.iree4j.nativeaccess.VulkanHandle;
import io.github.iree4j.nativeaccess.VulkanTimeline;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waits for whatever the hardware queues of a device do next, on the owner thread of the device's proactor. Submitting does not wake it:
 * it waits for the next ticket of every queue whether or not that has been given.
 */
final class VulkanWaiter implements CompletionSource {
    private final VulkanDevice device;
    private final VulkanHandle handle;
    private final List<HardwareQueue> queues;

    /*
     * With one queue there is no other timeline to wake it by: a wait for the first of several makes drivers that have no such primitive
     * spin, Mesa's software driver for one. Then it is woken by a submission.
     */
    private final @Nullable VulkanTimeline wakeup;
    private final VulkanTimeline[] timelines;
    private final long[] values;
    private long wakes; // guarded by this
    private long wakesSeen; // owner only
    private volatile @Nullable Thread owner;

    VulkanWaiter(VulkanDevice device, VulkanHandle handle, List<HardwareQueue> queues) {
        this.device = device;
        this.handle = handle;
        this.queues = queues;
        this.wakeup = queues.size() == 1 ? null : handle.createTimeline(0);
        int count = queues.size() + (wakeup == null ? 0 : 1);
        this.timelines = new VulkanTimeline[count];
        this.values = new long[count];
        for (int i = 0; i < queues.size(); i++) {
            timelines[i] = queues.get(i).timeline;
        }
        if (wakeup != null) {
            timelines[count - 1] = wakeup;
        }
    }

    /** Whether the calling thread is the proactor's. */
    boolean isOwner() {
        return Thread.currentThread().equals(owner);
    }

    @Override
    public void await(long timeoutNanos) {
        int count = queues.size();
        for (int i = 0; i < count; i++) {
            values[i] = queues.get(i).next();
        }
        if (wakeup != null) {
            values[count++] = wakesSeen + 1;
        }
        try {
            handle.waitAny(timelines, values, count, timeoutNanos < 0 ? Long.MAX_VALUE : timeoutNanos);
        } catch (IreeException e) {
            device.hardwareLost(e);
            throw e;
        }
        if (wakeup != null) {
            wakesSeen = wakeup.value();
        }
    }

    @Override
    public void wake() {
        try {
            if (wakeup == null) {
                queues.getFirst().nudge();
                return;
            }
            synchronized (this) {
                wakeup.signal(++wakes);
            }
        } catch (IreeException e) {
            device.loseLater(e); // whoever waits for a device that is lost is told of that
        }
    }

    @Override
    public int poll(int limit) {
        owner = Thread.currentThread();
        int ended = 0;
        for (HardwareQueue queue : queues) {
            ended += queue.look();
        }
        return ended;
    }

    @Override
    public int pending() {
        int busy = 0;
        for (HardwareQueue queue : queues) {
            busy += queue.isBusy() ? 1 : 0;
        }
        return busy;
    }

    @Override
    public void stop(IreeException cause) {
        queues.forEach(queue -> queue.abandon(cause));
    }

    @Override
    public void close() {
        if (wakeup != null) {
            wakeup.close();
        }
        queues.forEach(HardwareQueue::close);
        device.freed();
    }
}
