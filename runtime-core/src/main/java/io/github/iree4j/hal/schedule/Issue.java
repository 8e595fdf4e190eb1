package io.github.iree4j.hal.schedule;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation about to go on a stream, with the waits performed before by the stream's hardware. Created by the
 * scheduler when the operation is decided: the operation has its epoch, and its signals are promised. For backends.
 */
public final class Issue {
    private static final List<Wait> NONE = List.of();

    private final QueueOperation operation;
    private final long epoch;
    private final List<Wait> waits;
    private final List<Wait> predecessors;
    boolean awaited; // written before the issue by the issuing thread
    final List<FifoScheduler> producers; // of each wait; this stream's own scheduler for foreign work

    Issue(
            QueueOperation operation,
            long epoch,
            List<Wait> waits,
            List<Wait> predecessors,
            List<FifoScheduler> producers) {
        this.operation = operation;
        this.epoch = epoch;
        this.waits = waits.isEmpty() ? NONE : waits;
        this.predecessors = predecessors;
        this.producers = producers;
    }

    /**
     * A wait of the hardware: for an epoch of another queue, or for foreign work.
     *
     * @param producer the other queue; null for foreign work
     * @param epoch the epoch after which the stream continues; 0 for foreign work
     * @param primitive the primitive of foreign work, as passed to
     *     {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal}; null for an epoch
     */
    public record Wait(
            @Nullable FifoBackend producer,
            long epoch,
            @Nullable Object primitive) {}

    /**
     * Returns the operation.
     *
     * @return the operation; the backend reports the end
     */
    public QueueOperation operation() {
        return operation;
    }

    /**
     * Returns the operation's position on the stream.
     *
     * @return the epoch, the previous operation's epoch plus 1
     */
    public long epoch() {
        return epoch;
    }

    /**
     * Returns the waits performed by the stream before the operation: the minimal set. Every awaited epoch of another
     * queue has been issued there.
     *
     * @return the waits; usually none
     */
    public List<Wait> waits() {
        return waits;
    }

    /**
     * Returns the operations of streams whose success this operation relies on: the producers of all awaited values
     * that were not reached when the operation was decided, whether the hardware waits or the order of streams implies
     * the wait. Operations that merely precede this operation, and users of the same memory, are not included.
     *
     * @return each queue and epoch, this stream's own included, issued there before this operation; often none
     */
    public List<Wait> predecessors() {
        return predecessors;
    }

    /**
     * Returns whether another stream or the host waits for exactly this operation. If so, a point right behind the
     * operation and a report of the operation's end are worth the cost. Otherwise the end is reported with the end of a
     * later operation, at the latest the last operation before {@link FifoBackend#submit}.
     *
     * @return true if a waiter exists by now; a later wait may go to a subsequent operation instead
     */
    public boolean isAwaited() {
        return awaited;
    }

    @Override
    public String toString() {
        return operation.name() + " at epoch " + epoch;
    }
}
