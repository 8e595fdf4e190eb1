package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The observer of the pools of a scheduling domain, if there is one. Without an observer, a reservation and a release
 * each read one field and find null.
 *
 * <p>Safe from any thread.
 */
@NotForApplications
public final class PoolObservation {
    private final AtomicReference<@Nullable PoolObserver> observer = new AtomicReference<>();
    private final Map<PoolSet, Boolean> sets = new WeakHashMap<>(); // guarded by itself, innermost

    /** Creates an observation without an observer. */
    public PoolObservation() {}

    /**
     * Begins to observe. Memory reserved before is reported once, as bytes held by each set.
     *
     * @param next notified of all events from now on
     * @throws IreeException FAILED_PRECONDITION when the pools are observed already
     */
    public void begin(PoolObserver next) {
        if (!observer.compareAndSet(null, next)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "the pools have a recorder already, and can have one; close that first");
        }
        forEachSet(next::holds);
    }

    /** Adds a new set, without memory. */
    void add(PoolSet set) {
        synchronized (sets) {
            sets.put(set, true);
        }
        PoolObserver present = observer();
        if (present != null) { // else the next observer finds the set
            set.visit(present::holds);
        }
    }

    /** Forgets a closed set. */
    void remove(PoolSet set) {
        synchronized (sets) {
            sets.remove(set);
        }
    }

    /**
     * Visits the open sets, each with its memory at the moment of the visit.
     *
     * @param visitor receives each set, in the order of creation; called with the lock of the set held: MUST NOT block,
     *     reserve or release
     */
    public void forEachSet(BiConsumer<PoolSet, PoolSetStatistics> visitor) {
        List<PoolSet> all;
        synchronized (sets) {
            all = new ArrayList<>(sets.keySet());
        }
        all.sort(Comparator.comparingInt(each -> each.number));
        all.forEach(each -> each.visit(visitor));
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
