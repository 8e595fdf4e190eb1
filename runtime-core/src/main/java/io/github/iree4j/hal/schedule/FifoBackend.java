package io.github.iree4j.hal.schedule;

/**
 * Hardware executing its work in submission order: a GPU stream. An operation receives its epoch when decided, and runs
 * after everything decided before.
 *
 * <p>{@link #issue} and {@link #submit} are called by one thread at a time, with no lock of the scheduler held: a long
 * or blocking driver call delays only this stream. Neither is ever called on a signalling thread unless
 * {@link #wakeExecutor} allows the call. An implementation:
 *
 * <ul>
 *   <li>MUST report the end of every accepted operation, with {@link QueueScheduler#completed} or
 *       {@link QueueScheduler#completedUpTo}, on any thread, also from inside {@link #issue} and {@link #submit};
 *   <li>MUST NOT hold a lock while reporting if {@link #canWaitFor}, {@link #canWaitForExternal} or {@link #hasPassed}
 *       acquires this lock;
 *   <li>MAY throw from {@link #issue}: the operation fails, as if rejected by the hardware, and keeps its place.
 * </ul>
 *
 * <p><b>Points.</b> A point is the target of waits of other queues: an event, or a value of a native timeline. Points
 * are not requested in advance: when an operation waits for an epoch of another queue, {@link #issue} receives the
 * wait, and then reuses or creates the point, at or behind the epoch.
 */
public non-sealed interface FifoBackend extends QueueBackend {

    /**
     * Puts an operation on the stream, behind the operation's waits.
     *
     * @param next the next decided operation
     * @return false when the driver cannot accept the operation now: then the call had no effect, and the operation is
     *     offered again after {@link QueueScheduler#issueMore}
     */
    boolean issue(Issue next);

    /**
     * Returns the conclusions that the scheduler may draw about the waits of this queue. Called once.
     *
     * @return {@link WaitRules#ALL}, except in measurements
     */
    default WaitRules waitRules() {
        return WaitRules.ALL;
    }

    /**
     * Flushes: everything ready has been issued, and the hardware may start all of the work at once. Called after one
     * or many {@link #issue} calls. The backend reports the end of the last operation before this call when the
     * operation ends. Other ends are reported if {@link Issue#isAwaited awaited} or failed, and otherwise with the end
     * of a later operation.
     */
    default void submit() {}

    /**
     * Returns whether work of this queue can wait for work of another queue without the host. Called with locks of
     * schedulers held: MUST be quick.
     *
     * @param producer the other queue
     * @param epoch the awaited epoch, already decided there, but not necessarily issued
     * @return true if possible; false when the host must wait
     */
    boolean canWaitFor(FifoBackend producer, long epoch);

    /**
     * Returns whether work of this queue can wait for a foreign primitive promising a value of a semaphore. Called
     * under the rules of {@link #canWaitFor}.
     *
     * @param primitive the primitive passed to {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal}
     * @return true if possible; false when the host must wait
     */
    boolean canWaitForExternal(Object primitive);

    /**
     * Keeps a foreign primitive open until {@link #letGoExternal}, for an operation about to wait for the primitive:
     * the importer may close a primitive as soon as its value is reached. Called under the rules of
     * {@link #canWaitFor}.
     *
     * @param primitive a primitive accepted by {@link #canWaitForExternal}
     * @return false for a closed primitive; then the value is reached, or no longer promised
     */
    default boolean keepExternal(Object primitive) {
        return true;
    }

    /**
     * Ends {@link #keepExternal}: the operation has been issued, or never will be. If the hardware waits for the
     * primitive, the hardware now keeps the primitive open. Called once for each kept primitive, under the rules of
     * {@link #issue}.
     *
     * @param primitive the primitive
     */
    default void letGoExternal(Object primitive) {}

    /**
     * Returns whether a foreign primitive has been reached. Called where premises are asserted.
     *
     * @param primitive a primitive awaited by an operation of this queue
     * @return false only when known not to be reached
     */
    default boolean hasPassedExternal(Object primitive) {
        return true;
    }

    /**
     * Returns whether the hardware has completed an epoch and everything before, reported or not. Called where premises
     * are asserted.
     *
     * @param epoch an epoch of this queue
     * @return false only when known not to be completed
     */
    default boolean hasPassed(long epoch) {
        return true;
    }
}
