package io.github.iree4j.hal.schedule;

/**
 * Hardware that works off what it is given in that order: a stream of a GPU. An operation has its epoch when it is decided, and runs after
 * everything decided before it.
 *
 * <p>{@link #issue} and {@link #submit} are called by one thread at a time, with no lock of the scheduler held: a driver that takes long, or
 * blocks, holds nobody up but its own stream. They are never called on a thread that signals unless {@link #wakeExecutor} says so. An
 * implementation:
 *
 * <ul>
 *   <li>MUST report the end of every operation that it took, with {@link QueueScheduler#completed} or
 *       {@link QueueScheduler#completedUpTo}, on any thread, also from inside {@link #issue} and {@link #submit};
 *   <li>MUST NOT hold a lock while it reports that which {@link #canWaitFor}, {@link #canWaitForExternal} or {@link #hasPassed} takes;
 *   <li>MAY throw from {@link #issue}: the operation fails, as if the hardware had refused it, and keeps its place.
 * </ul>
 *
 * <p><b>Points.</b> What other queues wait for, an event or a value of a native timeline, is called a point. Nobody asks for points in
 * advance: when an operation waits for an epoch of another queue, {@link #issue} is told so, and takes or makes the point then, at or
 * behind the epoch.
 */
public non-sealed interface FifoBackend extends QueueBackend {

    /**
     * Puts an operation on the stream, behind its waits.
     *
     * @param next what was decided next
     * @return false when the driver cannot take it now: then nothing has happened, and it is offered again after
     *     {@link QueueScheduler#issueMore}
     */
    boolean issue(Issue next);

    /**
     * Everything that is ready has been issued: the hardware may have it, all at once. Called after one {@link #issue} or many. The end of the
     * last operation before this is told when it comes; the end of others only if they are {@link Issue#isAwaited awaited}, or fail, and else
     * with that of one behind them.
     */
    default void submit() {}

    /**
     * Returns whether work of this queue can wait for work of another without the host. Called with locks of schedulers held: quick.
     *
     * @param producer the other queue
     * @param epoch that of the operation that is waited for, which has been decided there and need not be issued yet
     * @return false when the host must wait
     */
    boolean canWaitFor(FifoBackend producer, long epoch);

    /**
     * Returns whether work of this queue can wait for a foreign primitive that promises a value of a semaphore. Called as above.
     *
     * @param primitive what {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal} was given
     * @return false when the host must wait
     */
    boolean canWaitForExternal(Object primitive);

    /**
     * Keeps a foreign primitive, for which an operation is going to wait, until {@link #letGoExternal}: whoever imported it may close it as
     * soon as its value is reached. Called as above.
     *
     * @param primitive one that {@link #canWaitForExternal} accepted
     * @return false when it is gone; then its value is reached, or not promised any more
     */
    default boolean keepExternal(Object primitive) {
        return true;
    }

    /**
     * The operation has been issued, or never will be: if the hardware waits for the primitive, that keeps it now. Called once for each
     * that was kept, as {@link #issue} is.
     *
     * @param primitive the primitive
     */
    default void letGoExternal(Object primitive) {}

    /**
     * Returns whether a foreign primitive has been reached. Asked where premises are asserted.
     *
     * @param primitive one that an operation of this queue waited for
     * @return false only when it is known not to be
     */
    default boolean hasPassedExternal(Object primitive) {
        return true;
    }

    /**
     * Returns whether the hardware is done with an epoch and everything before it, whether or not that was reported. Asked where premises
     * are asserted.
     *
     * @param epoch an epoch of this queue
     * @return false only when it is known not to be
     */
    default boolean hasPassed(long epoch) {
        return true;
    }
}
