package io.github.iree4j.hal.stream;

import java.util.concurrent.locks.LockSupport;

/** Wakes a thread polling several sources; nearly free while the thread is awake. */
public final class Doorbell {
    private volatile boolean idle; // the thread parks, or is about to
    private volatile boolean due; // rung since the thread last began to poll

    /** Creates a doorbell that has not rung. */
    public Doorbell() {}

    /**
     * Wakes the listener, or makes the listener poll once more. Call this method after the source has changed, on any
     * thread.
     *
     * @param listener the polling thread
     */
    public void ring(Thread listener) {
        due = true;
        if (idle) {
            LockSupport.unpark(listener);
        }
    }

    /** Called by the listener before polling. */
    public void clear() {
        due = false;
    }

    /**
     * Parks until the doorbell rings, or returns at once if the doorbell has rung since {@link #clear}; may return spuriously.
     * Called by the listener after a poll without result.
     */
    public void await() {
        idle = true;
        if (!due) { // a thread ringing from here on sees the idle listener
            LockSupport.park(this);
        }
        idle = false;
    }
}
