package io.github.iree4j.hal;

import io.github.iree4j.frontier.Axis;
import java.time.Duration;
import java.util.List;

/**
 * An operation that waits to be issued, and what for.
 *
 * @param name what kind of operation
 * @param since how long it has been waiting
 * @param forMemory whether it waits for memory; all waits are over then
 * @param waits what was not reached when this was asked
 */
public record PendingOperation(String name, Duration since, boolean forMemory, List<Wait> waits) {
    /** Copies. */
    public PendingOperation {
        waits = List.copyOf(waits);
    }

    /**
     * A point of a timeline that was not reached.
     *
     * @param semaphore the timeline, as {@code TimelineSemaphore.id()}
     * @param value the value that is waited for
     * @param reached how far the timeline was
     * @param promised whether somebody has promised to signal that value
     * @param producerAxis the queue that has, {@link Axis#NONE} when it is not known
     * @param producerEpoch the epoch of the operation that will; 0 when it is not known
     */
    public record Wait(
            long semaphore, long value, long reached, boolean promised, long producerAxis, long producerEpoch) {}
}
