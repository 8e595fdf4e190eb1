package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;

/** Budgets, quotas, the capacity of the system, and the counts. */
class MemoryLimitsTest extends MemoryLine {
    @Test
    void aQuotaHoldsBackItsConsumerOnly() {
        PoolSet set = builder(1000 * 64)
                .quota("greedy", 4 * 64)
                .pool(PoolOptions.tlsf("t", 64, 1 << 20))
                .build();
        ask(set, "greedy", 3 * 64);
        Reservation first = got.get("greedy");
        ask(set, "greedy", 2 * 64);
        ask(set, "modest", 500 * 64);
        assertThat(order).containsExactly("greedy", "modest");
        assertThat(set.statistics().waiting()).isEqualTo(1);
        assertThatThrownBy(() -> ask(set, "greedy", 5 * 64)).hasMessageContaining("the quota is 256 bytes");
        first.release(Frontier.EMPTY);
        assertThat(order).containsExactly("greedy", "modest", "greedy");
        assertThat(set.statistics().consumers())
                .filteredOn(each -> each.consumer().equals("greedy"))
                .singleElement()
                .returns(3 * 64L, ConsumerStatistics::bytesPeak)
                .returns(2 * 64L, ConsumerStatistics::bytesTransient);
    }

    @Test
    void slabsMoveBetweenPoolsWhenTheBudgetIsShort() {
        PoolSet set = builder(10 * 64)
                .pool(PoolOptions.tlsf("small", 64, 10 * 64).withSizes(0, 256))
                .pool(PoolOptions.passThrough("large").withRetained(Long.MAX_VALUE))
                .build();
        for (int i = 0; i < 3; i++) {
            Reservation small = set.tryReserve(ReservationRequest.of(256));
            assertThat(small).isNotNull();
            assertThat(set.tryReserve(ReservationRequest.of(8 * 64))).isNull();
            small.release(Frontier.EMPTY);
            Reservation large = set.tryReserve(ReservationRequest.of(10 * 64));
            assertThat(large).isNotNull();
            large.release(Frontier.EMPTY);
        }
        ask(set, "large", 10 * 64);
        ask(set, "small", 64);
        assertThat(order).containsExactly("large");
        release("large");
        assertThat(order).containsExactly("large", "small");
    }

    @Test
    void slabsAreAcquiredOnceTheReleaserHasUnlocked() {
        PoolSet set = builder(10 * 64)
                .pool(PoolOptions.tlsf("small", 64, 10 * 64).withSizes(0, 256))
                .pool(PoolOptions.passThrough("large"))
                .build();
        ask(set, "large", 10 * 64);
        ask(set, "small", 64);
        boolean held = HeldCallbacks.begin(); // like a stream, which releases with its lock held
        try {
            release("large");
            assertThat(slabs.asked).as("mapping memory takes long").isEqualTo(1);
            assertThat(slabs.out).as("and so does unmapping").hasSize(1);
        } finally {
            HeldCallbacks.end(held);
        }
        assertThat(slabs.asked).isEqualTo(2);
        assertThat(slabs.out).hasSize(1);
        assertThat(order).containsExactly("large", "small");
    }

