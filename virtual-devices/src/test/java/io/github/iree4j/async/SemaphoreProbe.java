package io.github.iree4j.async;

/** Exposes a timeline's internals to tests: the size of the history, and the presence of waiters. */
public final class SemaphoreProbe {
    private SemaphoreProbe() {}

    /** Number of records in the full history; 0 while the history is brief. */
    public static int historySize(TimelineSemaphore semaphore) {
        return semaphore.historySize();
    }

    /** Whether a waiter is registered, for a value or for a promise. */
    public static boolean isAwaited(TimelineSemaphore semaphore) {
        return semaphore.isAwaited();
    }
}
