package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * The behaviour of the hardware of a virtual device, and its reports. Called under the clock's lock; MUST NOT submit,
 * signal or step.
 *
 * <p>Operations are identified by their queue and by the number of operations started there before; on a FIFO queue
 * this number is the epoch.
 */
public interface VirtualScript {
    /** Every operation takes one tick; nothing fails. */
    VirtualScript DEFAULT = new VirtualScript() {};

    /**
     * Returns the duration of a starting operation.
     *
     * @param queue the queue's index
     * @param number number of the operation on the queue, from 1
     * @param operation the operation
     * @return ticks, not negative
     */
    default long duration(int queue, long number, QueueOperation operation) {
        return 1;
    }

    /**
     * Returns the rank of an operation among the operations ready at one time and sharing {@link VirtualLanes}.
     *
     * @param queue the queue's index
     * @param number number of the operation on the queue, from 1
     * @param operation the operation
     * @return the rank: the least rank starts first; among equal ranks the operation ready first starts first
     */
    default long rank(int queue, long number, QueueOperation operation) {
        return 0;
    }

    /**
     * Observes the start of an operation; called before {@link #duration}.
     *
     * @param queue the queue's index
     * @param number number of the operation on the queue, from 1
     * @param operation the operation
     * @param lane the occupied lane of the {@link VirtualLanes}; 0 where a queue has its own lanes
     */
    default void starts(int queue, long number, QueueOperation operation, int lane) {}

    /**
     * Returns the delay until the host learns of the end of an operation. Other queues learn of the end at once.
     *
     * @param queue the queue's index
     * @param number number of the operation on the queue, from 1
     * @param operation the operation
     * @return ticks, not negative
     */
    default long completionDelay(int queue, long number, QueueOperation operation) {
        return 0;
    }

    /**
     * Returns whether the hardware fails an ending operation, instead of executing the operation.
     *
     * @param queue the queue's index
     * @param number number of the operation on the queue, from 1
     * @param operation the operation
     * @return the failure; null for success
     */
    default @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
        return null;
    }
}
