package io.github.iree4j.hal.stream;

import java.util.concurrent.locks.LockSupport;

/** Wakes a thread that polls several sources; nearly free while the thread is awake. */
public final class Bell {
    private volatile boolean idle; // the thread parks, or is about to
    private volatile boolean due; // rung since the thread last began to poll

    /** Creates a bell that has not rung. */
    public Bell() {}

    /**
     * Wakes the listener, or has it poll once more. Call it after the source has changed, on any thread.
     *
     * @param listener the thread that polls
     */
    public void ring(Thread listener) {
        due = true;
        if (idle) {
            LockSupport.unpark(listener);
        }
    }

    /** Called by the listener before it polls. */
    public void clear() {
        due = false;
    }

    /** Called by the listener when a poll found nothing: parks until the bell rings, or has rung since {@link #clear}; may return spuriously. */
    public void await() {
        idle = true;
        if (!due) { // whichever thread rings now sees that the listener is idle
            LockSupport.park(this);
        }
        idle = false;
    }
}
