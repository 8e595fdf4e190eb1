package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An imported value of a foreign timeline, signalling a local semaphore. Submissions wait for the value natively; the
 * waiter notifies the host.
 */
final class PointImport implements WatchedPoint, Cancellation {
    private final CompletionWaiter waiter;
    private final ForeignPoint point;
    private final TimelineSemaphore semaphore;
    private final long value;
    private final AtomicBoolean over = new AtomicBoolean();

    private PointImport(CompletionWaiter waiter, ForeignPoint point, TimelineSemaphore semaphore, long value) {
        this.waiter = waiter;
        this.point = point;
        this.semaphore = semaphore;
        this.value = value;
    }

    /** Imports a point. The driver then owns the descriptor, unless this method throws. */
    static PointImport create(
            StreamDevice device, CompletionWaiter waiter, int descriptor, TimelineSemaphore semaphore, long value) {
        PointExport.checkValue(value, "semaphore value %d cannot be imported");
        DriverTimeline foreign = device.driver().createTimeline(0, true);
        return create(device, waiter, foreign, made -> made.importDescriptor(descriptor), semaphore, value);
    }

    /** Imports an event of the driver. */
    static PointImport ofEvent(
            StreamDevice device, CompletionWaiter waiter, long event, TimelineSemaphore semaphore, long value) {
        return create(device, waiter, device.driver().importEvent(event, value), _ -> {}, semaphore, value);
    }

    private static PointImport create(
            StreamDevice device,
            CompletionWaiter waiter,
            DriverTimeline foreign,
            Consumer<DriverTimeline> importing,
            TimelineSemaphore semaphore,
            long value) {
        semaphore.retain();
        boolean done = false;
        try {
            ForeignPoint point = ForeignPoint.made(device, foreign, value);
            if (!semaphore.promiseExternal(value, point)) {
                IreeException failure = semaphore.failure();
                throw failure != null
                        ? failure.during("import of semaphore value " + value)
                        : IreeException.of(
                                StatusCode.INVALID_ARGUMENT,
                                "semaphore value " + value + " is reached or promised already; the semaphore is at "
                                        + semaphore.value());
            }
            PointImport made = new PointImport(waiter, point, semaphore, value);
            try {
                importing.accept(foreign);
                point.open();
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
                foreign.close();
                semaphore.release();
            }
        }
    }

    @Override
    public DriverTimeline timeline() {
        return point.timeline();
    }

    @Override
    public long value() {
        return value;
    }

    /**
     * Ends the import. A failed timeline only encodes its last value, see {@link PointExport}; the import succeeds if
     * the timeline had reached the value.
     */
    @Override
    public void reached(long now) {
        boolean failed = value < PointExport.FAILED && now >= PointExport.FAILED;
        if (!failed || value <= now - PointExport.FAILED) {
            end(null);
            return;
        }
        end(IreeException.of(
                StatusCode.ABORTED,
                "value %d of an imported timeline is not known to be reached: the timeline was at %d when it failed, or its device was closed"
                        .formatted(value, now - PointExport.FAILED)));
    }

    /** Ends the import: the foreign timeline has reached the value, or polling has ended. */
    @Override
    public void end(@Nullable IreeException failure) {
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
        if (!point.withdraw() || !over.compareAndSet(false, true)) {
            return false;
        }
        waiter.remove(this);
        semaphore.withdrawPromise(value, point);
        release();
        return true;
    }

    private void release() {
        point.timeline().close(); // waiting submissions retain the timeline
        semaphore.release();
    }
}
