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
 * An operation that waits to be issued, with its waits; or one that was issued, which has none.
 *
 * @param name the kind of operation
 * @param since how long it has been waiting, or has run
 * @param forMemory whether it waits for memory; all other waits are reached then
 * @param waits the points that were not reached at the time of the query
 * @param signals the points that it will signal
 * @param program the program whose call submitted it; empty when none did
 * @param function the function of that call, for example {@code module.add}; empty when none did
 */
public record PendingOperation(
        String name,
        Duration since,
        boolean forMemory,
        List<Wait> waits,
        List<Point> signals,
        String program,
        String function) {
    /** Copies the lists. */
    public PendingOperation {
        waits = List.copyOf(waits);
        signals = List.copyOf(signals);
    }

    /**
     * A point of a timeline.
     *
     * @param semaphore the timeline, as {@code TimelineSemaphore.id()}
     * @param value the value
     * @param timeline the name of the timeline; empty for none
     */
    public record Point(long semaphore, long value, String timeline) {}

    /**
     * A point of a timeline that was not reached.
     *
     * @param semaphore the timeline, as {@code TimelineSemaphore.id()}
     * @param value the awaited value
     * @param reached the value that the timeline had reached
     * @param promised whether a producer has promised to signal the value
     * @param producerAxis the queue that has promised it; {@link Axis#NONE} when unknown
     * @param producerEpoch the epoch of the operation that will signal it; 0 when unknown
     * @param timeline the name of the timeline; empty for none
     */
    public record Wait(
            long semaphore,
            long value,
            long reached,
            boolean promised,
            long producerAxis,
            long producerEpoch,
            String timeline) {}

    /**
     * Returns the points of a fence that are not reached, with their producers.
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
                        ours ? record.producerEpoch() : 0,
                        semaphore.name()));
            }
        }
        return waits;
    }

    /**
     * Returns the points of a fence.
     *
     * @param fence the fence, which may be closed by now; null for none
     * @return all of them, whether or not they are reached
     */
    public static List<Point> pointsOf(@Nullable Fence fence) {
        List<Point> points = new ArrayList<>();
        for (int i = 0; fence != null && i < fence.size(); i++) {
            TimelineSemaphore semaphore = fence.semaphore(i);
            points.add(new Point(semaphore.id(), fence.value(i), semaphore.name()));
        }
        return points;
    }
}
