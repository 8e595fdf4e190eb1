package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import org.jspecify.annotations.Nullable;

/**
 * A timeline's knowledge about reaching a value. Filled in by {@link TimelineSemaphore#lookup}: a scheduler can look up
 * every wait of every operation without allocating.
 *
 * <p>Reusable; confined to one thread. The contents are a consistent snapshot.
 */
@NotForApplications
public final class SignalRecord {
    private long value;
    private boolean reached;
    private boolean tainted;
    private Frontier frontier = Frontier.EMPTY;
    private @Nullable Object primitive;

    /** Creates an empty record. */
    public SignalRecord() {}

    /**
     * Returns the signalled or promised value: the requested value, or the earliest known value above.
     *
     * @return the value
     */
    public long value() {
        return value;
    }

    /**
     * Returns whether the value was reached at the time of the lookup, leaving nothing to wait for.
     *
     * @return false for a promise
     */
    public boolean isReached() {
        return reached;
    }

    /**
     * Returns whether external code signalled or will signal the value. Such a value can be waited for but proves
     * nothing.
     *
     * @return true if the history before the value is unknown
     */
    public boolean isTainted() {
        return tainted;
    }

    /**
     * Returns the history before the value is reached. May be tainted although {@link #isTainted()} is false, when the
     * signalling operation dropped entries; the frontier then has a producer.
     *
     * @return the frontier; {@link Frontier#UNKNOWN} of a tainted value
     */
    public Frontier frontier() {
        return frontier;
    }

    /**
     * Returns the axis of the signalling operation.
     *
     * @return the axis, {@link io.github.iree4j.frontier.Axis#NONE} when no internal operation signals
     */
    public long producerAxis() {
        return frontier.producerAxis();
    }

    /**
     * Returns the epoch of the signalling operation.
     *
     * @return the epoch, 0 when no internal operation signals
     */
    public long producerEpoch() {
        return frontier.producerEpoch();
    }

    /**
     * Returns a primitive that devices can wait for when external code promised the value.
     *
     * @return the argument of {@link TimelineSemaphore#promiseExternal}, else null
     */
    public @Nullable Object primitive() {
        return primitive;
    }

    void setReached(long newValue, Frontier newFrontier) {
        value = newValue;
        reached = true;
        tainted = false;
        frontier = newFrontier;
        primitive = null;
    }

    void setReachedFromOutside(long newValue) {
        value = newValue;
        reached = true;
        tainted = true;
        frontier = Frontier.UNKNOWN;
        primitive = null;
    }

    /** Sets a promise: {@code what} is a frontier for an internal promise, else the external primitive. */
    void setPromised(long newValue, Object what) {
        value = newValue;
        reached = false;
        if (what instanceof Frontier promised) {
            tainted = false;
            frontier = promised;
            primitive = null;
        } else {
            tainted = true;
            frontier = Frontier.UNKNOWN;
            primitive = what;
        }
    }

    @Override
    public String toString() {
        return value + (reached ? " reached" : " promised") + (tainted ? " from outside" : " " + frontier);
    }
}
