package io.github.iree4j.hal.schedule;

/**
 * Hardware that executes its work in submission order: a GPU stream. An operation has its epoch when it is decided, and runs
 * after everything decided before it.
 *
 * <p>{@link #issue} and {@link #submit} are called by one thread at a time, with no lock of the scheduler held: a driver call
 * that takes long, or blocks, delays only its own stream. They are never called on a signalling thread unless
 * {@link #wakeExecutor} allows it. An implementation:
 *
 * <ul>
 *   <li>MUST report the end of every operation that it accepted, with {@link QueueScheduler#completed} or
 *       {@link QueueScheduler#completedUpTo}, on any thread, also from inside {@link #issue} and {@link #submit};
 *   <li>MUST NOT hold a lock while it reports if {@link #canWaitFor}, {@link #canWaitForExternal} or {@link #hasPassed} acquires that lock;
 *   <li>MAY throw from {@link #issue}: the operation fails, as if the hardware had rejected it, and keeps its place.
 * </ul>
 *
 * <p><b>Points.</b> What other queues wait for, an event or a value of a native timeline, is called a point. Points are not
 * requested in advance: when an operation waits for an epoch of another queue, {@link #issue} is told so, and reuses or creates
 * the point then, at or behind the epoch.
 */
public non-sealed interface FifoBackend extends QueueBackend {

    /**
     * Puts an operation on the stream, behind its waits.
     *
     * @param next the operation that was decided next
     * @return false when the driver cannot take it now: then the call had no effect, and the operation is offered again after
     *     {@link QueueScheduler#issueMore}
     */
    boolean issue(Issue next);

    /**
     * Returns what the scheduler concludes about the waits of this queue. Called once.
     *
     * @return {@link WaitKnowledge#FRONTIERS}, except in measurements
     */
    default WaitKnowledge knowledge() {
        return WaitKnowledge.FRONTIERS;
    }

    /**
     * Flushes: everything that is ready has been issued, and the hardware may have it all at once. Called after one
     * {@link #issue} or many. The backend reports the end of the last operation before this when it comes; the end of others only
     * if they are {@link Issue#isAwaited awaited} or fail, and otherwise with the end of one behind them.
     */
    default void submit() {}

    /**
     * Returns whether work of this queue can wait for work of another without the host. Called with locks of schedulers held: MUST be quick.
     *
     * @param producer the other queue
     * @param epoch the epoch waited for, which has been decided there and need not be issued yet
     * @return true if it can; false when the host must wait
     */
    boolean canWaitFor(FifoBackend producer, long epoch);

    /**
     * Returns whether work of this queue can wait for a foreign primitive that promises a value of a semaphore. Called as {@link #canWaitFor} is.
     *
     * @param primitive the primitive passed to {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal}
     * @return true if it can; false when the host must wait
     */
    boolean canWaitForExternal(Object primitive);

    /**
     * Keeps a foreign primitive, for which an operation is going to wait, open until {@link #letGoExternal}: its importer may
     * close it as soon as its value is reached. Called as {@link #canWaitFor} is.
     *
     * @param primitive one that {@link #canWaitForExternal} accepted
     * @return false when it is closed; then its value is reached, or no longer promised
     */
    default boolean keepExternal(Object primitive) {
        return true;
    }

    /**
     * The operation has been issued, or never will be: if the hardware waits for the primitive, the hardware keeps it open now.
     * Called once for each primitive that was kept, under the rules of {@link #issue}.
     *
     * @param primitive the primitive
     */
    default void letGoExternal(Object primitive) {}

    /**
     * Returns whether a foreign primitive has been reached. Called where premises are asserted.
     *
     * @param primitive one that an operation of this queue waited for
     * @return false only when it is known not to be
     */
    default boolean hasPassedExternal(Object primitive) {
        return true;
    }

    /**
     * Returns whether the hardware has completed an epoch and everything before it, reported or not. Called where premises are
     * asserted.
     *
     * @param epoch an epoch of this queue
     * @return false only when it is known not to be
     */
    default boolean hasPassed(long epoch) {
        return true;
    }
}
