package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicReference;

/** A value of a native timeline that submissions can wait for. Safe from any thread. */
final class ForeignPoint {
    /*
     *   MADE ──► OPEN ──► AWAITED
     *     └───────┴─────► WITHDRAWN
     *
     * STREAM-12: submissions wait only for points that were open, and none that an operation waits for is withdrawn: the hardware would wait
     * for ever.
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

    /** A point that nobody waits for before it is opened. */
    static ForeignPoint made(StreamDevice device, DriverTimeline timeline, long value) {
        return new ForeignPoint(device, timeline, value);
    }

    /** A point of a timeline that work of the device, or the caller, will raise. */
    static ForeignPoint open(StreamDevice device, DriverTimeline timeline, long value) {
        ForeignPoint point = made(device, timeline, value);
        point.open();
        return point;
    }

    /** The device whose submissions can wait for it. */
    StreamDevice device() {
        return device;
    }

    DriverTimeline timeline() {
        return timeline;
    }

    long value() {
        return value;
    }

    /** The timeline is known to be the one that will reach it. */
    void open() {
        state.compareAndSet(State.MADE, State.OPEN);
    }

    /** Whether submissions may wait for it. */
    boolean isOpen() {
        State now = state.get();
        return (now == State.OPEN || now == State.AWAITED) && timeline.isLive();
    }

    /** An operation will wait for it: retains its timeline. Returns false when none can any more. */
    boolean tryAwait() {
        boolean isAwaited = state.compareAndSet(State.OPEN, State.AWAITED) || state.get() == State.AWAITED;
        return isAwaited && timeline.tryRetain();
    }

    /** Nobody will wait for it any more. Returns false, without effect, once an operation does. */
    boolean withdraw() {
        return state.compareAndSet(State.OPEN, State.WITHDRAWN) || state.compareAndSet(State.MADE, State.WITHDRAWN);
    }

    /** Whether it is reached; also where the queue is gone. */
    boolean hasPassed() {
        if (!timeline.tryRetain()) {
            return true;
        }
        try {
            return timeline.value() >= value;
        } catch (IreeException e) {
            return true; // lost
        } finally {
            timeline.release();
        }
    }
}
