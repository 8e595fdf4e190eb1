package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;

class FrontierTest {
    private static final long A = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final long B = Axis.of(1, 0, CausalDomain.QUEUE, 1);
    private static final long C = Axis.of(1, 0, CausalDomain.COLLECTIVE, 0);
    private static final long FAR = Axis.of(200, 3, CausalDomain.QUEUE, 1L << 35);

    private static Frontier frontier(long... axesAndEpochs) {
        MutableFrontier gathered = new MutableFrontier(64);
        for (int i = 0; i < axesAndEpochs.length; i += 2) {
            gathered.insertOrRaise(axesAndEpochs[i], axesAndEpochs[i + 1], CompletedEpochs.NONE);
        }
        return gathered.snapshot();
    }

    @Test
    void mergesTheExamplesOfTheDesign() {
        assertThat(frontier(A, 5, B, 3).merge(frontier(A, 2, B, 7, C, 4))).isEqualTo(frontier(A, 5, B, 7, C, 4));
        assertThat(frontier(A, 5, B, 7, C, 4).dominates(frontier(A, 3, B, 7))).isTrue();
        assertThat(frontier(A, 5, B, 7).dominates(frontier(A, 3, C, 4))).isFalse();
        assertThat(frontier(A, 5, B, 3).insertOrRaise(C, 4)).isEqualTo(frontier(A, 5, B, 3, C, 4));
        assertThat(frontier(A, 5, B, 3).insertOrRaise(A, 8)).isEqualTo(frontier(A, 8, B, 3));
        assertThat(frontier(A, 5, B, 3).insertOrRaise(A, 2)).isEqualTo(frontier(A, 5, B, 3));
    }

    @Test
    void comparesInAllFourWays() {
        assertThat(Frontier.EMPTY.compare(Frontier.EMPTY)).isEqualTo(FrontierOrder.EQUAL);
        assertThat(Frontier.EMPTY.compare(frontier(A, 1))).isEqualTo(FrontierOrder.BEFORE);
        assertThat(frontier(A, 2, B, 2).compare(frontier(A, 2, B, 1))).isEqualTo(FrontierOrder.AFTER);
        assertThat(frontier(A, 2, B, 1).compare(frontier(A, 1, B, 2))).isEqualTo(FrontierOrder.CONCURRENT);
        assertThat(frontier(A, 1).compare(frontier(B, 1))).isEqualTo(FrontierOrder.CONCURRENT);
        assertThat(frontier(A, 1, FAR, 1).compare(frontier(A, 1))).isEqualTo(FrontierOrder.AFTER);
    }

    @Test
    void taintedFrontierKnowsLessAndIsNeverProved() {
        Frontier clean = frontier(A, 5);
        Frontier tainted = clean.tainted();
        assertThat(tainted.dominates(clean)).isTrue();
        assertThat(clean.dominates(tainted)).isFalse();
        assertThat(tainted.dominates(tainted)).isFalse();
        assertThat(tainted.compare(clean)).isEqualTo(FrontierOrder.AFTER);
        assertThat(clean.compare(tainted)).isEqualTo(FrontierOrder.BEFORE);
        assertThat(tainted.compare(tainted)).isEqualTo(FrontierOrder.CONCURRENT);
        assertThat(Frontier.EMPTY.dominates(Frontier.UNKNOWN)).isFalse();
        assertThat(Frontier.EMPTY.tainted()).isSameAs(Frontier.UNKNOWN);
    }

    @Test
    void coveredByKnowledgeOrByCompletionEntryByEntry() {
        Frontier requester = frontier(A, 5);
        Frontier death = frontier(A, 4, B, 7);
        assertThat(requester.covers(death, CompletedEpochs.NONE)).isFalse();
        assertThat(requester.covers(death, axis -> axis == B ? 6 : 0)).isFalse();
        assertThat(requester.covers(death, axis -> axis == B ? 7 : 0)).isTrue();
        assertThat(Frontier.EMPTY.covers(death, axis -> axis == B ? 7 : 0)).isFalse();
        assertThat(Frontier.EMPTY.covers(death, axis -> axis == B ? 7 : 4)).isTrue();
    }

    @Test
    void absentAxisProvesNothing() {
        assertThat(frontier(A, 100).covers(frontier(B, 1), CompletedEpochs.NONE))
                .isFalse();
    }

