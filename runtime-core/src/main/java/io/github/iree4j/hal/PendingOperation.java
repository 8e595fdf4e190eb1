package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation waiting to be issued, with its waits; or an issued operation, without waits.
 *
 * @param name the kind of operation
 * @param since time since the operation began to wait or to run
 * @param forMemory whether the operation waits for memory; all other waits are reached then
 * @param bytes bytes of the awaited memory; 0 for none, and for staging memory, whose size is not known
 * @param pool the name of the pool of the awaited memory; empty for none, and for staging memory
 * @param waits the points not reached at the time of the query
 * @param signals the points to be signalled by the operation
 * @param program the program of the submitting call; empty without a call
 * @param function the function of the submitting call, for example {@code module.add}; empty without a call
 */
@NotForApplications
public record PendingOperation(
        String name,
        Duration since,
        boolean forMemory,
        long bytes,
        String pool,
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
     * An unreached point of a timeline.
     *
     * @param semaphore the timeline, as {@code TimelineSemaphore.id()}
     * @param value the awaited value
     * @param reached the value reached by the timeline
     * @param promised whether a producer has promised to signal the value
     * @param producerAxis the queue behind the promise; {@link Axis#NONE} when unknown
     * @param producerEpoch the epoch of the operation behind the promise; 0 when unknown
     * @param timeline the name of the timeline; empty for none
     */
    public record Wait(
            long semaphore,
            long value,
            long reached,
            boolean promised,
            long producerAxis,
            long producerEpoch,
            String timeline) {
        /**
         * Describes the point.
         *
         * @return for example {@code timeline 12 'tts' to reach 7, currently 6}
         */
        public String describe() {
            return "%s to reach %d, currently %d".formatted(nameOf(semaphore, timeline), value, reached);
        }
    }

    /**
     * Names a timeline.
     *
     * @param semaphore the timeline, as {@code TimelineSemaphore.id()}
     * @param name the name of the timeline; empty for none
     * @return for example {@code timeline 12 'tts'}
     */
    public static String nameOf(long semaphore, String name) {
        return "timeline " + semaphore + (name.isEmpty() ? "" : " '" + name + "'");
    }

    /**
     * Returns the unreached points of a fence, with their producers.
     *
     * @param fence the fence, possibly closed by now; null for none
     * @return a snapshot; empty when all points are reached
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
     * @param fence the fence, possibly closed by now; null for none
     * @return all points, reached or not
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
