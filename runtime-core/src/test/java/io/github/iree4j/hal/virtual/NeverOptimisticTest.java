package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.virtual.RandomProgram.Options;
import io.github.iree4j.hal.virtual.RandomProgram.Point;
import io.github.iree4j.hal.virtual.RandomProgram.Step;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The scheduler never claims more than is true: random programs, and for each frontier and each wait the question whether "happens
 * before", by reachability, agrees.
 *
 * <p>Before the end of an operation come, of a stream, the end of the one before it; on an unordered queue the completion of the one
 * before it (epochs are handed out at completion); the end of whoever signals a point that it waits for; and the end of what the host
 * knew to be over when it issued the operation.
 */
class NeverOptimisticTest {
    private static final int PROGRAMS = "long".equals(System.getProperty("iree4j.test.effort")) ? 100_000 : 4_000;

    private final long[] decisions = new long[6];
    private int tight;

    @Test
    void everyClaimOfAFrontierAndEveryElidedWaitIsTrue() {
        long base = System.nanoTime();
        for (int i = 0; i < PROGRAMS; i++) {
            check(base + i, false);
        }
        assertThat(decisions)
                .as("each way to resolve a wait was taken, seeds from %d", base)
                .doesNotContain(0);
        assertThat(tight).as("programs checked for tightness").isGreaterThan(PROGRAMS / 20);
    }

    @Test
    void theCheckerSeesAWaitThatWasForgotten() {
        int seen = 0;
        for (int i = 0; i < 300; i++) {
            try {
                check(i, true);
            } catch (AssertionError e) {
                seen++;
            }
        }
        assertThat(seen).as("programs of 300 with a wait less than declared").isGreaterThan(30);
    }

    private void check(long seed, boolean sabotaged) {
        // Seeds in a row give a Random its first numbers in a row too; these have nothing to do with one another.
        Random random = new Random(new SplittableRandom(seed).nextLong());
        int[] capacities = {1, 2, 3, 4, 12, 64, 64, 64};
        Options options = new Options(
                capacities[random.nextInt(capacities.length)],
                random.nextBoolean() ? 1 + random.nextInt(4) : 64,
                random.nextInt(3) == 0,
                random.nextInt(3) == 0,
                sabotaged);
        try (RandomProgram program = new RandomProgram(random.nextLong(), options, 5 + random.nextInt(40))) {
            new Truth(program).check();
            long[] these = program.decisions();
            for (int d = 0; d < these.length; d++) {
                decisions[d] += these[d];
            }
            if (options.capacity() == 64 && options.history() == 64 && !options.external() && !options.failures()) {
                tight++;
            }
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("seed " + seed + ", " + options + ": " + e.getMessage(), e);
        }
    }

    /** Happens-before of one program that has run. */
    private static final class Truth {
        private final RandomProgram program;
        private final List<Step> ran = new ArrayList<>();
        private final Map<Long, TreeMap<Long, Step>> byAxis = new HashMap<>();
        /** What happens before each operation's end: ends of operations by index. */
        private final BitSet[] beforeEnd;

        private final BitSet open = new BitSet(); // being looked at
        /** The same without what the host happened to know. */
        private final BitSet[] declaredBeforeEnd;

        Truth(RandomProgram program) {
            this.program = program;
            int count = program.steps.size();
            beforeEnd = new BitSet[count];
            declaredBeforeEnd = new BitSet[count];
            for (Step step : program.steps) {
                if (step.ran()) {
                    ran.add(step);
                    byAxis.computeIfAbsent(step.axis(), axis -> new TreeMap<>()).put(step.epoch(), step);
                }
            }
        }

        void check() {
            checkOutcomes();
            checkWaits();
            close();
            for (Step step : ran) {
                checkClaims(step);
                if (isTight()) {
                    checkTightness(step);
                }
            }
        }

        /** Everything ended; failures are those of what was waited for, or own ones. */
        private void checkOutcomes() {
            for (Step step : program.steps) {
                IreeException outcome = step.own.failure();
                if (outcome == null && !step.own.isReached(1)) {
                    fail("never ended: " + step);
                }
                List<IreeException> causes = new ArrayList<>();
                boolean waitFailed = false;
                for (Point wait : step.waits) {
                    TimelineSemaphore timeline = program.timelines.get(wait.timeline());
                    if (timeline.failure() != null) {
                        causes.add(timeline.failure());
                        waitFailed |= timeline.value() < wait.value();
                    }
                }
                if (step.failure != null && step.ran()) {
                    causes.add(step.failure);
                }
                if (waitFailed && outcome == null) {
                    fail("a wait failed and it did not: " + step);
                }
                if (step.ran() && step.failure != null && outcome == null) {
                    fail("failed and did not tell: " + step);
                }
                if (outcome != null && causes.stream().noneMatch(cause -> cause == outcome)) {
                    fail("failed for no cause of its own or of its waits (" + outcome + "): " + step);
                }
            }
        }

        /** Nothing started before what it waited for had ended. */
        private void checkWaits() {
            for (Step step : ran) {
                if (step.epoch() == 0) {
                    fail("ran without an epoch: " + step);
                }
                for (Point wait : step.waits) {
                    if (!endedBefore(wait, step.started)) {
                        fail("started before " + wait + " was reached: " + step);
                    }
                }
            }
        }

