package io.github.iree4j.spring;

import java.util.concurrent.locks.LockSupport;

/** The pause of a test in a wait for the state of another thread. */
public final class Poll {
    private Poll() {}

    /** Leaves the processor to others for a moment. Fails once the time of the test is over, as JUnit interrupts the thread. */
    public static void pause() {
        LockSupport.parkNanos(100_000);
        if (Thread.currentThread().isInterrupted()) {
            throw new IllegalStateException("the time of the test is over");
        }
    }
}
