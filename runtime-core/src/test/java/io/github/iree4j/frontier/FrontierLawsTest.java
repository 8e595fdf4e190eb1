package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The algebraic laws, on random frontiers. A failure names the seed; {@code -Diree4j.test.seed} repeats a run. */
@Tag("long")
class FrontierLawsTest {
    private static final int ROUNDS = Effort.rounds(20_000, 2_000_000);
    private static final long SEED = Effort.seed(FrontierLawsTest.class, ROUNDS + " rounds of each law", 20260801);

    /** Far more than the number of axes: nothing is evicted. */
    private static final int ROOMY = 64;

    private static void forAll(String law, BiConsumer<RandomFrontiers, Random> check) {
        for (int round = 0; round < ROUNDS; round++) {
            long seed = SEED + round;
            Random random = new Random(seed * 0x9E37_79B9_7F4A_7C15L);
            try {
                check.accept(new RandomFrontiers(random, 1 + random.nextInt(16), 1 + random.nextInt(6)), random);
            } catch (Throwable e) {
                throw new AssertionError(law + " does not hold; run again with -Diree4j.test.seed=" + seed, e);
            }
        }
    }

    /** The component-wise maximum: the model of a lossless join. */
    private static Map<Long, Long> model(Frontier... frontiers) {
        Map<Long, Long> maximum = new HashMap<>();
        for (Frontier frontier : frontiers) {
            for (int i = 0; i < frontier.size(); i++) {
                maximum.merge(frontier.axis(i), frontier.epoch(i), Math::max);
            }
        }
        return maximum;
    }

    @Test
    void entriesAreSortedByAxisUnsigned() {
        forAll("order of entries", (frontiers, random) -> {
            Frontier frontier = frontiers.any(12);
            for (int i = 1; i < frontier.size(); i++) {
                assertThat(Axis.compare(frontier.axis(i - 1), frontier.axis(i))).isNegative();
            }
        });
    }

    @Test
    void mergeIsTheMaximumOfEachAxis() {
        forAll("merge", (frontiers, random) -> {
            Frontier left = frontiers.any(8);
            Frontier right = frontiers.any(8);
            Frontier join = left.merge(right, ROOMY);
            assertThat(model(join)).isEqualTo(model(left, right));
            assertThat(join.isTainted()).isEqualTo(left.isTainted() || right.isTainted());
            assertThat(join.hasProducer()).isFalse();
        });
    }

    /** Even when entries do not fit: the entries decide the survivors, not the order of joining. */
    @Test
    void mergeIsAssociativeCommutativeAndIdempotentAtAnyCapacity() {
        forAll("laws of merge", (frontiers, random) -> {
            int capacity = 1 + random.nextInt(6);
            Frontier a = frontiers.any(8);
            Frontier b = frontiers.any(8);
            Frontier c = frontiers.any(8);
            assertThat(a.merge(b, capacity)).isEqualTo(b.merge(a, capacity));
            assertThat(a.merge(b, capacity).merge(c, capacity))
                    .isEqualTo(a.merge(b.merge(c, capacity), capacity))
                    .isEqualTo(c.merge(a, capacity).merge(b, capacity));
            Frontier join = a.merge(b, capacity);
            assertThat(join.merge(join, capacity)).isEqualTo(join);
            assertThat(join.merge(a, capacity)).isEqualTo(join);
            assertThat(join.merge(Frontier.EMPTY, capacity)).isEqualTo(join);
        });
    }

    @Test
    void mergeKeepsTheGreatestEpochsAndIsTaintedExactlyWhenEntriesAreLost() {
        forAll("eviction", (frontiers, random) -> {
            int capacity = 1 + random.nextInt(6);
            Frontier left = frontiers.plain(8);
            Frontier right = frontiers.plain(8);
            Map<Long, Long> all = model(left, right);
            Frontier join = left.merge(right, capacity);
            Map<Long, Long> kept = model(join);
            assertThat(kept).hasSize(Math.min(capacity, all.size()));
            assertThat(join.isTainted()).isEqualTo(all.size() > capacity);
            long smallestKept =
                    kept.values().stream().mapToLong(Long::longValue).min().orElse(0);
            all.forEach((axis, epoch) -> {
                if (kept.containsKey(axis)) {
                    assertThat(kept.get(axis)).isEqualTo(epoch);
                } else {
                    assertThat(epoch).isLessThanOrEqualTo(smallestKept);
                }
            });
        });
    }

    @Test
    void taintOnlyEverSpreads() {
        forAll("monotone taint", (frontiers, random) -> {
            Frontier a = frontiers.any(8).tainted();
            Frontier b = frontiers.any(8);
            int capacity = 1 + random.nextInt(12);
            assertThat(a.merge(b, capacity).isTainted()).isTrue();
            assertThat(b.merge(a, capacity).merge(b, capacity).isTainted()).isTrue();
            assertThat(b.uncovered(a, CompletedEpochs.NONE).isTainted()).isTrue();
        });
    }