        private boolean endedBefore(Point wait, long started) {
            for (Step other : program.steps) {
                for (Point signal : other.signals) {
                    if (signal.timeline() == wait.timeline()
                            && signal.value() >= wait.value()
                            && other.ran()
                            && other.ended < started) {
                        return true;
                    }
                }
            }
            for (Map.Entry<Point, Long> each : program.outside.entrySet()) {
                if (each.getKey().timeline() == wait.timeline()
                        && each.getKey().value() >= wait.value()
                        && each.getValue() < started) {
                    return true;
                }
            }
            return false;
        }

        private void close() {
            for (Step step : ran) {
                beforeEnd(step);
            }
        }

        private BitSet beforeEnd(Step step) {
            BitSet known = beforeEnd[step.index];
            if (known != null) {
                return known;
            }
            if (open.get(step.index)) {
                throw new AssertionError("happens before itself: " + step);
            }
            open.set(step.index);
            BitSet declared = new BitSet();
            BitSet all = new BitSet();
            Map.Entry<Long, Step> previous = byAxis.get(step.axis()).lowerEntry(step.epoch());
            if (previous != null) {
                add(all, beforeEnd(previous.getValue()), previous.getValue());
                if (step.isFifo()) {
                    add(declared, declaredBeforeEnd[previous.getValue().index], previous.getValue());
                }
            }
            for (Point wait : step.waits) {
                Step producer = firstAtOrAbove(wait);
                if (producer != null) {
                    add(all, beforeEnd(producer), producer);
                    add(declared, declaredBeforeEnd[producer.index], producer);
                }
            }
            for (Step other : ran) {
                if (other.completedBy > 0 && other.completedBy <= step.knewBy && other.ended < step.started) {
                    add(all, beforeEnd(other), other);
                }
            }
            declaredBeforeEnd[step.index] = declared;
            beforeEnd[step.index] = all;
            return all;
        }

        private static void add(BitSet target, BitSet before, Step other) {
            target.or(before);
            target.set(other.index);
        }

        /** Who reaches the point: the smallest value at or above it that an operation that ran signals. */
        private @Nullable Step firstAtOrAbove(Point wait) {
            Step first = null;
            long smallest = Long.MAX_VALUE;
            for (Step other : ran) {
                for (Point signal : other.signals) {
                    if (signal.timeline() == wait.timeline()
                            && signal.value() >= wait.value()
                            && signal.value() < smallest) {
                        smallest = signal.value();
                        first = other;
                    }
                }
            }
            for (Point point : program.outside.keySet()) {
                if (point.timeline() == wait.timeline() && point.value() >= wait.value() && point.value() < smallest) {
                    return null;
                }
            }
            return first;
        }

        /** Everything that the frontier asserts happens before the operation's end. */
        private void checkClaims(Step step) {
            for (int i = 0; i < step.frontier.size(); i++) {
                TreeMap<Long, Step> timeline = byAxis.get(step.frontier.axis(i));
                long epoch = step.frontier.epoch(i);
                if (timeline == null || timeline.lastKey() < epoch) {
                    fail("claims epoch %d of an axis that is not so far: %s".formatted(epoch, step));
                    return;
                }
                for (Step claimed : timeline.headMap(epoch, true).values()) {
                    if (claimed != step && !beforeEnd[step.index].get(claimed.index)) {
                        fail("%s%n  claims to run after%n  %s".formatted(step, claimed));
                    }
                }
            }
        }

        /** Whether it was over, as far as the host could tell by then: it, or something that runs after it, had completed. */
        private boolean isKnownToBeOver(Step step, int action) {
            for (Step other : ran) {
                if (other.completedBy > 0
                        && other.completedBy <= action
                        && (other == step || beforeEnd[other.index].get(step.index))) {
                    return true;
                }
            }
            return false;
        }

        private boolean isTight() {
            return program.options.capacity() == 64
                    && program.options.history() == 64
                    && !program.options.external()
                    && !program.options.failures();
        }

        /** With room for everything the frontier knows all that was not over already. */
        private void checkTightness(Step step) {
            if (step.frontier.isTainted()) {
                fail("tainted without reason: " + step);
            }
            BitSet declared = declaredBeforeEnd[step.index];
            for (int other = declared.nextSetBit(0); other >= 0; other = declared.nextSetBit(other + 1)) {
                Step before = program.steps.get(other);
                if (!step.frontier.reaches(before.axis(), before.epoch()) && !isKnownToBeOver(before, step.knewBy)) {
                    fail("%s%n  does not know that it runs after%n  %s".formatted(step, before));
                }
            }
            // And no axis that neither dependencies nor completion explain; epochs are explained by checkClaims.
            for (int i = 0; i < step.frontier.size(); i++) {
                Step claimed = byAxis.get(step.frontier.axis(i)).get(step.frontier.epoch(i));
                if (claimed != step && !declared.get(claimed.index) && step.isFifo()) {
                    fail("%s%n  knows without a dependency%n  %s".formatted(step, claimed));
                }
            }
        }
    }
}
