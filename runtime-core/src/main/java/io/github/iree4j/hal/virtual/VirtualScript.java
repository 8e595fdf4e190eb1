package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * The behaviour of the hardware of a virtual device, and its reports. Called under the clock's lock; MUST NOT submit, signal or
 * step.
 *
 * <p>Operations are identified by their queue and by the number of operations started there before; on a FIFO queue that is the epoch.
 */
public interface VirtualScript {
    /** Every operation takes one tick; nothing fails. */
    VirtualScript DEFAULT = new VirtualScript() {};

    /**
     * Returns the duration of an operation that starts.
     *
     * @param queue the queue's index
     * @param number which operation this is on its queue, from 1
     * @param operation the operation
     * @return ticks, not negative
     */
    default long duration(int queue, long number, QueueOperation operation) {
        return 1;
    }

    /**
     * Returns the rank of an operation among those that are ready at one time and share {@link VirtualLanes}.
     *
     * @param queue the queue's index
     * @param number which operation this is on its queue, from 1
     * @param operation the operation
     * @return the rank: the least is started first, and of equal ones that which was ready first
     */
    default long rank(int queue, long number, QueueOperation operation) {
        return 0;
    }

    /**
     * An operation starts; called before {@link #duration}.
     *
     * @param queue the queue's index
     * @param number which operation this is on its queue, from 1
     * @param operation the operation
     * @param lane which of the {@link VirtualLanes} it occupies; 0 where a queue has its own
     */
    default void starts(int queue, long number, QueueOperation operation, int lane) {}

    /**
     * Returns the delay until the host learns of the end of an operation. Other queues learn of it at once.
     *
     * @param queue the queue's index
     * @param number which operation this is on its queue, from 1
     * @param operation the operation
     * @return ticks, not negative
     */
    default long completionDelay(int queue, long number, QueueOperation operation) {
        return 0;
    }

    /**
     * Returns whether the hardware fails an operation that ends, instead of executing it.
     *
     * @param queue the queue's index
     * @param number which operation this is on its queue, from 1
     * @param operation the operation
     * @return the failure; null for success
     */
    default @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
        return null;
    }
}
