package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.Timepoint;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** A native timeline (the twin) that follows one of ours, for foreign waiters. Closed once ours has no signaller left, or with the device. */
final class PointExport implements Timepoint, AutoCloseable {
    /**
     * From here on the twin stands for a failure, as in IREE (hal/semaphore.h): native waiters see none, and must not hang. The difference is
     * the last value that ours had reached, 0 from IREE, which tells none.
     */
    static final long FAILED = Integer.MAX_VALUE;

    private final StreamDevice device;
    private final TimelineSemaphore source;
    private final DriverTimeline twin;
    private long value; // of the twin; guarded by this, like the next two
    private Cancellation wait = Cancellation.OVER;
    private boolean closed;

    private PointExport(StreamDevice device, TimelineSemaphore source, DriverTimeline twin, long value) {
        this.device = device;
        this.source = source;
        this.twin = twin;
        this.value = value;
    }

    /** Returns a descriptor of the twin, the caller's. */
    static int create(StreamDevice device, TimelineSemaphore source) {
        if (!source.scope().includes(SemaphoreScope.SYSTEM_WIDE)) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "export needs a semaphore of scope '" + SemaphoreScope.SYSTEM_WIDE + "', this one has '"
                            + source.scope() + "'; scopes do not change, create it with '" + SemaphoreScope.SYSTEM_WIDE
                            + "'");
        }
        long value = source.value();
        checkValue(value, "a semaphore at %d cannot be exported");
        DriverTimeline twin = device.driver().createTimeline(value, true);
        PointExport export = new PointExport(device, source, twin, value);
        try {
            int descriptor = twin.exportDescriptor();
            device.adopt(export);
            export.follow();
            return descriptor;
        } catch (RuntimeException | Error e) {
            export.close();
            throw e;
        }
    }

    /** Checks a value of a timeline that is shared. */
    static void checkValue(long value, String refusal) {
        if (value >= FAILED) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "%s: a timeline that is shared has failed from %d on; use smaller values"
                            .formatted(refusal.formatted(value), FAILED));
        }
    }

    /** Waits for the next value. */
    private void follow() {
        long next;
        synchronized (this) {
            next = value + 1;
        }
        Cancellation registered = source.whenReached(next, this); // without the lock: the callback may run at once
        boolean late;
        synchronized (this) {
            wait = registered;
            late = closed;
        }
        if (late) {
            registered.cancel();
        }
    }

    @Override
    public void reached(long now, @Nullable IreeException failure) {
        synchronized (this) {
            if (closed) {
                return;
            }
            try {
                if (failure == null && now < FAILED) {
                    signal(now);
                }
            } catch (IreeException e) { // device lost: its own waiters are notified here, foreign ones by the driver
                device.loseLater(e);
            }
        }
        if (failure == null && now < FAILED) {
            follow();
        } else {
            close();
        }
    }

    /** Under the lock. */
    private void signal(long next) {
        if (next > value) {
            twin.signal(next);
            value = next;
        }
    }

    /** Nothing more is forwarded: ours has failed, has no signaller left or counts too far, or the device is closed. */
    @Override
    public void close() {
        Cancellation registered;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            registered = wait;
            try {
                signal(FAILED + Math.min(source.value(), FAILED - 1));
            } catch (IreeException e) {
                // The device is lost, which is known or will be: this is also how it ends.
            }
        }
        registered.cancel();
        device.forget(this);
        twin.close();
    }
}
