package io.github.iree4j.lab;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a run did. Immutable.
 *
 * @param scenario what was run, scaled
 * @param finalTick the tick after the one in which the last operation ended
 * @param operations in the order of definition
 * @param semaphores by name, in the order of definition
 * @param queues the queues of the scheduler that the operations went through
 * @param memory what was allocated and freed, in the order of time
 * @param nativeWaits waits that the hardware performed
 * @param points places on a queue that another queue waited for
 * @param violations rules that did not hold; empty unless there is a bug
 * @param collateral operations that failed although they follow none that failed: they waited for a timeline that another failed before
 *     it had reached their value
 */
public record LabResult(
        Scenario scenario,
        long finalTick,
        List<OperationRun> operations,
        Map<String, SemaphoreState> semaphores,
        List<QueueUse> queues,
        List<MemoryEvent> memory,
        long nativeWaits,
        long points,
        List<String> violations,
        List<String> collateral) {
    /** Stands for an allocation or a release among the operations of a queue. */
    public static final String MEMORY = "(memory)";

    /** Copies the parts. */
    public LabResult {
        operations = List.copyOf(operations);
        queues = List.copyOf(queues);
        memory = List.copyOf(memory);
        violations = List.copyOf(violations);
        collateral = List.copyOf(collateral);
    }

    /**
     * What the scheduler decided about the waits of an operation when it was submitted.
     *
     * @param reached over already
     * @param elidedFifo implied by the order of the queue
     * @param elidedFrontier implied by what the queue waits for anyway
     * @param covered implied by another wait of the operation
     * @param deviceWaits performed by the hardware
     * @param deferred held back by the host
     */
    public record Decisions(
            long reached, long elidedFifo, long elidedFrontier, long covered, long deviceWaits, long deferred) {
        Decisions plus(Decisions other) {
            return new Decisions(
                    reached + other.reached,
                    elidedFifo + other.elidedFifo,
                    elidedFrontier + other.elidedFrontier,
                    covered + other.covered,
                    deviceWaits + other.deviceWaits,
                    deferred + other.deferred);
        }
    }

    /**
     * What became of an operation.
     *
     * @param operation the operation
     * @param issued the tick at which the scheduler gave it to the hardware; -1 if it never did
     * @param start the tick at which it started; -1 if it never did
     * @param end the tick at which it ended, well or not
     * @param lane the lane that it ran on; empty if it never ran
     * @param frontier the value of each timeline that happens before its end; empty if it was never issued; null if the frontiers before
     *     it have used up the room that a result has, 500,000 values
     * @param entries the same as the scheduler knows it: epochs of queues
     * @param isTainted whether the frontier has lost entries, for want of room
     * @param decisions about its waits
     * @param failure why it failed; null if it ended well
     * @param isHit whether a fault hit it, so that its failure is no consequence of another
     */
    public record OperationRun(
            Scenario.Operation operation,
            long issued,
            long start,
            long end,
            String lane,
            @Nullable Map<String, Long> frontier,
            Map<String, Long> entries,
            boolean isTainted,
            Decisions decisions,
            @Nullable String failure,
            boolean isHit) {}

    /**
     * The last state of a timeline.
     *
     * @param value how far it got
     * @param frontier what happens before that; null as above
     * @param failure why it failed; null if it did not
     */
    public record SemaphoreState(
            long value,
            @Nullable Map<String, Long> frontier,
            @Nullable String failure) {}

    /**
     * An allocation or a release.
     *
     * @param tick when
     * @param hardware the class of hardware
     * @param buffer the buffer
     * @param units its size; negative when it is freed
     * @param operation for or behind which
     * @param block where it is, and what that means for others
     */
    public record MemoryEvent(long tick, String hardware, String buffer, long units, String operation, Block block) {}

    /**
     * The place of a buffer in the memory of its hardware.
     *
     * @param slab number of the slab of the pool
     * @param offset units from the beginning of the slab
     * @param reuse of an allocation, why it could have the units; of a release, that they are {@link Reuse#FREED}
     * @param frontier of an allocation, the value of each timeline that its last users were behind; of a release, what must be over before
     *     the units are used again; null when the result has no more room for frontiers
     */
    public record Block(
            int slab, long offset, Reuse reuse, @Nullable Map<String, Long> frontier) {}

    /** Why memory could be allocated. */
    public enum Reuse {
        /** Nothing had used it before. */
        UNUSED,
        /** What had used it was over. */
        COMPLETED,
        /** The operation runs after what had used it. */
        KNOWN_BEFORE,
        /** The hardware waits for what had used it. */
        AFTER_WAIT,
        /** It was not allocated, but released. */
        FREED
    }

    /**
     * A queue of the scheduler.
     *
     * @param id its name in {@link OperationRun#entries}
     * @param hardware the class of hardware that it feeds
     * @param operations what it issued, by epoch from 1; {@link #MEMORY} for an allocation or a release
     */
    public record QueueUse(String id, String hardware, List<String> operations) {}

    /**
     * Returns the decisions about all waits.
     *
     * @return the sum
     */
    public Decisions decisions() {
        return operations.stream()
                .map(OperationRun::decisions)
                .reduce(new Decisions(0, 0, 0, 0, 0, 0), Decisions::plus);
    }

    /**
     * Returns whether every operation ended well.
     *
     * @return false if one failed
     */
    public boolean isRetired() {
        return operations.stream().allMatch(each -> each.failure() == null);
    }

    /**
     * Returns the result as JSON.
     *
     * @return an object with the keys that the page on the laboratory lists
     */
    public String toJson() {
        return ResultJson.write(this);
    }
}