    @Test
    void dominanceIsAPartialOrderOnUntaintedFrontiersWithMergeAsJoin() {
        forAll("partial order", (frontiers, random) -> {
            Frontier a = frontiers.plain(4);
            Frontier b = frontiers.plain(4);
            Frontier c = frontiers.plain(4);
            assertThat(a.dominates(a)).isTrue();
            if (a.dominates(b) && b.dominates(a)) {
                assertThat(a).isEqualTo(b);
            }
            if (a.dominates(b) && b.dominates(c)) {
                assertThat(a.dominates(c)).isTrue();
            }
            Frontier join = a.merge(b, ROOMY);
            assertThat(join.dominates(a) && join.dominates(b)).isTrue();
            if (c.dominates(a) && c.dominates(b)) {
                assertThat(c.dominates(join)).isTrue();
            }
            boolean byTheBook =
                    model(b).entrySet().stream().allMatch(e -> model(a).getOrDefault(e.getKey(), 0L) >= e.getValue());
            assertThat(a.dominates(b)).isEqualTo(byTheBook);
        });
    }

    @Test
    void compareIsDominanceBothWays() {
        forAll("compare", (frontiers, random) -> {
            Frontier a = frontiers.any(4);
            Frontier b = random.nextBoolean() ? frontiers.any(4) : a.merge(frontiers.any(1), ROOMY);
            boolean after = a.dominates(b);
            boolean before = b.dominates(a);
            FrontierOrder expected = after
                    ? (before ? FrontierOrder.EQUAL : FrontierOrder.AFTER)
                    : before ? FrontierOrder.BEFORE : FrontierOrder.CONCURRENT;
            assertThat(a.compare(b)).isEqualTo(expected);
        });
    }

    @Test
    void uncoveredIsTheRestMissingForDominanceWhenNothingHasCompleted() {
        forAll("missing for dominance", (frontiers, random) -> {
            Frontier a = frontiers.any(8);
            Frontier b = frontiers.any(8);
            Frontier missing = a.uncovered(b, CompletedEpochs.NONE);
            Map<Long, Long> expected = model(b);
            expected.entrySet().removeIf(e -> a.reaches(e.getKey(), e.getValue()) == Known.YES);
            assertThat(model(missing)).isEqualTo(expected);
            assertThat(a.merge(missing, ROOMY).dominates(b)).isEqualTo(!b.isTainted());
        });
    }

    @Test
    void taintedRightSideIsNeverDominated() {
        assertThat(violations(Frontier::dominates))
                .as("dominated tainted frontiers")
                .isZero();
    }

    /**
     * A mutant: dominance with a comparison of entries and without regard for taint. The law above must catch this
     * mistake.
     */
    @Test
    void lawOfTheTaintedRightSideCatchesDominanceWithoutTaint() {
        assertThat(violations((left, right) -> left.dominatesEntries(right))).isPositive();
    }

    /** The number of random pairs with a tainted right side that the predicate calls dominated. */
    private static int violations(Dominance dominance) {
        int[] violations = {0};
        forAll("taint", (frontiers, random) -> {
            Frontier right = frontiers.any(3).tainted();
            Frontier left = right.merge(frontiers.any(8), ROOMY);
            if (dominance.test(left, right)) {
                violations[0]++;
            }
        });
        return violations[0];
    }

    @FunctionalInterface
    private interface Dominance {
        boolean test(Frontier left, Frontier right);
    }

    @Test
    void wireFormRoundTrips() {
        forAll("wire form", (frontiers, random) -> {
            Frontier frontier = frontiers.any(random.nextInt(16));
            java.nio.ByteBuffer bytes = java.nio.ByteBuffer.allocate(FrontierCodec.encodedSize(frontier));
            FrontierCodec.encode(frontier, bytes);
            assertThat(bytes.hasRemaining()).isFalse();
            assertThat(FrontierCodec.decode(bytes.flip())).isEqualTo(frontier);
        });
    }

    /** A reused builder agrees with joining from scratch. */
    @Test
    void buildingAgreesWithMergingSnapshots() {
        forAll("gathering", (frontiers, random) -> {
            int capacity = 1 + random.nextInt(8);
            MutableFrontier gathered = new MutableFrontier(capacity);
            Frontier expected = Frontier.EMPTY;
            List<Frontier> snapshots = new ArrayList<>();
            List<String> texts = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Frontier next = frontiers.any(4);
                gathered.merge(next);
                expected = expected.merge(next, capacity);
                assertThat(gathered.snapshot()).isEqualTo(expected);
                snapshots.add(gathered.snapshot());
                texts.add(expected.toString());
            }
            assertThat(snapshots).extracting(Frontier::toString).isEqualTo(texts);
        });
    }
}
