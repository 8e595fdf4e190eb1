package io.github.iree4j.lab;

import io.github.iree4j.hal.schedule.WaitDecision;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of a run. Immutable.
 *
 * @param scenario the scenario run, scaled
 * @param finalTick the tick after the tick in which the last operation ended
 * @param operations in the order of definition
 * @param semaphores by name, in the order of definition
 * @param queues the queues of the scheduler used by the operations
 * @param memory the allocations and releases, in the order of time
 * @param nativeWaits waits performed by the hardware
 * @param points places on a queue waited for by another queue
 * @param rejections the rejected verifications and their drafts
 * @param violations the violated rules; empty unless there is a bug
 * @param collateral operations that failed without following a failed operation: another operation failed the awaited
 *     timeline before the timeline reached the awaited value
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
        List<Rejected> rejections,
        List<String> violations,
        List<String> collateral) {
    /** Represents an allocation or a release among the operations of a queue. */
    public static final String MEMORY = "(memory)";

    /** Copies the parts. */
    public LabResult {
        operations = List.copyOf(operations);
        queues = List.copyOf(queues);
        memory = List.copyOf(memory);
        rejections = List.copyOf(rejections);
        violations = List.copyOf(violations);
        collateral = List.copyOf(collateral);
    }

    /**
     * The scheduler's decisions about the waits of an operation: at submission, but with waits on the device decided again
     * once an operation held back for another wait resumes.
     *
     * @param reached ended already
     * @param elidedFifo implied by the order of the queue
     * @param elidedFrontier implied by the points awaited by the queue anyway
     * @param covered implied by another wait of the operation
     * @param deviceWaits performed by the hardware
     * @param deferred held back by the host
     */
    public record Decisions(
            long reached, long elidedFifo, long elidedFrontier, long covered, long deviceWaits, long deferred) {
        /** Counts decisions. */
        static Decisions of(List<WaitDecision> all) {
            long[] counts = new long[WaitDecision.values().length];
            all.forEach(each -> counts[each.ordinal()]++);
            return new Decisions(
                    counts[WaitDecision.REACHED.ordinal()],
                    counts[WaitDecision.ELIDED_FIFO.ordinal()],
                    counts[WaitDecision.ELIDED_FRONTIER.ordinal()],
                    counts[WaitDecision.COVERED.ordinal()],
                    counts[WaitDecision.DEVICE_WAIT.ordinal()],
                    counts[WaitDecision.DEFERRED_UNKNOWN.ordinal()]
                            + counts[WaitDecision.DEFERRED_UNREACHED.ordinal()]);
        }

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
     * The outcome of an operation.
     *
     * @param operation the operation
     * @param issued the tick at which the scheduler gave the operation to the hardware; -1 for never
     * @param start the tick of the start; -1 for never
     * @param end the tick of the end, successful or not
     * @param lane the lane running the operation; empty if the operation never ran
     * @param frontier the value of each timeline happening before the end; empty if the operation was never issued;
     *     null if earlier frontiers have used up the room of a result, 500,000 values
     * @param entries the frontier as known by the scheduler: epochs of queues
     * @param isTainted whether the frontier has lost entries, for lack of room
     * @param decisions about the waits
     * @param waits the decision about the wait for each timeline, also of allocations; empty if the operation was refused
     * @param failure the cause of the failure; null on success
     * @param isHit whether a fault hit the operation: the failure is then no consequence of another
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
            Map<String, WaitDecision> waits,
            @Nullable String failure,
            boolean isHit) {}

    /**
     * The last state of a timeline.
     *
     * @param value the value reached
     * @param frontier the history before this value; null as above
     * @param failure the cause of the failure; null without failure
     */
    public record SemaphoreState(
            long value,
            @Nullable Map<String, Long> frontier,
            @Nullable String failure) {}

    /**
     * An allocation or a release.
     *
     * @param tick the time
     * @param hardware the class of hardware
     * @param buffer the buffer
     * @param units the size; negative for a release
     * @param operation the operation before or behind which the event happens
     * @param block the place of the buffer, and the consequences for other operations
     */
    public record MemoryEvent(long tick, String hardware, String buffer, long units, String operation, Block block) {}

    /**
     * The place of a buffer in the memory of its hardware.
     *
     * @param slab number of the slab of the pool
     * @param offset units from the beginning of the slab
     * @param reuse of an allocation, why the units were available; of a release, {@link Reuse#FREED}
     * @param frontier of an allocation, the value of each timeline that the last users were behind; of a release, the
     *     work to end before the units are used again; null when the result has no more room for frontiers
     */
    public record Block(
            int slab, long offset, Reuse reuse, @Nullable Map<String, Long> frontier) {}

    /** The reasons why memory could be allocated. */
    public enum Reuse {
        /** Nothing had used the memory before. */
        UNUSED,
        /** The last users had ended. */
        COMPLETED,
        /** The operation runs after the last users. */
        KNOWN_BEFORE,
        /** The hardware waits for the last users. */
        AFTER_WAIT,
        /** The memory was released, not allocated. */
        FREED
    }

    /**
     * A queue of the scheduler.
     *
     * @param id the name in {@link OperationRun#entries}
     * @param hardware the class of hardware served
     * @param operations the issued operations, by epoch from 1; {@link #MEMORY} for an allocation or a release
     */
    public record QueueUse(String id, String hardware, List<String> operations) {}

    /**
     * A rejected draft.
     *
     * @param verification the operation that found the draft wrong
     * @param draft the operation whose result was wrong
     */
    public record Rejected(String verification, String draft) {}

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
     * @return false if any operation failed
     */
    public boolean isRetired() {
        return operations.stream().allMatch(each -> each.failure() == null);
    }

    /**
     * Returns the result as JSON.
     *
     * @return an object with the keys listed on the page about the laboratory
     */
    public String toJson() {
        return ResultJson.write(this);
    }
}
