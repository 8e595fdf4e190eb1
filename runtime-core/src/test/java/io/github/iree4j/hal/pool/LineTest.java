package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Waiting for memory: the order of the line, and permitted overtaking. */
class LineTest extends MemoryLine {
    @Test
    void twoOf400MegabytesIn512FollowEachOtherAndARequestOf600FailsAtOnce() {
        PoolSet set = set(512 * MB);
        ask(set, "first", 400 * MB);
        ask(set, "second", 400 * MB);
        assertThat(order).containsExactly("first");
        clock.addAndGet(5_000);
        assertThat(set.statistics().waiting()).isEqualTo(1);
        assertThatThrownBy(() -> ask(set, "third", 600 * MB))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining("allocation of 600000000 bytes exceeds the memory limit and can never fit")
                .hasMessageContaining("the limit is 512000000 bytes")
                .hasMessageNotContaining("first");
        clock.addAndGet(2_000);
        release("first");
        assertThat(order).containsExactly("first", "second");
        release("second");
        PoolStatistics pool = set.pools().getFirst().statistics();
        assertThat(pool.waits()).isEqualTo(1);
        assertThat(pool.waitedNanos()).isEqualTo(7_000);
        assertThat(pool.waiting()).isZero();
        assertThat(pool.failures()).isEqualTo(1);
        assertThat(pool.bytesPeak()).isEqualTo(400 * MB);
        assertThat(pool.bytesReservedPeak()).isEqualTo(400 * MB);
    }

    @Test
    void memoryLeftToAnotherProvesNothingAboutTheLength() {
        Pool pool = set(10 * 64).pools().getFirst();
        WaitingLine line = new WaitingLine();
        Waiter shorter = waiter(pool, 64, 1);
        Waiter longer = waiter(pool, 128, 2);
        line.add(shorter);
        line.add(longer);
        boolean isBlocked = line.serve(List.of(pool), new WaitingLine.Grant() {
            @Override
            public boolean mayGo(Waiter waiter, boolean isBehind) {
                return true;
            }

            @Override
            public Known grant(Waiter waiter) {
                return waiter == shorter ? Known.UNKNOWN : Known.YES;
            }
        });
        assertThat(isBlocked).isTrue();
        assertThat(line.all()).containsExactly(shorter);
    }

    private static Waiter waiter(Pool pool, long size, long age) {
        Account account = new Account("", Long.MAX_VALUE, null);
        return new Waiter(ReservationRequest.of(size), pool, account, null, (_, _) -> {}, age, 0, false);
    }

