package io.github.iree4j.hal;

/**
 * What the hardware behind one queue can do. Implemented by backends, called by the {@link QueueScheduler}, which alone decides about
 * order; a backend never does.
 *
 * <p>A FIFO queue is a stream: {@link #waitFor}, {@link #issue} and {@link #recordTimepoint} put entries on it, which the hardware works
 * off in that order. They are called by one thread at a time, with a lock of the scheduler held, so an implementation:
 *
 * <ul>
 *   <li>MUST return quickly and MUST NOT block, or call the scheduler, from inside them;
 *   <li>MUST report the end of every issued operation once, with {@link QueueScheduler#completed}, on any thread;
 *   <li>MAY throw from {@link #issue}: the operation fails, as if the hardware had refused it.
 * </ul>
 *
 * <p>An unordered queue gets {@link #issue} only, from several threads at once and with no lock held; it may complete the operation before
 * it returns.
 */
public interface QueueBackend {

    /**
     * Starts an operation, or puts it on the stream. Its end is reported with {@link QueueScheduler#completed}.
     *
     * @param operation one that was submitted to this backend's scheduler
     */
    void issue(QueueOperation operation);

    /**
     * Returns whether {@link #issue} always completes the operation before it returns, so that nothing need be kept for it.
     *
     * @return false unless a backend runs everything on the submitting thread
     */
    default boolean completesInline() {
        return false;
    }

    /**
     * Puts a mark on the stream behind everything issued, which other queues can wait for: an event.
     *
     * @param epoch that of the last operation issued
     */
    default void recordTimepoint(long epoch) {}

    /**
     * Returns whether work of this queue can wait for work of another without the host: whether the other has a mark at or behind the
     * epoch that this hardware can wait for.
     *
     * @param producer the other queue
     * @param epoch that of the operation that is waited for
     * @return false when the host must wait
     */
    default boolean canWaitFor(QueueBackend producer, long epoch) {
        return false;
    }

    /**
     * Makes the stream wait: what is issued from now on runs after the first mark of the other queue at or behind the epoch.
     *
     * @param producer a queue for which {@link #canWaitFor} was true
     * @param epoch that of the operation that is waited for
     */
    default void waitFor(QueueBackend producer, long epoch) {
        throw new UnsupportedOperationException();
    }

    /**
     * Returns whether work of this queue can wait for a foreign primitive that promises a value of a semaphore.
     *
     * @param primitive what {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal} was given
     * @return false when the host must wait
     */
    default boolean canWaitForExternal(Object primitive) {
        return false;
    }

    /**
     * Makes the stream wait for a foreign primitive.
     *
     * @param primitive one for which {@link #canWaitForExternal} was true
     */
    default void waitForExternal(Object primitive) {
        throw new UnsupportedOperationException();
    }
}
