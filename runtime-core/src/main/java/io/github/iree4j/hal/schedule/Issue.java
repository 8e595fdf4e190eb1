package io.github.iree4j.hal.schedule;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation that is to go on a stream, and what the stream's hardware has to wait for before it. Made by the scheduler when the
 * operation is decided: it has its epoch, and its signals are promised. For backends.
 */
public final class Issue {
    private static final List<Wait> NONE = List.of();

    private final QueueOperation operation;
    private final long epoch;
    private final List<Wait> waits;
    boolean awaited; // written by the thread that gives it to the backend, before
    final List<FifoScheduler> producers; // as long as the waits; of each what it waits for, itself for foreign work

    Issue(QueueOperation operation, long epoch, List<Wait> waits, List<FifoScheduler> producers) {
        this.operation = operation;
        this.epoch = epoch;
        this.waits = waits.isEmpty() ? NONE : waits;
        this.producers = producers;
    }

    /**
     * What the hardware waits for: an epoch of another queue, or foreign work.
     *
     * @param producer the other queue; null for foreign work
     * @param epoch that of the operation behind which the stream goes on; 0 for foreign work
     * @param primitive what stands for foreign work, as {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal} was given it;
     *     null for an epoch
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
     * @return the epoch, one above that of what was issued before
     */
    public long epoch() {
        return epoch;
    }

    /**
     * Returns what the stream has to wait for first: no more than is needed. Everything that is waited for of other queues has been issued
     * there.
     *
     * @return the waits; usually none
     */
    public List<Wait> waits() {
        return waits;
    }

    /**
     * Returns whether something waits for just this operation: another stream, or the host. Then a point right behind it, and news of its
     * end, are worth their price; else its end is told with that of an operation behind it, at the latest that of the last one before
     * {@link FifoBackend#submit}.
     *
     * @return true if so by now; a wait that comes later may be for an operation behind it instead
     */
    public boolean isAwaited() {
        return awaited;
    }

    @Override
    public String toString() {
        return operation.name() + " at epoch " + epoch;
    }
}
