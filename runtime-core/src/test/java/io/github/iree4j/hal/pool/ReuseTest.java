package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.FrontierAccumulator;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The time of reuse of memory, and the waits in front. */
class ReuseTest {
    private static final long A = axis(1);
    private static final long B = axis(2);
    private static final long C = axis(3);

    private final FrontierTracker tracker = FrontierTracker.create();
    private final FakeSlabs slabs = new FakeSlabs();
    private final List<NativeTimepoint> marks = new ArrayList<>();

    private static long axis(int ordinal) {
        return Axis.of(1, 0, CausalDomain.QUEUE, ordinal);
    }

    @BeforeEach
    void register() {
        for (int i = 0; i < 32; i++) {
            tracker.register(axis(i));
        }
    }

    private Pool pool(long budget) {
        return pool(PoolOptions.tlsf("t", 64, 64), budget);
    }

    private Pool pool(PoolOptions options, long budget) {
        return PoolSet.builder(slabs, tracker)
                .budget(budget)
                .frontierCapacity(4)
                .pool(options)
                .build()
                .pools()
                .getFirst();
    }

    private ReservationRequest request(long size, Frontier known) {
        return ReservationRequest.of(size)
                .after(
                        known,
                        (axis, epoch) -> marks.stream()
                                .filter(mark -> mark.axis() == axis && mark.epoch() >= epoch)
                                .findFirst()
                                .orElse(null));
    }

    private static void free(Pool pool, long size, Frontier death) {
        Reservation reservation = pool.tryReserve(ReservationRequest.of(size));
        assertThat(reservation).isNotNull();
        reservation.release(death);
    }

