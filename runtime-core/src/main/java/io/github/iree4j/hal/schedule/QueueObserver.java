package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Follows the operations of a scheduling domain: what the flight recorder implements. See {@link QueueObservation}.
 *
 * <p>Called by the threads that submit, decide and complete, some with a lock of the scheduler held. Methods MUST NOT block or throw, and
 * MUST return within a microsecond or so. While the thread holds back its callbacks they MAY signal, and {@link #waitOver} and
 * {@link #ending}, which are called without locks, MAY submit: as a replay does. Otherwise they MUST NOT.
 */
public interface QueueObserver {
    /** The decisions about the waits of one operation, valid during the call. */
    interface Decisions {
        /**
         * Returns the number of waits.
         *
         * @return as many as the fence has points
         */
        int size();

        /**
         * Returns the decision about a wait.
         *
         * @param index of the wait
         * @return the decision
         */
        WaitDecision decision(int index);

        /**
         * Returns what the timeline knew about the value, the premise of the decision.
         *
         * @param index of the wait
         * @return the signal or promise; null when there was none
         */
        @Nullable
        SignalRecord found(int index);
    }

    /**
     * An operation was submitted. Everything else about it is told after this, and nothing about operations submitted before the
     * observation began, except by {@link #issued} and {@link #over}.
     *
     * @param queue the queue
     * @param operation the operation
     * @param wait what it waits for; null for nothing
     * @param signal what it signals; null for nothing
     * @return the number of the operation, which {@link QueueOperation#number} returns from then on; not 0
     */
    long submitted(QueueScheduler queue, QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal);

    /**
     * The waits of an operation were decided. Repeated when it resumes after it was held back.
     *
     * @param operation the operation
     * @param decisions the decisions
     */
    void decided(QueueOperation operation, Decisions decisions);

    /**
     * A wait that holds an operation back is over: there is a promise, or the value is reached. Told of waits that were decided with
     * {@link WaitDecision#DEFERRED_UNKNOWN} or {@link WaitDecision#DEFERRED_UNREACHED}, as they end, unless they fail.
     *
     * @param operation the operation
     * @param index of the wait
     */
    void waitOver(QueueOperation operation, int index);

    /**
     * An operation is held back until there is memory.
     *
     * @param operation the operation
     * @param bytes how much it requests
     */
    void heldForMemory(QueueOperation operation, long bytes);

    /**
     * An operation has its place on its stream, and its frontier; or is about to run on an unordered queue.
     *
     * @param operation the operation; without a number when it was submitted before the observation began
     * @param memory what it allocates or releases; null for neither
     */
    void issued(QueueOperation operation, @Nullable Reservation memory);

    /**
     * The hardware begins an operation. Called only by backends that know.
     *
     * @param operation the operation
     */
    void began(QueueOperation operation);

    /**
     * The host has learnt that the hardware has completed an operation, or has run it itself. Its signals come
     * after this.
     *
     * @param operation the operation
     */
    void completed(QueueOperation operation);

    /**
     * An operation that was completed before its waits were resolved is about to end, in a callback: {@link #over} follows.
     *
     * @param operation the operation
     */
    default void ending(QueueOperation operation) {}

    /**
     * An operation has ended, and has signalled or failed its fence.
     *
     * @param operation the operation; without a number when it was submitted before the observation began
     * @param failure why it failed; null on success
     */
    void over(QueueOperation operation, @Nullable IreeException failure);

    /**
     * The device of a queue is lost.
     *
     * @param queue the queue
     * @param cause the cause
     */
    void lost(QueueScheduler queue, IreeException cause);
}
