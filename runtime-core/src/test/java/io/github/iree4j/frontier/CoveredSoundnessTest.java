package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Checks the claims of frontiers against the truth. Random programs run on a few queues of both kinds, with far too
 * little capacity and with external signals; the truth is reachability in the happens-before graph. A frontier that
 * claims everything of another point as earlier or complete must be right.
 */
@Tag("long")
class CoveredSoundnessTest {
    private static final int PROGRAMS = Effort.rounds(3_000, 100_000);
    private static final int OPERATIONS = 60;

    /** An operation: the queue, the operations before (itself included), and the frontier. */
    private static final class Operation {
        final int id;
        final BitSet before = new BitSet();
        final int queue;
        boolean retired;
        long epoch;
        Frontier frontier = Frontier.EMPTY;
        List<Operation> waits = List.of();

        Operation(int id, int queue) {
            this.id = id;
            this.queue = queue;
        }
    }

    private enum Mutant {
        NONE,
        /** Treats the remaining entries of a tainted death frontier as complete. */
        IGNORES_TAINT,
        /** Ignores axes not mentioned by the requester. */
        IGNORES_ABSENT_AXES
    }

    /** The counts of a run. */
    private record Tally(int wrong, int incomplete, int covered, int tainted) {}

    @Test
    void coveredFrontiersAreSoundAndUntaintedFrontiersComplete() {
        int covered = 0;
        int tainted = 0;
        long base = Effort.seed(CoveredSoundnessTest.class, PROGRAMS + " programs", 20260802);
        for (int i = 0; i < PROGRAMS; i++) {
            long seed = base + i;
            Tally tally = run(seed, Mutant.NONE);
            assertThat(tally.wrong)
                    .as("wrong claims; run again with -Diree4j.test.seed=" + seed)
                    .isZero();
            assertThat(tally.incomplete)
                    .as("incomplete untainted frontiers; run again with -Diree4j.test.seed=" + seed)
                    .isZero();
            covered += tally.covered;
            tainted += tally.tainted;
        }
        assertThat(covered)
                .as("number of claims, for the check above not to be vacuous")
                .isGreaterThan(PROGRAMS);
        assertThat(tainted).as("frontiers that were tainted").isGreaterThan(PROGRAMS);
    }

    @Test
    void theModelCatchesACheckIgnoringTaint() {
        assertThat(firstWrong(Mutant.IGNORES_TAINT)).isLessThan(PROGRAMS);
    }

    @Test
    void theModelCatchesACheckIgnoringAbsentAxes() {
        assertThat(firstWrong(Mutant.IGNORES_ABSENT_AXES)).isLessThan(PROGRAMS);
    }

    private static int firstWrong(Mutant mutant) {
        int program = 0;
        while (program < PROGRAMS && run(20260802 + program, mutant).wrong == 0) {
            program++;
        }
        return program;
    }