    @Test
    void completedProducerEndsTaintAndCoversLostEntries() {
        MutableFrontier gathered = new MutableFrontier(2);
        gathered.merge(frontier(A, 5, C, 9));
        Frontier death = gathered.produce(B, 7, CompletedEpochs.NONE);
        assertThat(death).hasToString("{queue:1@m0.s1=7*, collective:0@m0.s1=9} tainted");
        assertThat(death.producerAxis()).isEqualTo(B);
        assertThat(death.producerEpoch()).isEqualTo(7);
        Frontier knowsAll = frontier(A, 5, B, 7, C, 9);
        assertThat(knowsAll.covers(death, axis -> axis == B ? 6 : 100)).isFalse();
        assertThat(Frontier.EMPTY.covers(death, axis -> axis == B ? 7 : 0)).isTrue();
        assertThat(death.isCompleted(axis -> axis == B ? 7 : 0)).isTrue();
        assertThat(Frontier.EMPTY.uncovered(death, axis -> axis == B ? 7 : 0)).isEqualTo(Frontier.EMPTY);
        assertThat(frontier(C, 9).uncovered(death, CompletedEpochs.NONE))
                .isEqualTo(frontier(B, 7).tainted());
    }

    @Test
    void taintWithoutProducerNeverCompletes() {
        assertThat(frontier(A, 1).tainted().isCompleted(axis -> Long.MAX_VALUE)).isFalse();
        assertThat(Frontier.UNKNOWN.isCompleted(axis -> Long.MAX_VALUE)).isFalse();
        assertThat(frontier(A, 1, B, 2).isCompleted(axis -> 1)).isFalse();
        assertThat(frontier(A, 1, B, 2).isCompleted(axis -> 2)).isTrue();
        assertThat(Frontier.EMPTY.isCompleted(CompletedEpochs.NONE)).isTrue();
    }

    @Test
    void fullFrontierEvictsTheSmallestEpochAndIsTainted() {
        Frontier full = Frontier.EMPTY;
        for (int i = 0; i < Frontier.DEFAULT_CAPACITY; i++) {
            full = full.insertOrRaise(Axis.of(1, 0, CausalDomain.HOST, i), 10 + i);
        }
        assertThat(full.isTainted()).isFalse();
        Frontier more = full.insertOrRaise(A, 50);
        assertThat(more.size()).isEqualTo(12);
        assertThat(more.isTainted()).isTrue();
        assertThat(more.epochOf(A)).isEqualTo(50);
        assertThat(more.epochOf(Axis.of(1, 0, CausalDomain.HOST, 0))).isZero();
        assertThat(more.epochOf(Axis.of(1, 0, CausalDomain.HOST, 1))).isEqualTo(11);
    }

    @Test
    void anAbsentEntryDisprovesOnlyIfNoneWasLost() {
        Frontier whole = frontier(A, 5, B, 6);
        assertThat(whole.reaches(A, 5)).isEqualTo(Known.YES);
        assertThat(whole.reaches(A, 6)).isEqualTo(Known.NO);
        assertThat(whole.reaches(FAR, 1)).isEqualTo(Known.NO);
        assertThat(whole.tainted().reaches(A, 5)).isEqualTo(Known.YES);
        assertThat(whole.tainted().reaches(A, 6)).isEqualTo(Known.UNKNOWN);
        assertThat(whole.merge(frontier(FAR, 7), 2).reaches(A, 5)).isEqualTo(Known.UNKNOWN);
        assertThat(Frontier.UNKNOWN.reaches(A, 1)).isEqualTo(Known.UNKNOWN);
        assertThat(Frontier.EMPTY.reaches(A, 1)).isEqualTo(Known.NO);
    }

    @Test
    void narrowAndWideFrontiersMeet() {
        Frontier wide = frontier(FAR, 3, A, 5);
        assertThat(wide.axis(0)).isEqualTo(A);
        assertThat(wide.epochOf(FAR)).isEqualTo(3);
        assertThat(wide.epochOf(B)).isZero();
        assertThat(wide.dominates(frontier(A, 5))).isTrue();
        assertThat(frontier(A, 5).dominates(wide)).isFalse();
        assertThat(frontier(A, 5).epochOf(FAR)).isZero();
        assertThat(wide.uncovered(frontier(A, 6, B, 1), CompletedEpochs.NONE)).isEqualTo(frontier(A, 6, B, 1));
        assertThat(frontier(A, 5).uncovered(wide, CompletedEpochs.NONE)).isEqualTo(frontier(FAR, 3));
        assertThat(wide.compare(frontier(FAR, 3, A, 5))).isEqualTo(FrontierOrder.EQUAL);
        assertThat(wide).isEqualTo(frontier(FAR, 3, A, 5)).hasSameHashCodeAs(frontier(FAR, 3, A, 5));
    }

    @Test
    void snapshotDoesNotChangeWithLaterJoins() {
        MutableFrontier gathered = new MutableFrontier();
        gathered.insertOrRaise(A, 1, CompletedEpochs.NONE);
        Frontier before = gathered.snapshot();
        gathered.insertOrRaise(A, 2, CompletedEpochs.NONE);
        gathered.insertOrRaise(B, 1, CompletedEpochs.NONE);
        gathered.prune(axis -> axis == A ? 2 : 0);
        assertThat(before).isEqualTo(frontier(A, 1));
        assertThat(gathered.snapshot()).isEqualTo(frontier(B, 1));
        gathered.clear();
        assertThat(gathered.snapshot()).isEqualTo(Frontier.EMPTY);
    }

