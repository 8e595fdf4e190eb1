package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The records of pools of every kind about the users of memory, the memory kept and the memory returned. */
class KeptMemoryTest extends MemoryLine {
    private static final List<PoolOptions> KINDS = List.of(
            PoolOptions.tlsf("tlsf", 64, 64), PoolOptions.passThrough("whole").withRetained(64));

    @BeforeEach
    void register() {
        tracker.register(AXIS);
        tracker.register(OTHER);
    }

    private static ReservationRequest after(long size, Frontier known) {
        return ReservationRequest.of(size).after(known, NativeTimepoints.NONE);
    }

    private static Reservation reserve(PoolSet set, long size) {
        Reservation reservation = set.tryReserve(ReservationRequest.of(size));
        assertThat(reservation).isNotNull();
        return reservation;
    }

    @Test
    void noKindOfPoolReusesMemoryBeforeItsUserHasFinished() {
        for (PoolOptions kind : KINDS) {
            PoolSet set = builder(64).pool(kind).build();
            long epoch = tracker.completed(AXIS) + 1;
            reserve(set, 64).release(Frontier.producedBy(AXIS, epoch));
            assertThat(set.tryReserve(ReservationRequest.of(64)))
                    .as(kind.name())
                    .isNull();
            assertThat(set.trim()).as(kind.name()).isZero();
            Reservation behind = set.tryReserve(after(64, Frontier.of(AXIS, epoch)));
            assertThat(behind).as(kind.name()).isNotNull();
            behind.release(Frontier.producedBy(AXIS, epoch + 1));
            tracker.advance(AXIS, epoch);
            assertThat(set.tryReserve(ReservationRequest.of(64)))
                    .as(kind.name())
                    .isNull();
            tracker.advance(AXIS, epoch + 1);
            assertThat(set.tryReserve(ReservationRequest.of(64)))
                    .as(kind.name())
                    .isNotNull();
            set.close();
        }
    }