    private static Tally run(long seed, Mutant mutant) {
        Random random = new Random(seed * 0x9E37_79B9_7F4A_7C15L);
        int queues = 2 + random.nextInt(7);
        int capacity = 1 + random.nextInt(queues + 2);
        AxisAllocator allocator = AxisAllocator.create(1, 0);
        long[] axes = new long[queues];
        boolean[] fifo = new boolean[queues];
        FrontierAccumulator[] accumulators = new FrontierAccumulator[queues];
        Map<Long, Long> completedEpochs = new HashMap<>();
        CompletedEpochs completed = axis -> completedEpochs.getOrDefault(axis, 0L);
        for (int q = 0; q < queues; q++) {
            axes[q] = allocator.allocate(CausalDomain.QUEUE);
            fifo[q] = random.nextBoolean();
            accumulators[q] = new FrontierAccumulator(axes[q], capacity);
        }
        List<Operation> issued = new ArrayList<>(); // operations with a frontier
        List<Operation> pending =
                new ArrayList<>(); // issued to a FIFO queue or submitted to an unordered queue, not retired
        BitSet retired = new BitSet();
        long[] nextEpoch = new long[queues];
        BitSet[] behind = new BitSet[queues]; // on a FIFO queue: everything before the next operation
        for (int q = 0; q < queues; q++) {
            behind[q] = new BitSet();
        }
        int wrong = 0;
        int incomplete = 0;
        int covered = 0;
        int tainted = 0;
        for (int step = 0; step < OPERATIONS || !pending.isEmpty(); step++) {
            if (step < OPERATIONS && random.nextInt(3) != 0) {
                Operation operation = new Operation(step, random.nextInt(queues));
                List<Operation> waits = new ArrayList<>();
                for (int w = random.nextInt(4); w > 0 && !issued.isEmpty(); w--) {
                    waits.add(issued.get(random.nextInt(issued.size())));
                }
                operation.waits = waits;
                operation.before.set(operation.id);
                waits.forEach(wait -> operation.before.or(wait.before));
                if (fifo[operation.queue]) {
                    FrontierAccumulator accumulator = accumulators[operation.queue];
                    operation.before.or(behind[operation.queue]);
                    behind[operation.queue].or(operation.before);
                    waits.forEach(wait -> accumulator.join(wait.frontier, completed));
                    if (random.nextInt(8) == 0) {
                        accumulator.join(Frontier.UNKNOWN, completed); // an external signal
                    }
                    operation.epoch = ++nextEpoch[operation.queue];
                    operation.frontier = accumulator.issue(operation.epoch, completed);
                    incomplete += isComplete(operation, issued, axes) ? 0 : 1;
                    issued.add(operation);
                }
                pending.add(operation);
            } else if (!pending.isEmpty()) {
                retireOne(random, pending, fifo, operation -> {
                    if (!fifo[operation.queue]) {
                        MutableFrontier gathered = new MutableFrontier(capacity);
                        operation.waits.forEach(wait -> gathered.merge(wait.frontier, completed));
                        operation.epoch = ++nextEpoch[operation.queue];
                        operation.frontier = gathered.produce(axes[operation.queue], operation.epoch, completed);
                        issued.add(operation);
                    }
                    operation.retired = true;
                    retired.set(operation.id);
                    completedEpochs.put(axes[operation.queue], operation.epoch);
                });
            }
            for (int check = 0; check < 4 && !issued.isEmpty(); check++) {
                Operation requester = issued.get(random.nextInt(issued.size()));
                Operation freed = issued.get(random.nextInt(issued.size()));
                Frontier death = freed.frontier;
                BitSet missing = (BitSet) freed.before.clone();
                if (random.nextBoolean()) { // two blocks freed separately and joined since
                    Operation neighbour = issued.get(random.nextInt(issued.size()));
                    death = death.merge(neighbour.frontier, capacity);
                    missing.or(neighbour.before);
                }
                tainted += death.isTainted() ? 1 : 0;
                if (covers(mutant, requester.frontier, death, completed)) {
                    covered++;
                    missing.andNot(requester.before);
                    missing.andNot(retired);
                    wrong += missing.isEmpty() ? 0 : 1;
                }
            }
        }
        return new Tally(wrong, incomplete, covered, tainted);
    }

    /** Whether a frontier denies no unretired operation before its own. */
    private static boolean isComplete(Operation operation, List<Operation> issued, long[] axes) {
        return issued.stream()
                .filter(other -> !other.retired && operation.before.get(other.id))
                .noneMatch(other -> operation.frontier.reaches(axes[other.queue], other.epoch) == Known.NO);
    }

    private static boolean covers(Mutant mutant, Frontier left, Frontier right, CompletedEpochs completed) {
        return switch (mutant) {
            case NONE -> left.covers(right, completed);
            case IGNORES_TAINT -> left.dominatesEntries(right) || left.covers(right, completed);
            case IGNORES_ABSENT_AXES ->
                left.covers(right, axis -> left.epochOf(axis) == 0 ? Long.MAX_VALUE : completed.completed(axis));
        };
    }

    /** Retires an operation with retired waits; on a FIFO queue the oldest. */
    private static void retireOne(
            Random random, List<Operation> pending, boolean[] fifo, java.util.function.Consumer<Operation> retire) {
        int from = random.nextInt(pending.size());
        for (int i = 0; i < pending.size(); i++) {
            Operation candidate = pending.get((from + i) % pending.size());
            boolean first = !fifo[candidate.queue]
                    || pending.stream()
                                    .filter(o -> o.queue == candidate.queue)
                                    .findFirst()
                                    .orElseThrow()
                            == candidate;
            if (first && candidate.waits.stream().allMatch(wait -> wait.retired)) {
                pending.remove(candidate);
                retire.accept(candidate);
                return;
            }
        }
        throw new AssertionError("nothing can retire");
    }
}