    @Test
    void aRequestWithoutRoomYetIsNotOvertaken() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 6 * 64);
        ask(set, "big", 8 * 64);
        ask(set, "small", 64);
        assertThat(set.tryReserve(ReservationRequest.of(64)))
                .as("nor does a request unable to wait")
                .isNull();
        assertThat(order).containsExactly("holder");
        release("holder");
        assertThat(order).containsExactly("holder", "big", "small");
    }

    @Test
    void aRequesterReturningUnusedMemoryKeepsThePlaceOfItsFirstAttempt() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 10 * 64);
        Reservation held = got.remove("holder");
        long age = set.nextAge();
        ask(set, "young", 10 * 64);
        ReservationRequest old = ReservationRequest.of(10 * 64).withAge(age);
        set.reserveInstead(held, old, (reservation, failure) -> got.put("old", reservation));
        assertThat(order).containsExactly("holder");
        assertThat(got).containsOnlyKeys("old");
        assertThat(set.statistics().waiting()).isOne();
        release("old");
        assertThat(order).containsExactly("holder", "young");
    }

    @Test
    void anOlderRequestNeedNotStayBehindTheLine() {
        PoolSet set = set(10 * 64);
        long age = set.nextAge();
        ask(set, "holder", 6 * 64);
        ask(set, "big", 8 * 64);
        ReservationRequest request = ReservationRequest.of(64);
        assertThat(set.tryReserve(request)).isNull();
        assertThat(set.tryReserve(request.withAge(set.nextAge()))).isNull();
        assertThat(set.tryReserve(request.withAge(age))).isNotNull();
    }

    @Test // POOL-4
    void theLineStaysOrderedByAgeWhicheverRequestLeaves() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 10 * 64);
        List<Cancellation> waiting = new ArrayList<>();
        for (long age : new long[] {5, 3, 9, 1, 3, 7}) {
            ReservationRequest request = ReservationRequest.of(10 * 64).withAge(age);
            waiting.add(set.reserve(request, (reservation, failure) -> {
                order.add("age " + age);
                got.put("age " + age, reservation);
            }));
        }
        assertThat(waiting.get(2).cancel()).isTrue(); // last
        assertThat(waiting.get(3).cancel()).isTrue(); // the first
        assertThat(waiting.get(4).cancel()).isTrue(); // in the middle
        assertThat(waiting.get(4).cancel()).isFalse();
        assertThat(set.statistics().waiting()).isEqualTo(3);
        release("holder");
        release("age 3");
        release("age 5");
        release("age 7");
        assertThat(order).containsExactly("holder", "age 3", "age 5", "age 7");
    }

    @Test // POOL-4
    void theLineIsOrderedByAgeAndThenByArrival() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 10 * 64);
        long[] ages = {5, 3, 9, 1, 3, 7};
        for (int i = 0; i < ages.length; i++) {
            String name = "%d, of age %d".formatted(i, ages[i]);
            set.reserve(ReservationRequest.of(10 * 64).withAge(ages[i]), (reservation, failure) -> {
                order.add(name);
                reservation.release(Frontier.EMPTY);
            });
        }
        release("holder");
        assertThat(order)
                .containsExactly(
                        "holder",
                        "3, of age 1",
                        "1, of age 3",
                        "4, of age 3",
                        "0, of age 5",
                        "5, of age 7",
                        "2, of age 9");
    }

    @Test
    void aRequestOverItsQuotaDoesNotStandInForOthersOfItsSize() {
        PoolSet set = builder(2 * 64)
                .quota("limited", 64)
                .pool(PoolOptions.tlsf("t", 64, 2 * 64))
                .build();
        ask(set, "limited", 64);
        ask(set, "holder", 64);
        ask(set, "limited", 64); // waits for its quota, first in line
        ask(set, "other", 64); // waits for memory
        release("holder");
        assertThat(order).containsExactly("limited", "holder", "other");
    }

    @Test
    void memoryIsReturnedEvenIfItsReplacementCanNeverFit() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 10 * 64);
        Reservation held = got.remove("holder");
        assertThatThrownBy(() -> set.reserveInstead(
                        held, ReservationRequest.of(11 * 64), (reservation, failure) -> order.add("told")))
                .hasMessageContaining("can never fit");
        assertThat(set.statistics().bytesLive()).isZero();
        assertThat(order).containsExactly("holder");
    }

    @Test
    void theDeathFrontierOfAReservationDoesNotChange() {
        tracker.register(AXIS);
        PoolSet set = set(10 * 64);
        ask(set, "first", 10 * 64);
        release("first");
        Reservation reserved = set.tryReserve(ReservationRequest.of(10 * 64));
        assertThat(reserved).isNotNull();
        Frontier before = reserved.death();
        reserved.release(Frontier.producedBy(AXIS, 1));
        assertThat(reserved.death()).as("not the next owner's").isEqualTo(before);
    }

    @Test
    void aHolderMayOvertakeForItMayNeedMoreToFinish() {
        PoolSet set = set(10 * 64);
        ask(set, "a", 6 * 64);
        ask(set, "big", 8 * 64);
        Reservation first = got.get("a");
        ask(set, "a", 2 * 64); // without this "a" might never release the first
        assertThat(order).containsExactly("a", "a");
        release("a");
        first.release(Frontier.EMPTY);
        assertThat(order).containsExactly("a", "a", "big");
    }

    @Test
    void allOvertakeWhileNoReleaseIsAnnounced() {
        PoolSet set = set(10 * 64);
        Reservation kept = set.tryReserve(ReservationRequest.of(6 * 64).withConsumer("keeper"));
        assertThat(kept).isNotNull();
        ask(set, "big", 8 * 64);
        ask(set, "small", 64);
        assertThat(order).containsExactly("small");
        release("small");
        kept.release(Frontier.EMPTY);
        assertThat(order).containsExactly("small", "big");
    }

    @Test
    void allOvertakeWhenNoWorkUnderWayCouldFreeMemory() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 6 * 64); // releases once "small" has been granted: nothing else will ever happen
        ask(set, "big", 8 * 64);
        ask(set, "small", 64);
        assertThat(order).containsExactly("holder");
        busy = false;
        set.idle();
        assertThat(order).containsExactly("holder", "small");
        ask(set, "another", 64);
        assertThat(order).containsExactly("holder", "small", "another");
        release("holder");
        release("small");
        release("another");
        assertThat(order).endsWith("big");
    }

    @Test
    void aWaiterIsServedWhenTheLastUserOfFreeMemoryHasFinished() {
        tracker.register(AXIS);
        PoolSet set = set(10 * 64);
        ask(set, "first", 10 * 64);
        got.remove("first").release(Frontier.producedBy(AXIS, 1)); // issued, not over
        ask(set, "second", 10 * 64);
        assertThat(order).containsExactly("first");
        tracker.advance(AXIS, 1);
        assertThat(order).containsExactly("first", "second");
    }

    @Test
    void memoryOfAFailedAxisIsReusedOnceItsWorkIsQuiet() {
        tracker.register(AXIS);
        tracker.register(OTHER);
        PoolSet set = set(10 * 64);
        ask(set, "first", 10 * 64);
        got.remove("first")
                .release(Frontier.producedBy(AXIS, 2).merge(Frontier.of(OTHER, 1), 4)); // it waited for OTHER
        ask(set, "second", 10 * 64);
        tracker.fail(AXIS, IreeException.of(StatusCode.UNAVAILABLE, "device lost"));
        assertThat(order).as("its work may still be running").containsExactly("first");
        tracker.quiesce(AXIS, 1);
        assertThat(order).as("the use of the memory comes afterwards").containsExactly("first");
        tracker.quiesce(AXIS, 2);
        assertThat(order).as("perhaps ended before its turn").containsExactly("first");
        tracker.advance(OTHER, 1);
        assertThat(order).containsExactly("first", "second");
        release("second");
        ask(set, "third", 10 * 64);
        assertThat(got).containsOnlyKeys("third");
    }

    @Test
    void memoryOfAFailedAxisIsNotReusedBefore() {
        tracker.register(AXIS);
        PoolSet set = set(10 * 64);
        ask(set, "first", 10 * 64);
        got.remove("first").release(Frontier.producedBy(AXIS, 1));
        ask(set, "second", 10 * 64);
        tracker.fail(AXIS, IreeException.of(StatusCode.UNAVAILABLE, "device lost"));
        assertThat(order).containsExactly("first");
        set.close();
        assertThat(failed.get("second").code()).isEqualTo(StatusCode.ABORTED);
        assertThat(slabs.out).isEmpty();
    }

    @Test
    void aRequestPreferringReuseWaitsForFreedMemoryInsteadOfGrowing() {
        tracker.register(AXIS);
        PoolSet set = set(100 * 64);
        ask(set, "first", 10 * 64);
        got.remove("first").release(Frontier.producedBy(AXIS, 1));
        set.reserve(ReservationRequest.of(10 * 64).preferringReuse(), (reservation, failure) -> order.add("patient"));
        assertThat(order).containsExactly("first");
        assertThat(slabs.bytesOut).isEqualTo(10 * 64);
        tracker.advance(AXIS, 1);
        assertThat(order).containsExactly("first", "patient");
        assertThat(slabs.bytesOut).isEqualTo(10 * 64);
        set.reserve(ReservationRequest.of(10 * 64).preferringReuse(), (reservation, failure) -> order.add("new"));
        assertThat(order).as("nothing is about to be free").endsWith("new");
        assertThat(slabs.bytesOut).isGreaterThan(10 * 64);
    }

    @Test
    void anAnnouncedReleaseThatHasHappenedHoldsUpNoRequest() {
        PoolSet set = set(10 * 64);
        Reservation kept = set.tryReserve(ReservationRequest.of(6 * 64).withConsumer("keeper"));
        ask(set, "holder", 2 * 64);
        got.get("holder").announceRelease(); // twice in all
        ask(set, "big", 8 * 64);
        ask(set, "small", 64);
        assertThat(order).containsExactly("holder");
        release("holder"); // nothing more is on its way
        assertThat(order).containsExactly("holder", "small");
        assertThat(kept).isNotNull();
        release("small");
        ask(set, "another", 64);
        assertThat(order).endsWith("another");
    }

    @Test
    void aLaterRequestDoesNotOvertakeARequestWithoutRoom() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 6 * 64);
        ask(set, "another", 3 * 64);
        ask(set, "big", 8 * 64);
        ask(set, "small", 2 * 64);
        release("another"); // room for small, and holder is about to release
        assertThat(order).containsExactly("holder", "another");
        release("holder");
        assertThat(order).containsExactly("holder", "another", "big", "small");
    }

    @Test
    void aWithdrawnRequestLetsOthersGoOn() {
        PoolSet set = set(10 * 64);
        ask(set, "holder", 6 * 64);
        Cancellation big = ask(set, "big", 8 * 64);
        ask(set, "small", 64);
        assertThat(big.cancel()).isTrue();
        assertThat(big.cancel()).isFalse();
        assertThat(order).containsExactly("holder", "small");
        release("holder");
        assertThat(order).doesNotContain("big");
        assertThat(set.statistics().waiting()).isZero();
    }

    @Test
    void anUnsuitableAlignmentDoesNotHoldUpHolders() {
        PoolSet set = set(10 * 64);
        ask(set, "a", 6 * 64);
        ask(set, "b", 3 * 64);
        ask(set, "c", 64);
        set.reserve(ReservationRequest.of(64).withAlignment(4096), (reservation, failure) -> order.add("aligned"));
        ask(set, "a", 2 * 64);
        assertThat(order).containsExactly("a", "b", "c");
        release("b");
        assertThat(order).containsExactly("a", "b", "c", "a");
    }
}
