package io.github.iree4j.hal.virtual;

import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * How the hardware of a virtual device behaves, and what it tells about it. Called under the clock's lock; MUST NOT submit, signal or
 * step.
 *
 * <p>Operations are told apart by their queue and by how many were started there before; on a FIFO queue that is the epoch.
 */
public interface VirtualScript {
    /** Every operation takes one tick; nothing fails. */
    VirtualScript DEFAULT = new VirtualScript() {};

    /**
     * An operation starts. Says how long it takes.
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
     * Says how long it takes until the host learns of the end of an operation. Other queues learn of it at once.
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
     * An operation ends. Says whether the hardware fails it, instead of running what it does.
     *
     * @param queue the queue's index
     * @param number which operation this is on its queue, from 1
     * @param operation the operation
     * @return why it fails; null when it does not
     */
    default @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
        return null;
    }
}
