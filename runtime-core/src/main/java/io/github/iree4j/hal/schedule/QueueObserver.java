package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Follows the operations of a scheduling domain. Implemented by the flight recorder. See {@link QueueObservation}.
 * Reports do nothing unless overridden.
 *
 * <p>Called by the threads that submit, decide and complete, sometimes with a lock of the scheduler held. Methods MUST
 * NOT block or throw, and MUST return within a microsecond or so. While the thread holds back its callbacks, methods
 * MAY signal; {@link #waitOver} and {@link #ending}, called without locks, MAY also submit, as a replay does. Otherwise
 * methods MUST NOT signal or submit.
 */
public interface QueueObserver {
    /** Decisions about the waits of an operation, valid during the call. */
    interface Decisions {
        /**
         * Returns the number of waits.
         *
         * @return the number of points of the fence
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
         * Returns the timeline's knowledge about the value, as the premise of the decision.
         *
         * @param index of the wait
         * @return the signal or promise; null for none
         */
        @Nullable
        SignalRecord found(int index);
    }

    /**
     * Reports a submitted operation. Every other report about the operation follows this report. Operations submitted
     * before the observation began are reported by {@link #issued} and {@link #over} only.
     *
     * @param queue the queue
     * @param operation the operation
     * @param wait the fence to wait for; null for none
     * @param signal the fence to signal; null for none
     * @return the number of the operation, returned by {@link QueueOperation#number} from then on; not 0
     */
    long submitted(QueueScheduler queue, QueueOperation operation, @Nullable Fence wait, @Nullable Fence signal);

    /**
     * Reports an operation that its submitter issues at once to an unordered queue: {@link #submitted}, {@link #decided}
     * where there are waits, and {@link #issued}, in a single report.
     *
     * @param queue the queue
     * @param operation the operation
     * @param wait the fence waited for, reached; null for none
     * @param signal the fence to signal; null for none
     * @param decisions the decisions about the waits; null without waits
     * @param memory the memory released by the operation; null for none
     * @return the number of the operation; 0 to receive the reports one by one
     */
    default long submittedAndIssued(
            QueueScheduler queue,
            QueueOperation operation,
            @Nullable Fence wait,
            @Nullable Fence signal,
            @Nullable Decisions decisions,
            @Nullable Reservation memory) {
        return 0;
    }

    /**
     * Reports the decisions about the waits of an operation. Repeated when an operation resumes after being held back.
     *
     * @param operation the operation
     * @param decisions the decisions
     */
    default void decided(QueueOperation operation, Decisions decisions) {}

    /**
     * Reports the end of a wait holding an operation back: there is a promise, or the value is reached. Called for
     * waits decided with {@link WaitDecision#DEFERRED_UNKNOWN} or {@link WaitDecision#DEFERRED_UNREACHED}, at the end
     * of the wait, except on failure.
     *
     * @param operation the operation
     * @param index of the wait
     */
    default void waitOver(QueueOperation operation, int index) {}

    /**
     * Reports an operation held back until memory is available.
     *
     * @param operation the operation
     * @param bytes requested bytes
     */
    default void heldForMemory(QueueOperation operation, long bytes) {}

    /**
     * Reports an operation with a place on a stream and a frontier, or about to run on an unordered queue.
     *
     * @param operation the operation; without a number when submitted before the observation began
     * @param memory the memory allocated or released by the operation; null for neither
     */
    default void issued(QueueOperation operation, @Nullable Reservation memory) {}

    /**
     * Reports that the hardware begins an operation. Called only by backends with this knowledge.
     *
     * @param operation the operation
     */
    default void began(QueueOperation operation) {}

    /**
     * Reports that the host has learnt of the completion of an operation by the hardware, or has run the operation
     * itself. The signals come after this report.
     *
     * @param operation the operation
     */
    default void completed(QueueOperation operation) {}

    /**
     * Reports the coming end of an operation completed before its waits were resolved, in a callback: {@link #over}
     * follows.
     *
     * @param operation the operation
     */
    default void ending(QueueOperation operation) {}

    /**
     * Reports an operation that has ended, and has signalled or failed its fence.
     *
     * @param operation the operation; without a number when submitted before the observation began
     * @param failure the failure; null on success
     * @param refused the signals of a successful operation that the timelines refused, because each timeline had reached
     *     the value or had failed; by now each of these timelines has failed, so the value of the timeline is final
     */
    default void over(QueueOperation operation, @Nullable IreeException failure, List<Fence.Entry> refused) {}

    /**
     * Reports the loss of a queue's device.
     *
     * @param queue the queue
     * @param cause the cause
     */
    default void lost(QueueScheduler queue, IreeException cause) {}
}