    @Test
    void poolsRetainUpToTheirLimit() {
        PoolSet set = builder(Long.MAX_VALUE)
                .pool(PoolOptions.passThrough("p").withRetained(640))
                .build();
        List<Reservation> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(reserve(set, 640));
        }
        all.forEach(each -> each.release(Frontier.EMPTY));
        assertThat(slabs.bytesOut).isEqualTo(640);
        reserve(set, 640).release(Frontier.EMPTY);
        assertThat(slabs.asked).as("kept memory served the request").isEqualTo(3);
    }

    @Test
    void slabsReturnWhenTheirUsersFinishWithoutATrim() {
        PoolSet set = builder(Long.MAX_VALUE)
                .pool(PoolOptions.passThrough("p").withRetained(0))
                .build();
        reserve(set, 640).release(Frontier.producedBy(AXIS, 1));
        assertThat(slabs.bytesOut).isEqualTo(640);
        tracker.advance(AXIS, 1);
        assertThat(slabs.bytesOut).isZero();
    }

    @Test
    void aSlabIsIdleFromItsLastRelease() {
        for (PoolOptions kind : List.of(
                PoolOptions.tlsf("t", 640, 640), PoolOptions.passThrough("p").withRetained(640))) {
            PoolSet set = builder(Long.MAX_VALUE).idleAfter(1_000).pool(kind).build();
            clock.addAndGet(5_000);
            reserve(set, 640).release(Frontier.EMPTY);
            assertThat(slabs.bytesOut).isEqualTo(640);
            clock.addAndGet(999);
            set.woken();
            assertThat(slabs.bytesOut).isEqualTo(640);
            clock.addAndGet(1);
            set.woken();
            assertThat(slabs.bytesOut).isZero();
        }
    }

    private PoolSetBuilder keepingWholeSlabs() {
        return builder(Long.MAX_VALUE).pool(PoolOptions.passThrough("p").withRetained(Long.MAX_VALUE));
    }

    @Test
    void aLargeSlabIsNotUsedForASmallRequest() {
        PoolSet set = keepingWholeSlabs().build();
        reserve(set, 6400).release(Frontier.EMPTY);
        Reservation little = reserve(set, 640);
        assertThat(little.slab().size()).isEqualTo(640);
        assertThat(reserve(set, 6144).slab().size()).as("an eighth may be lost").isEqualTo(6400);
    }

    @Test
    void ofSlabsServingARequestTheShortestIsUsed() {
        PoolSet set = keepingWholeSlabs().build();
        List<Reservation> all = List.of(reserve(set, 6400), reserve(set, 6208), reserve(set, 6272));
        all.forEach(each -> each.release(Frontier.EMPTY));
        assertThat(reserve(set, 6144).slab().size()).isEqualTo(6208);
        assertThat(reserve(set, 6144).slab().size()).isEqualTo(6272);
        assertThat(reserve(set, 6144).slab().size()).isEqualTo(6400);
    }

    @Test
    void aLongerSlabIsUsedBehindItsOwnLastUserIfAShorterSlabMayNotBeUsed() {
        PoolSet set = keepingWholeSlabs().build();
        Reservation longer = reserve(set, 6400);
        Reservation shorter = reserve(set, 6144); // looked at last
        longer.release(Frontier.producedBy(AXIS, 1));
        shorter.release(Frontier.producedBy(OTHER, 1));
        NativeTimepoint mark = new NativeTimepoint("queue", AXIS, 1, Frontier.producedBy(AXIS, 1));
        Reservation again = set.tryReserve(
                ReservationRequest.of(6144).after(Frontier.EMPTY, (axis, epoch) -> axis == AXIS ? mark : null));
        assertThat(again).isNotNull();
        assertThat(again.slab()).isSameAs(longer.slab());
        assertThat(again.waits()).containsExactly(mark);
        assertThat(again.death()).isEqualTo(Frontier.producedBy(AXIS, 1));
    }

    @Test
    void blocksWastingMoreThanAnEighthOfTheirLengthTogetherWasteALimitedNumberOfParts() {
        PoolSet set = keepingWholeSlabs().waste(640).build();
        List<Reservation> all = new ArrayList<>();
        for (int i = 0; i <= Waste.PARTS; i++) {
            all.add(reserve(set, 1280));
        }
        all.forEach(each -> each.release(Frontier.EMPTY));
        for (int i = 0; i < Waste.PARTS; i++) {
            assertThat(reserve(set, 640).slab().size()).as("number %d", i).isEqualTo(1280);
        }
        assertThat(reserve(set, 640).slab().size())
                .as("no part is left, though none wastes more")
                .isEqualTo(640);
    }

    @Test
    void theWasteOfABlockMayBeWastedAgainOnceReturned() {
        PoolSet set = keepingWholeSlabs().waste(64).build();
        int spare = Waste.PARTS * 64;
        List<Reservation> two = List.of(reserve(set, 1024 + spare), reserve(set, 1024 + spare));
        two.forEach(each -> each.release(Frontier.EMPTY));
        Reservation lavish = reserve(set, 1024);
        assertThat(lavish.slab().size()).isEqualTo(1024 + spare);
        Reservation fitting = reserve(set, 1024);
        assertThat(fitting.slab().size()).as("while it is out").isEqualTo(1024);
        lavish.release(Frontier.EMPTY);
        assertThat(reserve(set, 1024).slab().size()).as("once it is back").isEqualTo(1024 + spare);
    }

    @Test
    void memoryKeptByAConsumerCountsAgainstItsQuota() {
        PoolSet set = builder(Long.MAX_VALUE)
                .quota("c", 128)
                .pool(PoolOptions.tlsf("t", 64, 64))
                .build();
        ReservationRequest request = ReservationRequest.of(64).withConsumer("c");
        assertThat(set.tryReserve(request.asPersistent())).isNotNull();
        assertThat(set.tryReserve(request)).isNotNull();
        assertThat(set.tryReserve(request)).isNull();
    }

    @Test
    void aSlabStaysWhileTheHostMayAccessMemoryReleasedAhead() {
        PoolSet set = builder(Long.MAX_VALUE)
                .pool(PoolOptions.passThrough("p").withRetained(0))
                .build();
        Reservation ahead = reserve(set, 640);
        ahead.releaseAhead(Frontier.producedBy(AXIS, 1));
        tracker.advance(AXIS, 1);
        assertThat(slabs.bytesOut).isEqualTo(640);
        assertThat(set.trim()).isZero();
        ahead.accessEnded();
        assertThat(slabs.bytesOut).isZero();
        ahead.accessEnded(); // harmless
    }

    @Test
    void unusedSlabsAreNotReturnedForAHopelessRequest() {
        PoolSet set = builder(640)
                .pool(PoolOptions.tlsf("small", 64, 64).withSizes(0, 64))
                .pool(PoolOptions.tlsf("large", 64, 64).withSizes(65, 1 << 20))
                .build();
        reserve(set, 64).release(Frontier.EMPTY);
        Reservation live = reserve(set, 448);
        assertThat(slabs.bytesOut).isEqualTo(512);
        assertThat(set.tryReserve(ReservationRequest.of(640))).isNull();
        assertThat(slabs.bytesOut).isEqualTo(512);
        live.release(Frontier.EMPTY);
        assertThat(set.tryReserve(ReservationRequest.of(640))).isNotNull();
    }

    @Test
    void aFailedReleaseOfASlabDoesNotAffectOthers() {
        FakeSlabs stubborn = new FakeSlabs() {
            private boolean first = true;

            @Override
            public synchronized void release(Slab slab) {
                if (first) {
                    first = false;
                    throw new IllegalStateException("not this one");
                }
                super.release(slab);
            }
        };
        PoolSet set = PoolSet.builder(stubborn, tracker)
                .pool(PoolOptions.tlsf("t", 64, 64))
                .build();
        List<Reservation> all = List.of(reserve(set, 64), reserve(set, 64), reserve(set, 64));
        all.forEach(each -> each.release(Frontier.EMPTY));
        assertThat(set.trim()).isEqualTo(192);
        assertThat(stubborn.bytesOut).as("the refused slab").isEqualTo(64);
    }

    @Test
    void anyExceptionOfAProviderFailsTheRequest() {
        FakeSlabs broken = new FakeSlabs() {
            @Override
            public Slab acquire(long size, long alignment) {
                throw new UnsupportedOperationException("no driver");
            }
        };
        PoolSet set = PoolSet.builder(broken, tracker)
                .budget(64)
                .pool(PoolOptions.tlsf("t", 64, 64))
                .build();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(64)))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("no driver");
        }
    }

    @Test
    void freshMemoryNeedsNoWaitWhateverThePreviousRequestWaitedFor() {
        PoolSet set =
                builder(Long.MAX_VALUE).pool(PoolOptions.tlsf("t", 64, 64)).build();
        reserve(set, 64).release(Frontier.producedBy(AXIS, 1));
        NativeTimepoint mark = new NativeTimepoint("queue", AXIS, 1, Frontier.producedBy(AXIS, 1));
        ReservationRequest waiting = ReservationRequest.of(64).after(Frontier.EMPTY, (axis, epoch) -> mark);
        Reservation reused = set.tryReserve(waiting);
        assertThat(reused).isNotNull();
        assertThat(reused.waits()).containsExactly(mark);
        assertThat(set.tryReserve(waiting))
                .isNotNull()
                .satisfies(fresh -> assertThat(fresh.waits()).isEmpty());
    }

    private Frontier join(DeathFrontiers deaths, Frontier... all) {
        Frontier joined = null;
        for (Frontier each : all) {
            joined = deaths.join(joined, each);
        }
        return joined;
    }

    @Test
    void completedEntriesAreNotRecordedAsLostByAJoin() {
        long third = OTHER + 1;
        tracker.register(third + 1);
        tracker.register(third + 2);
        DeathFrontiers deaths = new DeathFrontiers(tracker, 2);
        tracker.advance(AXIS, 1);
        Frontier two = Frontier.of(AXIS, 1).merge(Frontier.of(OTHER, 1));
        Frontier joined = join(deaths, two, Frontier.of(third + 1, 1));
        assertThat(joined.isTainted()).isFalse();
        assertThat(joined.size()).isEqualTo(2);
        assertThat(deaths.isTainted(Frontier.of(third + 2, 1).tainted()))
                .as("nothing is owed")
                .isFalse();
    }

    @Test
    void aTaintedJoinIsOverWhenAllLostEntriesHaveCompleted() {
        DeathFrontiers deaths = new DeathFrontiers(tracker, 1);
        Frontier joined = join(deaths, Frontier.of(AXIS, 5), Frontier.of(OTHER, 7));
        assertThat(joined.isTainted()).isTrue();
        assertThat(joined.size()).isEqualTo(1);
        assertThat(deaths.isTainted(joined)).isTrue();
        assertThat(deaths.isTainted(lastOf(OTHER)))
                .as("the end comes with the producer")
                .isFalse();
        assertThat(deaths.isCompleted(Frontier.UNKNOWN)).as("something is owed").isFalse();
        Frontier awaited = deaths.toWaitFor(joined);
        assertThat(awaited.isTainted()).isFalse();
        assertThat(awaited.epochOf(AXIS)).as("the forgotten part is waited for").isEqualTo(5);
        assertThat(awaited.epochOf(OTHER)).isEqualTo(7);
        tracker.advance(OTHER, 7);
        assertThat(deaths.isCompleted(joined)).isFalse();
        tracker.advance(AXIS, 5);
        assertThat(deaths.isTainted(joined)).isFalse();
        assertThat(deaths.isCompleted(joined)).isTrue();
    }

    private static Frontier lastOf(long axis) {
        MutableFrontier gathered = new MutableFrontier();
        gathered.taint();
        return gathered.produce(axis, 9, io.github.iree4j.frontier.CompletedEpochs.NONE);
    }
}