    @Test
    void ownEpochBelowADependencyIsRefused() {
        MutableFrontier gathered = new MutableFrontier();
        gathered.insertOrRaise(A, 5, CompletedEpochs.NONE);
        assertThatThrownBy(() -> gathered.produce(A, 4, CompletedEpochs.NONE))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessage("epoch 4 of axis 'queue:0@m0.s1' is below 5, which the operation depends on");
    }

    @Test
    void entriesNeedAnAxisAndAPositiveEpoch() {
        assertInvalid(() -> Frontier.of(A, 0), "epoch 0 of axis 'queue:0@m0.s1' is not above 0");
        assertInvalid(() -> Frontier.of(A, -1), "epoch -1 of axis 'queue:0@m0.s1' is not above 0");
        assertInvalid(() -> Frontier.of(Axis.NONE, 1), "0x0 is not an axis");
        assertInvalid(() -> frontier(A, 1, A, 0), "epoch 0 of axis");
        assertInvalid(() -> new MutableFrontier(0), "frontier capacity 0 is not within [1, 255]");
        assertInvalid(() -> Frontier.EMPTY.merge(Frontier.EMPTY, 256), "frontier capacity 256 is not within [1, 255]");
    }

    @Test
    void completedProducerProvesEverythingEvenOnUntrackedAxes() {
        Frontier death = frontier(A, 5).merge(frontier(C, 9));
        MutableFrontier gathered = new MutableFrontier();
        gathered.merge(death);
        Frontier produced = gathered.produce(B, 7, CompletedEpochs.NONE);
        CompletedEpochs producerOnly = axis -> axis == B ? 7 : 0;
        assertThat(produced.isTainted()).isFalse();
        assertThat(Frontier.EMPTY.covers(produced, producerOnly)).isTrue();
        assertThat(Frontier.EMPTY.covers(produced, axis -> axis == B ? 6 : 0)).isFalse();
        MutableFrontier joined = new MutableFrontier();
        joined.merge(produced, producerOnly);
        assertThat(joined.snapshot()).as("it adds nothing").isEqualTo(Frontier.EMPTY);
    }

    @Test
    void uncoveredEntriesAreNeitherKnownNorCompleted() {
        Frontier death = frontier(A, 5, B, 7, C, 9);
        assertThat(frontier(A, 5).uncovered(death, axis -> axis == B ? 7 : 8)).isEqualTo(frontier(C, 9));
        assertThat(Frontier.EMPTY.uncovered(death, axis -> 9)).isEqualTo(Frontier.EMPTY);
    }

    @Test
    void taintAndProducerTellFrontiersApart() {
        assertThat(Frontier.of(A, 1))
                .isNotEqualTo(Frontier.producedBy(A, 1))
                .isNotEqualTo(Frontier.of(A, 1).tainted());
        assertThat(frontier(A, 1, B, 2)).isNotEqualTo(frontier(A, 1, B, 2).tainted());
        assertThat(frontier(A, 1, B, 2)).isEqualTo(frontier(A, 1, B, 2)).isNotEqualTo(frontier(A, 1, B, 3));
    }

    @Test
    void producedAtNeedsAFrontierWithoutDependencies() {
        assertThat(Frontier.producedBy(A, 1).producedAt(4)).isEqualTo(Frontier.producedBy(A, 4));
        assertInvalid(() -> Frontier.of(A, 1).producedAt(4), "no operation that depends on nothing has epoch 4");
        assertInvalid(
                () -> Frontier.producedBy(A, 1).producedAt(0), "no operation that depends on nothing has epoch 0");
    }

    @Test
    void ownEntryStaysAlthoughTheAxisIsFurtherAlong() {
        // On an unordered queue an operation with a later epoch may complete first.
        MutableFrontier gathered = new MutableFrontier(2);
        gathered.merge(frontier(B, 5, C, 9));
        Frontier own = gathered.produce(A, 3, axis -> axis == A ? 4 : 0);
        assertThat(own.producerAxis()).isEqualTo(A);
        assertThat(own.producerEpoch()).isEqualTo(3);
    }

    @Test
    void clearingRemovesTaint() {
        MutableFrontier gathered = new MutableFrontier();
        gathered.merge(frontier(A, 1).tainted());
        gathered.clear();
        assertThat(gathered.isTainted()).isFalse();
        gathered.insertOrRaise(A, 2, CompletedEpochs.NONE);
        assertThat(gathered.snapshot()).isEqualTo(frontier(A, 2));
    }

    private static void assertInvalid(Runnable call, String message) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }
}
