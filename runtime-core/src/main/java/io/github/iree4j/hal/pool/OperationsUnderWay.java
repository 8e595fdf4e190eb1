package io.github.iree4j.hal.pool;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many operations of the calls of one program are not over, so that closing the program can wait for the last of them. An operation
 * that is over before its submission returns is not counted. Safe from any thread.
 */
public final class OperationsUnderWay {
    private final AtomicLong count = new AtomicLong();
    private volatile Runnable listener = () -> {};

    /** None yet. */
    public OperationsUnderWay() {}

    /** An operation of one of the calls outlives its submission. */
    public void begin() {
        count.incrementAndGet();
    }

    /** It is over, and has let go of what it used. */
    public void end() {
        if (count.decrementAndGet()
                == 0) { // written before the listener is read; who sets that looks at the count afterwards
            listener.run();
        }
    }

    /**
     * Sets what is called when the last one is over, from now on.
     *
     * @param told is called on any thread, with locks held: only wakes
     */
    public void whenNone(Runnable told) {
        listener = told;
    }

    /**
     * Returns whether none is under way.
     *
     * @return true at some moment
     */
    public boolean isNone() {
        return count.get() == 0;
    }

    @Override
    public String toString() {
        return count + " operations";
    }
}
