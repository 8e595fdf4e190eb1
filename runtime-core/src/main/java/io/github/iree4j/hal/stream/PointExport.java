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
    /** The twin's value once ours has failed, as in IREE: native waiters see no failure, and must not hang. */
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
            long next = failure == null ? now : Math.max(FAILED, value + 1);
            try {
                if (next > value) {
                    twin.signal(next);
                    value = next;
                }
            } catch (IreeException e) { // device lost: its own waiters are notified here, foreign ones by the driver
                device.loseLater(e);
            }
        }
        if (failure == null) {
            follow();
        } else {
            close();
        }
    }

    @Override
    public void close() {
        Cancellation registered;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            registered = wait;
        }
        registered.cancel();
        device.forget(this);
        twin.close();
    }
}
