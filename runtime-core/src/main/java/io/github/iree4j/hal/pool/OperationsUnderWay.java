package io.github.iree4j.hal.pool;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the unfinished operations of one program's calls, so that closing the program can wait for the last of them. An operation that
 * finishes before its submission returns is not counted. Safe from any thread.
 */
public final class OperationsUnderWay {
    private final AtomicLong count = new AtomicLong();
    private final String program;
    private volatile Runnable listener = () -> {};
    private volatile boolean abandoned;

    /** Creates a counter at 0 for a program without a name. */
    public OperationsUnderWay() {
        this("");
    }

    /**
     * Creates a counter at 0.
     *
     * @param program names the program in reports
     */
    public OperationsUnderWay(String program) {
        this.program = program;
    }

    /**
     * Returns the name of the program.
     *
     * @return may be empty
     */
    public String program() {
        return program;
    }

    /** Notes that the program is closed, and no result of its operations is wanted. */
    public void abandon() {
        abandoned = true;
    }

    /**
     * Returns whether the program is closed.
     *
     * @return once true it stays so
     */
    public boolean isAbandoned() {
        return abandoned;
    }

    /** Notes that an operation of one of the calls outlives its submission. */
    public void begin() {
        count.incrementAndGet();
    }

    /** Notes that such an operation has finished and released what it used. */
    public void end() {
        if (count.decrementAndGet() == 0) { // before the listener is read; its setter reads the count afterwards
            listener.run();
        }
    }

    /**
     * Sets the listener to call from now on when the last operation finishes.
     *
     * @param told called on any thread, with locks held: must do no more than wake a thread
     */
    public void whenNone(Runnable told) {
        listener = told;
    }

    /**
     * Returns whether no operation is under way.
     *
     * @return whether the count was 0 at some moment
     */
    public boolean isNone() {
        return count.get() == 0;
    }

    @Override
    public String toString() {
        return count + " operations";
    }
}
