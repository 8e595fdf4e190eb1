package io.github.iree4j.hal.stream;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.Timepoint;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * A native timeline (the twin) following a local semaphore (the source), for foreign waiters. Closed once the source
 * has no signaller left, or with the device.
 */
final class PointExport implements Timepoint, AutoCloseable {
    /**
     * First value of the twin denoting a failure, as in IREE (hal/semaphore.h): native waiters see no failures, and
     * must not hang. The excess over this constant is the last value reached by the source; 0 from IREE, which reports
     * no value.
     */
    static final long FAILED = Integer.MAX_VALUE;

    private final StreamDevice device;
    private final TimelineSemaphore source;
    private final DriverTimeline twin;
    private long value; // value of the twin; guarded by this, like the next two fields
    private Cancellation wait = Cancellation.OVER;
    private boolean closed;

    private PointExport(StreamDevice device, TimelineSemaphore source, DriverTimeline twin, long value) {
        this.device = device;
        this.source = source;
        this.twin = twin;
        this.value = value;
    }

    /** Returns a descriptor of the twin, owned by the caller. */
    static int create(StreamDevice device, TimelineSemaphore source) {
        if (!source.scope().includes(SemaphoreScope.SYSTEM_WIDE)) {
            throw IreeException.of(
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

    /** Checks a value of a shared timeline. */
    static void checkValue(long value, String refusal) {
        if (value >= FAILED) {
            throw IreeException.of(
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
                // device lost: the device's waiters are notified here, foreign waiters by the driver
            } catch (IreeException e) {
                device.loseLater(e);
            }
        }
        if (failure == null && now < FAILED) {
            follow();
        } else {
            close();
        }
    }

    /** Signals the twin; under the lock. */
    private void signal(long next) {
        if (next > value) {
            twin.signal(next);
            value = next;
        }
    }

    /** Stops forwarding: the source has failed, has no signaller left or counts too far, or the device is closed. */
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
                // The device is lost, and the loss is or will be reported: a lost device also closes its exports.
            }
        }
        registered.cancel();
        device.forget(this);
        twin.close();
    }
}
