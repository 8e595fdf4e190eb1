package io.github.iree4j.hal.stream;

import io.github.iree4j.async.io.CompletionSource;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the next event of any hardware queue of a device, on the owner thread of the device's proactor. Submissions
 * do not wake the waiter: the waiter awaits the next ticket of every queue, issued or not.
 */
final class CompletionWaiter implements CompletionSource {
    private static final long PAUSE_NANOS = 10_000_000; // interval between polls while waiting fails

    private final StreamDevice device;
    private final StreamDriver driver;
    private final List<HardwareQueue> queues;

    /*
     * Timeline for waking the waiter. With a single queue there is no such timeline, and a submission wakes the waiter:
     * waiting for the first of several timelines makes drivers without such a primitive spin, for example Mesa's
     * software driver.
     */
    private final @Nullable DriverTimeline wakeup;
    private final CopyOnWriteArrayList<WatchedPoint> imports = new CopyOnWriteArrayList<>();

    // Owner only.
    private DriverTimeline[] timelines;
    private long[] values;
    /*
     * The first ticket of each queue not seen by this waiter. Another thread may see a ticket first, also a ticket for
     * waking the waiter: the waiter must not miss such a ticket and sleep until the next.
     */
    private final long[] next;
    private long wakes; // guarded by this
    private long wakesSeen; // owner only
    private boolean dead; // owner only: the device is lost
    private volatile @Nullable Thread owner;

    CompletionWaiter(StreamDevice device, StreamDriver driver, List<HardwareQueue> queues) {
        this.device = device;
        this.driver = driver;
        this.queues = queues;
        this.wakeup = queues.size() == 1 ? null : driver.createTimeline(0, false);
        int count = queues.size() + (wakeup == null ? 0 : 1);
        this.timelines = new DriverTimeline[count];
        this.values = new long[count];
        this.next = new long[queues.size()];
        Arrays.fill(next, 1);
        for (int i = 0; i < queues.size(); i++) {
            timelines[i] = queues.get(i).timeline;
        }
        if (wakeup != null) {
            timelines[count - 1] = wakeup;
        }
    }

    /** Returns whether the calling thread is the proactor's owner. */
    boolean isOwner() {
        return Thread.currentThread().equals(owner);
    }

    @Override
    public void await(long timeoutNanos) {
        if (dead) {
            return;
        }
        int count = queues.size();
        System.arraycopy(next, 0, values, 0, count);
        if (wakeup != null) {
            values[count++] = wakesSeen + 1;
        }
        count = putImports(count);
        try {
            driver.awaitAny(timelines, values, count, timeoutNanos < 0 ? Long.MAX_VALUE : timeoutNanos);
            if (wakeup != null) {
                wakesSeen = wakeup.value();
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /**
     * Handles a failed wait. Lost hardware runs nothing any more. Otherwise no more work starts, work in flight keeps
     * the memory until completion, and this waiter polls for the completion.
     */
    private void failed(Throwable thrown) {
        IreeException cause = failure(thrown);
        if (cause.code() == StatusCode.ABORTED || driver.isLost()) {
            lost(cause);
        } else {
            device.lost(cause);
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Returns why completions are no longer reported: waiters are notified, whatever the driver throws. */
    IreeException failure(Throwable thrown) {
        return thrown instanceof IreeException status
                ? status
                : IreeException.of(
                        StatusCode.INTERNAL,
                        "driver of device '%s' cannot wait for its hardware: %s".formatted(device.id(), thrown),
                        thrown);
    }

    /** Appends the imported points; returns the new count. */
    private int putImports(int fixed) {
        int count = fixed;
        for (WatchedPoint each : imports) {
            if (count == values.length) {
                timelines = Arrays.copyOf(timelines, count * 2);
                values = Arrays.copyOf(values, count * 2);
            }
            timelines[count] = each.timeline();
            values[count++] = each.value();
        }
        return count;
    }

    /** Starts polling a foreign point. */
    void add(WatchedPoint point) {
        imports.add(point);
        Optional<IreeException> cause = device.failure();
        if (cause.isPresent()) { // the waiter has ended
            imports.remove(point);
            point.end(cause.get());
        }
        device.wakeWaiter();
    }

    /** Starts polling a point of the device's work; the waiter does not end before the point, unless the hardware is lost. */
    void addOfWork(WatchedPoint point) {
        imports.add(point);
        if (device.isHardwareLost()) {
            imports.remove(point);
            point.end(device.failure()
                    .orElseGet(() -> IreeException.of(
                            StatusCode.ABORTED, device + " is lost", null, new DeviceLost(device.id()))));
        }
        device.wakeWaiter();
    }

    /** Stops polling a point. */
    void remove(WatchedPoint point) {
        imports.remove(point);
        device.wakeWaiter();
    }

    /** Fails the signals of foreign points; the points are no longer polled. */
    void endImports(IreeException cause) {
        for (WatchedPoint each : imports) {
            if (!each.abandon(cause)) {
                imports.remove(each);
            }
        }
    }

    private int endImports() {
        int ended = 0;
        for (WatchedPoint each : imports) {
            try {
                long now = each.timeline().value();
                if (now < each.value()) {
                    continue;
                }
                imports.remove(each);
                each.reached(now);
            } catch (RuntimeException | Error e) { // device lost, or point withdrawn meanwhile
                imports.remove(each);
                each.end(failure(e));
            }
            ended++;
        }
        return ended;
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
        } catch (RuntimeException | Error e) {
            device.loseLater(failure(e)); // the waiters of a lost device are notified
        }
    }

    /** Handles a loss reported by the driver: no further events follow. */
    private void lost(IreeException cause) {
        dead = true;
        IreeException loss = DeviceLostException.by(device.id(), cause);
        device.hardwareLost(loss);
        imports.forEach(each -> each.end(loss));
        imports.clear();
        device.endWaiter();
    }

    @Override
    public int poll(int limit) {
        owner = Thread.currentThread();
        int ended = 0;
        try {
            for (int i = 0; i < next.length && !dead; i++) {
                ended += queues.get(i).look();
                next[i] = queues.get(i).next();
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        }
        return ended + (imports.isEmpty() ? 0 : endImports());
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
        imports.forEach(each -> each.end(cause));
        imports.clear();
    }

    /** Frees the waiter's driver resources. No thread waits here any more. */
    void free() {
        if (wakeup != null) {
            wakeup.close();
        }
    }

    @Override
    public void close() {
        free();
        device.driverUnused();
    }
}