    @Test
    void aRequesterBehindTheLastUserReusesWithoutWaiting() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.producedBy(A, 5));
        Reservation again = pool.tryReserve(request(64, Frontier.of(A, 5)));
        assertThat(again).isNotNull();
        assertThat(again.waits()).isEmpty();
        assertThat(pool.statistics())
                .returns(1L, PoolStatistics::fresh)
                .returns(1L, PoolStatistics::reusedWithoutWait)
                .returns(0L, PoolStatistics::reusedAfterWait);
    }

    @Test
    void disjointAxesShareOnceTheWorkHasCompletedAndNeverBefore() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.producedBy(A, 5));
        tracker.advance(A, 4);
        assertThat(pool.tryReserve(request(64, Frontier.of(B, 9)))).isNull();
        tracker.advance(A, 5);
        Reservation again = pool.tryReserve(request(64, Frontier.of(B, 9)));
        assertThat(again).isNotNull();
        assertThat(again.waits()).isEmpty();
        assertThat(pool.statistics())
                .returns(1L, PoolStatistics::refusedUncovered)
                .returns(1L, PoolStatistics::reusedWithoutWait);
    }

    @Test
    void waitsForTheSmallestMarkAtOrAboveAndForNoMore() {
        Pool pool = pool(64);
        Frontier death = Frontier.of(A, 5).merge(Frontier.of(B, 3));
        free(pool, 64, death);
        marks.add(new NativeTimepoint("queue", A, 4, Frontier.producedBy(A, 4)));
        marks.add(new NativeTimepoint("queue", A, 6, Frontier.producedBy(A, 6)));
        marks.add(new NativeTimepoint("queue", A, 9, Frontier.producedBy(A, 9)));
        Reservation again = pool.tryReserve(request(64, Frontier.of(B, 3)));
        assertThat(again).isNotNull();
        assertThat(again.waits()).extracting(NativeTimepoint::epoch).containsExactly(6L);
        assertThat(pool.statistics()).returns(1L, PoolStatistics::reusedAfterWait);
    }

    @Test
    void aWaitImplyingAnotherReplacesTheOther() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.of(A, 5).merge(Frontier.of(B, 3)).merge(Frontier.of(C, 1)));
        marks.add(new NativeTimepoint("queue", A, 5, Frontier.producedBy(A, 5)));
        marks.add(new NativeTimepoint("queue", B, 3, Frontier.of(A, 5).merge(Frontier.of(B, 3))));
        marks.add(new NativeTimepoint("queue", C, 2, Frontier.of(B, 3).merge(Frontier.of(C, 2))));
        Reservation again = pool.tryReserve(request(64, Frontier.EMPTY));
        assertThat(again).isNotNull();
        // C's mark implies B's, and B's implies A's; but the implication of A's by C's cannot be seen.
        assertThat(again.waits()).extracting(NativeTimepoint::axis).containsExactly(C);
    }

    @Test
    void aMarkStandingForAnotherStaysAlthoughItsOwnEntryIsImplied() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.of(A, 4).merge(Frontier.of(B, 2)).merge(Frontier.of(C, 2)));
        marks.add(new NativeTimepoint("queue", A, 4, Frontier.producedBy(A, 4)));
        marks.add(new NativeTimepoint("queue", B, 5, Frontier.of(A, 5).merge(Frontier.of(B, 5)))); // implies A's
        marks.add(new NativeTimepoint(
                "queue", C, 3, Frontier.of(B, 2).merge(Frontier.of(C, 3)))); // B's entry, but not B's mark
        Reservation again = pool.tryReserve(request(64, Frontier.EMPTY));
        assertThat(again).isNotNull();
        assertThat(again.waits()).extracting(NativeTimepoint::axis).containsExactly(B, C);
    }

    @Test
    void ofTwoMarksImplyingEachOtherASingleMarkStays() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.of(A, 5).merge(Frontier.of(B, 3)));
        Frontier both = Frontier.of(A, 5).merge(Frontier.of(B, 3));
        marks.add(new NativeTimepoint("queue", A, 5, both));
        marks.add(new NativeTimepoint("queue", B, 3, both));
        Reservation again = pool.tryReserve(request(64, Frontier.EMPTY));
        assertThat(again).isNotNull();
        assertThat(again.waits()).hasSize(1);
    }

    @Test
    void memoryFreedByAnOperationIsReusableAfterTheOperation() {
        // A single mark behind the free suffices, whatever the operation ran after, although its frontier had to drop
        // entries.
        Pool pool = pool(64);
        MutableFrontier known = new MutableFrontier(3);
        for (int i = 4; i < 20; i++) {
            known.insertOrRaise(axis(i), i, axis -> 0);
        }
        Frontier death = known.produce(A, 7, axis -> 0);
        assertThat(death.isTainted()).isTrue();
        free(pool, 64, death);
        assertThat(pool.tryReserve(request(64, Frontier.of(A, 7)))).isNull();
        assertThat(pool.statistics().refusedTainted()).isEqualTo(1);
        marks.add(new NativeTimepoint("queue", A, 8, Frontier.producedBy(A, 8)));
        Reservation again = pool.tryReserve(request(64, Frontier.EMPTY));
        assertThat(again).isNotNull();
        assertThat(again.waits()).extracting(NativeTimepoint::epoch).containsExactly(8L);
    }

    @Test
    void theWaitsOfAReservationComeFromThePastOfItsRequesterAtTheLastRequest() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.producedBy(A, 5));
        Reservation again = pool.tryReserve(request(64, Frontier.of(A, 5)));
        assertThat(again).isNotNull();
        assertThat(again.waits()).isEmpty();
        NativeTimepoint mark = new NativeTimepoint("queue", A, 6, Frontier.producedBy(A, 6));
        assertThat(again.revalidate(Frontier.EMPTY, (axis, epoch) -> mark)).isTrue();
        assertThat(again.waits()).as("no longer after the last user").containsExactly(mark);
        assertThat(again.revalidate(Frontier.of(A, 5), NativeTimepoints.NONE)).isTrue();
        assertThat(again.waits()).as("after the last user again").isEmpty();
    }

    @Test
    void anotherBlockIsTakenAndOnlyThenThePoolGrows() {
        Pool pool = pool(PoolOptions.tlsf("t", 256, 256), 512);
        Reservation first = pool.tryReserve(ReservationRequest.of(64));
        Reservation between = pool.tryReserve(ReservationRequest.of(64));
        Reservation second = pool.tryReserve(ReservationRequest.of(64));
        Reservation last = pool.tryReserve(ReservationRequest.of(64));
        assertThat(List.of(first, between, second, last)).doesNotContainNull();
        first.release(Frontier.EMPTY);
        second.release(Frontier.producedBy(A, 1)); // looked at first
        Reservation other = pool.tryReserve(request(64, Frontier.EMPTY));
        assertThat(other).isNotNull();
        assertThat(other.offset()).isZero();
        assertThat(slabs.bytesOut).isEqualTo(256);
        assertThat(pool.tryReserve(request(64, Frontier.EMPTY))).isNotNull();
        assertThat(slabs.bytesOut).as("no free block had completed").isEqualTo(512);
    }

    @Test
    void mergedBlocksAreReusableWhenBothAre() {
        Pool pool = pool(128);
        Reservation both = pool.tryReserve(ReservationRequest.of(128));
        assertThat(both).isNotNull();
        both.release(Frontier.EMPTY);
        Reservation left = pool.tryReserve(ReservationRequest.of(64));
        Reservation right = pool.tryReserve(ReservationRequest.of(64));
        assertThat(left).isNotNull();
        assertThat(right).isNotNull();
        left.release(Frontier.producedBy(A, 1));
        right.release(Frontier.producedBy(B, 1));
        pool.verify();
        assertThat(pool.tryReserve(request(64, Frontier.of(A, 1)))).isNull();
        assertThat(pool.tryReserve(request(64, Frontier.of(B, 1)))).isNull();
        tracker.advance(B, 1);
        assertThat(pool.tryReserve(request(128, Frontier.of(A, 1)))).isNotNull();
    }

    @Test
    void aLossyJoinTaintsUntilTheNextFreeOrUntilAllHasCompleted() {
        Pool pool = pool(64 * 12);
        Reservation whole = pool.tryReserve(ReservationRequest.of(64 * 12));
        assertThat(whole).isNotNull();
        whole.release(Frontier.EMPTY);
        List<Reservation> parts = new ArrayList<>();
        Frontier everything = Frontier.EMPTY;
        for (int i = 0; i < 12; i++) {
            parts.add(pool.tryReserve(ReservationRequest.of(64)));
            everything = everything.merge(Frontier.of(axis(i), 100 + i));
        }
        for (int i = 0; i < 12; i++) {
            parts.get(i).release(Frontier.producedBy(axis(i), 100 + i));
        }
        pool.verify();
        assertThat(pool.tryReserve(request(64, everything)))
                .as("nothing proves it")
                .isNull();
        assertThat(pool.statistics().refusedTainted()).isEqualTo(1);
        for (int i = 0; i < 11; i++) {
            tracker.advance(axis(i), 100 + i);
        }
        assertThat(pool.tryReserve(request(64, everything))).isNull();
        tracker.advance(axis(11), 111);
        Reservation again = pool.tryReserve(request(64 * 12, Frontier.EMPTY));
        assertThat(again)
                .as("all of it has completed, so the taint means nothing")
                .isNotNull();
        again.release(Frontier.producedBy(axis(20), 1));
        assertThat(pool.tryReserve(request(64, Frontier.of(axis(20), 1))))
                .as("the next free")
                .isNotNull();
    }

    @Test
    void aBlockReadByAThousandOperationsHasASingleDeathFrontier() {
        Pool pool = pool(1 << 20);
        Reservation weights = pool.tryReserve(ReservationRequest.of(1 << 20));
        assertThat(weights).isNotNull();
        FrontierAccumulator queue = new FrontierAccumulator(A);
        Frontier last = Frontier.EMPTY;
        for (int i = 1; i <= 1000; i++) {
            last = queue.issue(i, tracker); // reads the weights
        }
        weights.release(last);
        assertThat(last.size()).isEqualTo(1);
        assertThat(weights.block.death).isSameAs(last);
        assertThat(pool.tryReserve(request(1 << 20, Frontier.of(A, 999)))).isNull();
        assertThat(pool.tryReserve(request(1 << 20, Frontier.of(A, 1000)))).isNotNull();
    }

    @Test
    void unusedMemoryKeepsItsDeathFrontier() {
        Pool pool = pool(64);
        free(pool, 64, Frontier.producedBy(A, 1));
        Reservation taken = pool.tryReserve(request(64, Frontier.of(A, 1)));
        assertThat(taken).isNotNull();
        assertThat(taken.cancel()).isTrue();
        assertThat(taken.cancel()).isFalse();
        assertThat(taken.release(Frontier.EMPTY)).isFalse();
        assertThat(pool.tryReserve(request(64, Frontier.EMPTY))).isNull();
        assertThat(pool.tryReserve(request(64, Frontier.of(A, 1)))).isNotNull();
    }

    @Test
    void aFrontierWithUnobservableCompletionIsRefused() {
        Pool pool = pool(64);
        Reservation reservation = pool.tryReserve(ReservationRequest.of(64));
        assertThat(reservation).isNotNull();
        assertThatThrownBy(() -> reservation.release(Frontier.UNKNOWN))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("whose completion cannot be observed");
        assertThat(pool.statistics().bytesLive()).isEqualTo(64);
        assertThat(reservation.release(Frontier.EMPTY)).isTrue();
    }

    @Test
    void aSlabIsReturnedOnlyWhenItsLastUserHasFinished() {
        Pool pool = pool(PoolOptions.passThrough("p"), 1 << 20);
        Reservation one = pool.tryReserve(ReservationRequest.of(100_000));
        assertThat(one).isNotNull();
        one.release(Frontier.producedBy(A, 1));
        assertThat(slabs.out).hasSize(1);
        assertThat(pool.trim()).isZero();
        tracker.advance(A, 1);
        assertThat(slabs.out).as("without a request").isEmpty();
        Reservation two = pool.tryReserve(ReservationRequest.of(100_000));
        assertThat(two).isNotNull();
        two.release(Frontier.EMPTY);
        assertThat(slabs.out).isEmpty();
    }
}
