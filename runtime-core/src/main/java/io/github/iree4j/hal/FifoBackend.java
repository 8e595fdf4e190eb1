package io.github.iree4j.hal;

/**
 * Hardware that works off what it is given in that order: a stream of a GPU. An operation has its epoch when it is issued, and runs after
 * everything issued before it.
 *
 * <p>{@link #waitFor}, {@link #waitForExternal}, {@link #issue} and {@link #recordTimepoint} put entries on the stream. They are called by
 * one thread at a time, with a lock of the scheduler held, so an implementation:
 *
 * <ul>
 *   <li>MUST return quickly and MUST NOT block, or call the scheduler, from inside them;
 *   <li>MUST report the end of every issued operation once, with {@link QueueScheduler#completed}, on any thread, or by
 *       {@link #wasOverWhenIssued};
 *   <li>MAY throw: the operation fails, as if the hardware had refused it.
 * </ul>
 */
public non-sealed interface FifoBackend extends QueueBackend {

    /**
     * Returns whether there was nothing to do for the operation that was issued last, and nothing before it was under way: then it is
     * over, and its end is not reported. Asked once after each {@link #issue} that did not throw, with the same lock held.
     *
     * @return false when the end will be reported, as always here
     */
    default boolean wasOverWhenIssued() {
        return false;
    }

    /**
     * Puts a mark on the stream behind everything issued, which other queues can wait for: an event.
     *
     * @param epoch that of the last operation issued
     */
    void recordTimepoint(long epoch);

    /**
     * Returns whether work of this queue can wait for work of another without the host: whether the other has a mark at or behind the
     * epoch that this hardware can wait for.
     *
     * @param producer the other queue
     * @param epoch that of the operation that is waited for
     * @return false when the host must wait
     */
    boolean canWaitFor(FifoBackend producer, long epoch);

    /**
     * Makes the stream wait: what is issued from now on runs after the first mark of the other queue at or behind the epoch. The other
     * queue may have been closed since.
     *
     * @param producer a queue for which {@link #canWaitFor} was true
     * @param epoch that of the operation that is waited for
     */
    void waitFor(FifoBackend producer, long epoch);

    /**
     * Returns whether work of this queue can wait for a foreign primitive that promises a value of a semaphore.
     *
     * @param primitive what {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal} was given
     * @return false when the host must wait
     */
    boolean canWaitForExternal(Object primitive);

    /**
     * Makes the stream wait for a foreign primitive.
     *
     * @param primitive one for which {@link #canWaitForExternal} was true
     */
    void waitForExternal(Object primitive);
}
