package io.github.iree4j.hal.schedule;

/**
 * Hardware running each operation upon receipt, concurrently with all others, like workers with a shared list. An
 * operation receives its epoch at completion, and runs after its waits and nothing else.
 *
 * <p>{@link #issue} is called from several threads at once and with no lock held, and may complete the operation before
 * returning.
 */
public non-sealed interface UnorderedBackend extends QueueBackend {

    /**
     * Starts an operation. The end is reported once, with {@link QueueScheduler#completed}. If this method throws, the
     * operation fails with the exception, and the end is not reported.
     *
     * @param operation an operation submitted to this backend's scheduler, and ready to start
     */
    void issue(QueueOperation operation);

    /**
     * Executes an operation at once, on the calling thread, if this is better than a hand-off: nothing is retained for
     * an operation that is complete on return. The end is reported with {@link QueueScheduler#completed} here as well.
     *
     * @param operation an operation submitted to this backend's scheduler, and ready to start
     * @return whether the operation is complete; otherwise {@link #issue} is called with the operation
     */
    default boolean execute(QueueOperation operation) {
        return false;
    }
}
