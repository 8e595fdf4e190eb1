package io.github.iree4j.hal.pool;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The observer of the pools of a scheduling domain, if there is one. Without an observer, a reservation and a release
 * each read one field and find null.
 *
 * <p>Safe from any thread.
 */
public final class PoolObservation {
    private final AtomicReference<@Nullable PoolObserver> observer = new AtomicReference<>();

    /** Creates an observation without an observer. */
    public PoolObservation() {}

    /**
     * Begins to observe. Memory reserved before is not reported.
     *
     * @param next notified of all events from now on
     * @throws IreeException FAILED_PRECONDITION when the pools are observed already
     */
    public void begin(PoolObserver next) {
        if (!observer.compareAndSet(null, next)) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "the pools have a recorder already, and can have one; close that first");
        }
    }

    /**
     * Ends the observation. Calls in progress on other threads may still arrive. Idempotent.
     *
     * @param last the observer passed to {@link #begin}
     */
    public void end(PoolObserver last) {
        observer.compareAndSet(last, null);
    }

    @Nullable
    PoolObserver observer() {
        return observer.getAcquire();
    }
}
