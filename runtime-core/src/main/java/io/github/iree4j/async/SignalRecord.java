package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import org.jspecify.annotations.Nullable;

/**
 * What a timeline knows about reaching one value: filled in by {@link TimelineSemaphore#lookup}, so that a scheduler that asks for
 * every wait of every operation allocates nothing.
 *
 * <p>Reusable; belongs to one thread. All its parts are of one moment.
 */
public final class SignalRecord {
    private long value;
    private boolean reached;
    private boolean tainted;
    private Frontier frontier = Frontier.EMPTY;
    private @Nullable Object primitive;

    /** Creates an empty one, to be filled in. */
    public SignalRecord() {}

    /**
     * Returns the value that was signalled or is promised: the one asked for, or the earliest known one above it.
     *
     * @return the value
     */
    public long value() {
        return value;
    }

    /**
     * Returns whether the timeline was there at that moment, so that there is nothing to wait for.
     *
     * @return false for a promise
     */
    public boolean isReached() {
        return reached;
    }

    /**
     * Returns whether somebody outside reached it or will. Such a value is waited for, never proved.
     *
     * @return true if nothing is known about what led to it
     */
    public boolean isTainted() {
        return tainted;
    }

    /**
     * Returns what happens before the value is reached. May be tainted although {@link #isTainted()} is not, when the operation that
     * signals had to forget some entries; it has a producer then.
     *
     * @return the frontier; {@link Frontier#UNKNOWN} of a tainted value
     */
    public Frontier frontier() {
        return frontier;
    }

    /**
     * Returns the axis of the operation that signals.
     *
     * @return the axis, {@link io.github.iree4j.frontier.Axis#NONE} when no operation of ours does
     */
    public long producerAxis() {
        return frontier.producerAxis();
    }

    /**
     * Returns the epoch of the operation that signals.
     *
     * @return the epoch, 0 when no operation of ours does
     */
    public long producerEpoch() {
        return frontier.producerEpoch();
    }

    /**
     * Returns what a device can wait for instead of us when somebody outside promised the value.
     *
     * @return what {@link TimelineSemaphore#promiseExternal} was given, else null
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

    /** Of a promise: what is a frontier when one of us made it, else the primitive. */
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
