package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the unfinished operations of a program's calls, so that closing the program can wait for the last operation.
 * An operation finishing before its submission returns is not counted. Safe from any thread.
 */
@NotForApplications
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
     * @param program the name of the program in reports
     */
    public OperationsUnderWay(String program) {
        this.program = program;
    }

    /**
     * Returns the name of the program.
     *
     * @return the name; may be empty
     */
    public String program() {
        return program;
    }

    /** Records the close of the program: results of operations are not wanted. */
    public void abandon() {
        abandoned = true;
    }

    /**
     * Returns whether the program is closed.
     *
     * @return whether the program is closed; once true, always true
     */
    public boolean isAbandoned() {
        return abandoned;
    }

    /** Records an operation of a call outliving the submission. */
    public void begin() {
        count.incrementAndGet();
    }

    /** Records the end of an operation outliving the submission, after the release of all resources. */
    public void end() {
        // decremented before the listener is read; the setter reads the count after writing the listener
        if (count.decrementAndGet() == 0) {
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
