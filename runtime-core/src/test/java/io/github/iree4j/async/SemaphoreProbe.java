package io.github.iree4j.async;

/** What a test sees of a timeline beyond what it shows: how much is kept, and whether something waits. */
public final class SemaphoreProbe {
    private SemaphoreProbe() {}

    /** How many records there are beside the last signal and the last promise of the one queue that uses a timeline. */
    public static int historySize(TimelineSemaphore semaphore) {
        return semaphore.historySize();
    }

    /** Whether something is registered to be called, by a value or by a promise. */
    public static boolean isAwaited(TimelineSemaphore semaphore) {
        return semaphore.isAwaited();
    }
}
