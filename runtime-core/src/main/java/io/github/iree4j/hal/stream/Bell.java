package io.github.iree4j.hal.stream;

import java.util.concurrent.locks.LockSupport;

/** Has a thread look for what has come; costs little while it does not sleep. */
public final class Bell {
    private volatile boolean idle; // the thread parks, or is about to
    private volatile boolean due; // something has come that the thread has not looked at

    /** Creates one that has not rung. */
    public Bell() {}

    /**
     * What has come is there. Any thread.
     *
     * @param listener the thread
     */
    public void ring(Thread listener) {
        due = true;
        if (idle) {
            LockSupport.unpark(listener);
        }
    }

    /** The listener is about to look. */
    public void clear() {
        due = false;
    }

    /** The listener has found nothing: parks until something comes, or has come since {@link #clear}; may return for no reason. */
    public void await() {
        idle = true;
        if (!due) { // who comes now sees that the listener is idle
            LockSupport.park(this);
        }
        idle = false;
    }
}
