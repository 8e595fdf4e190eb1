package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicReference;

/** A value of a native timeline for waits of submissions. Safe from any thread. */
final class ForeignPoint {
    /*
     *   MADE ---> OPEN ---> AWAITED
     *     +---------+-----> WITHDRAWN
     *
     * STREAM-12: submissions wait only for opened points. A point awaited by an operation is never withdrawn: the
     * hardware would wait for ever.
     */
    private enum State {
        MADE,
        OPEN,
        AWAITED,
        WITHDRAWN
    }

    private final StreamDevice device;
    private final DriverTimeline timeline;
    private final long value;
    private final AtomicReference<State> state = new AtomicReference<>(State.MADE);

    private ForeignPoint(StreamDevice device, DriverTimeline timeline, long value) {
        this.device = device;
        this.timeline = timeline;
        this.value = value;
    }

    /** Creates a point that nobody waits for before {@link #open()}. */
    static ForeignPoint made(StreamDevice device, DriverTimeline timeline, long value) {
        return new ForeignPoint(device, timeline, value);
    }

    /** Creates a point of a timeline to be raised by work of the device, or by the caller. */
    static ForeignPoint open(StreamDevice device, DriverTimeline timeline, long value) {
        ForeignPoint point = made(device, timeline, value);
        point.open();
        return point;
    }

    /** Returns the device whose submissions can wait for the point. */
    StreamDevice device() {
        return device;
    }

    DriverTimeline timeline() {
        return timeline;
    }

    long value() {
        return value;
    }

    /** Opens the point: the timeline is known to reach the value. */
    void open() {
        state.compareAndSet(State.MADE, State.OPEN);
    }

    /** Returns whether submissions may wait for the point. */
    boolean isOpen() {
        State now = state.get();
        return (now == State.OPEN || now == State.AWAITED) && timeline.isLive();
    }

    /**
     * Retains the timeline for an operation about to wait for the point. Returns false when operations can no longer
     * wait.
     */
    boolean tryAwait() {
        boolean isAwaited = state.compareAndSet(State.OPEN, State.AWAITED) || state.get() == State.AWAITED;
        return isAwaited && timeline.tryRetain();
    }

    /** Withdraws the point: nobody will wait for the point any more. Returns false, without effect, once an operation does. */
    boolean withdraw() {
        return state.compareAndSet(State.OPEN, State.WITHDRAWN) || state.compareAndSet(State.MADE, State.WITHDRAWN);
    }

    /** Returns whether the value is reached; also true where the queue is gone. */
    boolean hasPassed() {
        if (!timeline.tryRetain()) {
            return true;
        }
        try {
            return timeline.value() >= value;
        } catch (IreeException e) {
            return true; // device lost
        } finally {
            timeline.release();
        }
    }
}
