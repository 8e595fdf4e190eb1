package io.github.iree4j.hal.schedule;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation that is to go on a stream, with the waits that the stream's hardware performs before it. Created by the scheduler
 * when the operation is decided: it has its epoch, and its signals are promised. For backends.
 */
public final class Issue {
    private static final List<Wait> NONE = List.of();

    private final QueueOperation operation;
    private final long epoch;
    private final List<Wait> waits;
    boolean awaited; // written before the issue by the thread that gives it to the backend
    final List<FifoScheduler> producers; // of each wait; this stream's own scheduler for foreign work

    Issue(QueueOperation operation, long epoch, List<Wait> waits, List<FifoScheduler> producers) {
        this.operation = operation;
        this.epoch = epoch;
        this.waits = waits.isEmpty() ? NONE : waits;
        this.producers = producers;
    }

    /**
     * A wait of the hardware: for an epoch of another queue, or for foreign work.
     *
     * @param producer the other queue; null for foreign work
     * @param epoch the epoch after which the stream continues; 0 for foreign work
     * @param primitive the primitive of foreign work, as passed to
     * {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal}; null for an epoch
     */
    public record Wait(
            @Nullable FifoBackend producer,
            long epoch,
            @Nullable Object primitive) {}

    /**
     * Returns the operation.
     *
     * @return the operation, whose end the backend reports
     */
    public QueueOperation operation() {
        return operation;
    }

    /**
     * Returns the operation's position on the stream.
     *
     * @return the epoch, one above that of the operation issued before
     */
    public long epoch() {
        return epoch;
    }

    /**
     * Returns the waits that the stream performs first: the minimal set. Every epoch of another queue among them has been issued
     * there.
     *
     * @return the waits; usually none
     */
    public List<Wait> waits() {
        return waits;
    }

    /**
     * Returns whether another stream or the host waits for just this operation. If so, a point right behind it, and a report of
     * its end, are worth their cost; otherwise its end is reported with that of a later operation, at the latest that of the last
     * one before {@link FifoBackend#submit}.
     *
     * @return true if one waits by now; a later wait may go to an operation behind it instead
     */
    public boolean isAwaited() {
        return awaited;
    }

    @Override
    public String toString() {
        return operation.name() + " at epoch " + epoch;
    }
}
