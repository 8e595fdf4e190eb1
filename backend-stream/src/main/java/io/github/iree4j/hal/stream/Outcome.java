package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of an operation, as far as known before the operation is reported: failed, over without a failure, or
 * unknown. A failure is passed on at once to all operations relying on this operation, directly or not.
 */
final class Outcome {
    /*
     * SCHED-8: a failure found while commands are given reaches the outcomes of all dependent operations before the
     * ticket of the failed operation has an event or a value, and so before dependent commands are given to any lane.
     *
     * An outcome refers to later outcomes, until the operation is over, and never to earlier outcomes: an operation
     * that is over keeps nothing. The monitor of an outcome is an innermost lock, and a thread holds a single such
     * monitor at a time.
     */
    private volatile @Nullable IreeException failure; // written under the monitor
    private List<Outcome> later = List.of(); // guarded by the monitor, like the next field
    private boolean over;

    /** Returns the failure of the operation or of an operation before, once known; null while unknown and on success. */
    @Nullable
    IreeException failure() {
        return failure;
    }

    /** Has another operation fail with this operation. */
    void precede(Outcome other) {
        IreeException cause;
        synchronized (this) {
            cause = failure;
            if (cause == null && !over) {
                later = later.isEmpty() ? new ArrayList<>(2) : later;
                later.add(other);
            }
        }
        if (cause != null) {
            other.fail(cause);
        }
    }

    /** Records the failure of the operation, and of all operations relying on the operation. The first failure stays. */
    void fail(IreeException cause) {
        ArrayDeque<Outcome> all = new ArrayDeque<>(List.of(this));
        for (Outcome next; (next = all.poll()) != null; ) {
            all.addAll(next.failAlone(cause));
        }
    }

    private synchronized List<Outcome> failAlone(IreeException cause) {
        List<Outcome> next = later;
        later = List.of();
        if (failure == null) {
            failure = cause;
        }
        return next;
    }

    /** Records the end of the operation: later operations follow no more. */
    synchronized void end() {
        over = true;
        later = List.of();
    }
}
