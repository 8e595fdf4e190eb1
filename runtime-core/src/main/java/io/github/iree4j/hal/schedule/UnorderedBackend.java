package io.github.iree4j.hal.schedule;

/**
 * Hardware that runs each operation as soon as it gets it, concurrently with all others, like workers that share a list. An
 * operation has its epoch when it completes, and runs after its waits and nothing else.
 *
 * <p>{@link #issue} is called from several threads at once and with no lock held; it may complete the operation before it returns.
 */
public non-sealed interface UnorderedBackend extends QueueBackend {

    /**
     * Starts an operation. Its end is reported with {@link QueueScheduler#completed}, once. If this throws, the operation fails
     * with that, and its end is not reported.
     *
     * @param operation one that was submitted to this backend's scheduler, and may start
     */
    void issue(QueueOperation operation);

    /**
     * Executes an operation at once, on the calling thread, if that is better than handing it off: nothing is retained for an
     * operation that is complete when this returns. The end is reported with {@link QueueScheduler#completed} all the same.
     *
     * @param operation one that was submitted to this backend's scheduler, and may start
     * @return whether it is complete; if not, {@link #issue} is called with it
     */
    default boolean execute(QueueOperation operation) {
        return false;
    }
}
