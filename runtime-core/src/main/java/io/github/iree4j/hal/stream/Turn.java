package io.github.iree4j.hal.stream;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has one thread at a time do what any of several ask for, without a lock: who asks while another thread is at it leaves it to that one, and goes
 * on.
 */
public final class Turn {
    private final AtomicInteger asked = new AtomicInteger();
    private int seen; // of the thread that is at it; the counter hands it on

    /** Creates one that no thread has. */
    public Turn() {}

    /**
     * Asks.
     *
     * @return whether the caller is to do it, now and as long as {@link #again}
     */
    public boolean ask() {
        if (asked.getAndIncrement() != 0) {
            return false;
        }
        seen = 1;
        return true;
    }

    /**
     * Ends the turn unless there was a request since.
     *
     * @return whether there was
     */
    public boolean again() {
        int more = asked.addAndGet(-seen); // at 0 the next who asks is at it
        if (more == 0) {
            return false;
        }
        seen = more;
        return true;
    }
}