    @Test
    void aPoolsOwnBudgetIsKept() {
        PoolSet set = builder(100 * 64)
                .pool(PoolOptions.tlsf("t", 64, 64).withBudget(3 * 64))
                .build();
        assertThat(set.tryReserve(ReservationRequest.of(3 * 64))).isNotNull();
        assertThat(set.tryReserve(ReservationRequest.of(1))).isNull();
        assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(4 * 64)))
                .hasMessageContaining("pool 't' has at most 192 bytes");
    }

    @Test
    void transientAndPersistentMemoryAreCountedSeparately() {
        PoolSet set = set(100 * 64);
        Reservation weights =
                set.tryReserve(ReservationRequest.of(10 * 64).withConsumer("m").asPersistent());
        Reservation scratch = set.tryReserve(ReservationRequest.of(64).withConsumer("m"));
        assertThat(weights).isNotNull();
        assertThat(scratch).isNotNull();
        PoolSetStatistics statistics = set.statistics();
        assertThat(statistics.bytesPersistent()).isEqualTo(640);
        assertThat(statistics.bytesTransient()).isEqualTo(64);
        assertThat(statistics.bytesCached()).isEqualTo(statistics.bytesReserved() - 704);
        scratch.release(Frontier.EMPTY);
        assertThat(set.statistics().bytesTransient()).isZero();
        assertThat(set.statistics().pools().getFirst().bytesTransientPeak()).isEqualTo(64);
        assertThat(set.statistics().bytesPeak()).isEqualTo(704);
    }

    @Test
    void aRequestBeyondTheSystemsMemoryFailsAtOnceEvenWithoutABudget() {
        PoolSet set = set(Long.MAX_VALUE);
        ask(set, "first", 64); // otherwise a failure, with nothing to wait for
        for (long size : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 63, 1L << 62, (1L << 47) + 1}) {
            assertThatThrownBy(() -> ask(set, "huge", size))
                    .isInstanceOfSatisfying(IreeException.class, e -> {
                        assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                        assertThat(e.detail(NeverFits.class)).contains(new NeverFits(size));
                    })
                    .hasMessageContaining("allocation of " + size + " bytes exceeds the memory limit and can never fit")
                    .hasMessageContaining("the system has at most " + (1L << 47) + " bytes");
        }
        assertThat(set.statistics().waiting()).isZero();
        assertThat(slabs.asked).as("the provider was not asked").isEqualTo(1);
    }

    @Test
    void aRefusalSpeaksOfTheLimitAndOfNobody() {
        PoolSet set = builder(10 * 64)
                .pool(PoolOptions.tlsf("t", 4 * 64, 4 * 64))
                .patience(1)
                .delayed(nanos -> _ -> {})
                .build();
        ask(set, "secret", 64);
        Reservation kept = set.tryReserve(
                ReservationRequest.of(2 * 64).withConsumer("secret").asPersistent());
        assertThat(kept).isNotNull();
        ReservationRequest mine = ReservationRequest.of(8 * 64).withConsumer("mine");
        assertThatThrownBy(() -> set.reserveNow(mine))
                .hasMessageContaining("allocation of 512 bytes exceeds the memory limit now")
                .hasMessageContaining("the limit is 640 bytes")
                .hasMessageContaining("it fits once others have ended and results or tensors are closed")
                .hasMessageNotContaining("secret")
                .hasMessageNotContaining("192") // number of holders
                .hasMessageNotContaining("384"); // number of leavers
        kept.release(Frontier.EMPTY);
        assertThatThrownBy(() -> set.reserveNow(mine)).hasMessageContaining("it fits once others have ended;");
        ask(set, "mine", 10 * 64);
        clock.addAndGet(1);
        set.lookAtLine();
        assertThat(failed.get("mine"))
                .hasMessageContaining("has waited 0 ms for memory")
                .hasMessageNotContaining("secret");
    }

    @Test
    void theMachinesMemoryIsTheCapacity() {
        PoolSet set = PoolSet.builder(new HostSlabProvider(), tracker)
                .pool(PoolOptions.passThrough("large"))
                .build();
        long all = new HostSlabProvider().capacity();
        assertThat(all).isBetween(1L << 20, 1L << 46);
        assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(all + 1)))
                .hasMessageContaining("can never fit")
                .hasMessageContaining("the system has at most " + all + " bytes");
    }

    @Test
    void requestsWaitingForTheHostAreCounted() {
        PoolSet set = set(10 * 64);
        Reservation weights = set.tryReserve(
                ReservationRequest.of(6 * 64).withConsumer("weights").asPersistent());
        ask(set, "a", 64);
        ask(set, "large", 5 * 64); // fits the budget, but no work under way will make room for it
        ask(set, "fitting", 4 * 64); // waits for "a"
        assertThat(order).containsExactly("a");
        PoolStatistics pool = set.pools().getFirst().statistics();
        assertThat(pool.waiting()).isEqualTo(2);
        assertThat(pool.waitingForHost()).isEqualTo(1);
        weights.release(Frontier.EMPTY);
        assertThat(order).containsExactly("a", "large");
        assertThat(set.pools().getFirst().statistics().waitingForHost()).isZero();
        release("a");
        release("large");
        assertThat(order).containsExactly("a", "large", "fitting");
    }

    @Test
    void consumersWithoutMemoryAreForgotten() {
        PoolSet set = builder(1000 * 64)
                .quota("limited", 4 * 64)
                .pool(PoolOptions.tlsf("t", 64, 1 << 20))
                .build();
        ask(set, "limited", 4 * 64);
        ask(set, "limited", 64); // waits for its quota, in line
        for (int i = 0; i < 10_000; i++) {
            Reservation each = set.tryReserve(ReservationRequest.of(64).withConsumer("session " + i));
            assertThat(each).isNotNull();
            each.release(Frontier.EMPTY);
        }
        assertThat(set.statistics().consumers())
                .hasSizeLessThan(100)
                .anyMatch(each -> each.consumer().equals("limited"));
        assertThat(order).containsExactly("limited");
        release("limited");
        assertThat(order).as("the place in line was not forgotten").containsExactly("limited", "limited");
    }

    @Test
    void aWaiterOverItsQuotaIsNotGranted() {
        PoolSet set = builder(10 * 64)
                .quota("greedy", 4 * 64)
                .pool(PoolOptions.tlsf("t", 64, 1 << 20))
                .build();
        ask(set, "other", 5 * 64);
        ask(set, "greedy", 3 * 64);
        Reservation first = got.get("greedy");
        ask(set, "greedy", 2 * 64);
        release("other");
        assertThat(order).as("there is room, but not for greedy").containsExactly("other", "greedy");
        first.release(Frontier.EMPTY);
        assertThat(order).containsExactly("other", "greedy", "greedy");
    }

    @Test
    void afterCloseMemoryIsReturnedAtItsRelease() {
        PoolSet set = set(10 * 64);
        ask(set, "a", 64);
        set.close();
        set.close();
        assertThat(slabs.out).hasSize(1);
        assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(64)))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        MemoryHolder before = call.enter();
        try {
            assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(64)))
                    .as("whose caller has closed nothing")
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED));
        } finally {
            call.leave(before);
        }
        release("a");
        assertThat(slabs.out).isEmpty();
    }
}
