package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

    /**
     * Says which points of a fence are not reached, and who is to reach them.
     *
     * @param fence the fence, which may be closed by now; null for none
     * @return a snapshot; empty when all are reached
     */
    public static List<Wait> waitsFor(@Nullable Fence fence) {
        List<Wait> waits = new ArrayList<>();
        SignalRecord record = new SignalRecord();
        for (int i = 0; fence != null && i < fence.size(); i++) {
            TimelineSemaphore semaphore = fence.semaphore(i);
            boolean known = semaphore.lookup(fence.value(i), record);
            if (!known || !record.isReached()) {
                boolean ours = known && record.primitive() == null;
                waits.add(new Wait(
                        semaphore.id(),
                        fence.value(i),
                        semaphore.value(),
                        known,
                        ours ? record.producerAxis() : Axis.NONE,
                        ours ? record.producerEpoch() : 0));
            }
        }
        return waits;
    }
}
