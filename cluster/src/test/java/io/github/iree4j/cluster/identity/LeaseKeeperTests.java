package io.github.iree4j.cluster.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.ManualClock;
import io.github.iree4j.cluster.identity.LeaseKeeper.State;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeaseKeeperTests {

    private static final Duration LEASE = Duration.ofSeconds(12);
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final MemoryIdentityStore store = new MemoryIdentityStore(1, 1, clock);
    private final List<IreeException> fences = new ArrayList<>();
    private final LeaseKeeper keeper = LeaseKeeper.acquire(store, LEASE, clock, clock, fences::add);

    private void pass(Duration time) {
        for (Duration gone = Duration.ZERO; gone.compareTo(time) < 0; gone = gone.plus(LOOK)) {
            clock.advance(LOOK);
            keeper.look();
        }
    }

    @Test
    void theLeaseIsRenewedAfterAThirdAndHeldWhileRenewalsWork() {
        pass(Duration.ofSeconds(3));
        assertThat(clock.waiting()).isZero();
        pass(Duration.ofSeconds(1));
        assertThat(clock.waiting()).isOne();
        clock.runAll();
        for (int i = 0; i < 100; i++) {
            pass(Duration.ofSeconds(1));
            clock.runAll();
            assertThat(keeper.state()).isEqualTo(State.HELD);
        }
        assertThat(keeper.renewals()).isEqualTo(26);
        assertThat(fences).isEmpty();
    }

    @Test
    void theNodeIsFencedBeforeTheStoreGrantsTheMachineToAnother() {
        store.fail(IreeException.of(StatusCode.UNAVAILABLE, "no connection"));
        for (int second = 1; second <= 12; second++) {
            pass(Duration.ofSeconds(1));
            clock.runAll();
            assertThat(keeper.state()).isEqualTo(second < 10 ? State.HELD : State.FENCED);
        }
        assertThat(fences).hasSize(1);
        assertThat(fences.getFirst())
                .hasMessageContaining(
                        "was last renewed 10000 ms ago, and must be renewed within 10000 ms, five sixths of its 12000 ms")
                .hasMessageContaining("no connection");
        store.fail(null);
        assertThat(store.acquire(LEASE).identity().session()).isEqualTo(2);
    }

    @Test
    void aHangingRenewalDoesNotKeepTheNodeFromBeingFenced() {
        pass(Duration.ofSeconds(10));
        assertThat(clock.waiting()).isOne();
        assertThat(fences).hasSize(1);
        assertThat(fences.getFirst()).hasMessageContaining("the store has not answered for 6000 ms");
        clock.runAll(); // the return comes too late
        assertThat(keeper.state()).isEqualTo(State.FENCED);
        assertThat(fences).hasSize(1);
        assertThat(store.acquire(LEASE).identity().session()).isEqualTo(2);
    }

    @Test
    void anOutageEndingInTimeIsNoticedByNobody() {
        store.fail(IreeException.of(StatusCode.UNAVAILABLE, "no connection"));
        for (int second = 0; second < 8; second++) {
            pass(Duration.ofSeconds(1));
            clock.runAll();
        }
        store.fail(null);
        pass(Duration.ofSeconds(1));
        clock.runAll();
        pass(Duration.ofSeconds(3));
        assertThat(keeper.state()).isEqualTo(State.HELD);
        assertThat(fences).isEmpty();
    }

    /** With the default duration and the looks of the auto-configuration; a failing renewal takes 3 s, as with a pool. */
    @Test
    void aStoreComingBackShortlyBeforeTheEndIsUsed() {
        keeper.release();
        Duration look = Duration.ofMillis(500);
        LeaseKeeper usual = LeaseKeeper.acquire(store, Duration.ofMinutes(1), clock, clock, fences::add);
        store.fail(IreeException.of(StatusCode.UNAVAILABLE, "no connection"));
        int waits = 0;
        for (Duration age = look; age.compareTo(Duration.ofSeconds(50)) <= 0; age = age.plus(look)) {
            clock.advance(look);
            usual.look();
            boolean isBack = age.compareTo(Duration.ofMillis(48_500)) >= 0;
            if (isBack) {
                store.fail(null);
            }
            waits = clock.waiting() == 0 ? 0 : waits + 1;
            if (isBack || waits > 6) {
                clock.runAll();
                waits = 0;
            }
        }
        assertThat(usual.renewals()).isOne();
        assertThat(fences).isEmpty();
    }

    /** An outage of half of the lease may begin just before a renewal. */
    @Test
    void theTimeLeftIsAtLeastHalfOfTheLeaseWhileRenewalsSucceed() {
        for (int second = 0; second < 300; second++) {
            pass(LOOK);
            clock.runAll();
            assertThat(keeper.left()).isGreaterThanOrEqualTo(LEASE.dividedBy(2));
        }
        store.fail(IreeException.of(StatusCode.UNAVAILABLE, "no connection"));
        while (!keeper.left().isZero()) {
            assertThat(keeper.state()).isEqualTo(State.HELD);
            pass(LOOK);
            clock.runAll();
        }
        assertThat(keeper.state()).isEqualTo(State.FENCED);
    }

    @Test
    void aPausedProcessKnowsBeforeItLooks() {
        clock.advance(Duration.ofHours(1));
        assertThat(keeper.state()).isEqualTo(State.FENCED);
        keeper.look();
        assertThat(fences).hasSize(1);
        assertThat(clock.waiting()).isZero();
    }

    @Test
    void aLeaseForgottenByTheStoreFencesAtOnce() {
        clock.advance(Duration.ofSeconds(4));
        store.end(store.held().getFirst());
        keeper.look();
        clock.runAll();
        assertThat(fences).hasSize(1);
        assertThat(fences.getFirst().code()).isEqualTo(StatusCode.ABORTED);
    }

    @Test
    void aSlowlyObtainedLeaseIsRenewedBeforeItCounts() {
        keeper.release();
        IdentityStore slow = duration -> {
            IdentityLease lease = store.acquire(duration);
            clock.advance(Duration.ofSeconds(11));
            return lease;
        };
        LeaseKeeper late = LeaseKeeper.acquire(slow, LEASE, clock, clock, fences::add);
        clock.advance(Duration.ofSeconds(9));
        late.look();
        assertThat(late.state()).isEqualTo(State.HELD);
        clock.runAll();
        assertThat(late.renewals()).isOne();
        assertThat(fences).isEmpty();
    }

    @Test
    void aLeaseObtainedTooSlowlyIsGivenBack() {
        keeper.release();
        IdentityStore slow = duration -> {
            IdentityLease lease = store.acquire(duration);
            clock.advance(LEASE);
            return lease;
        };
        IreeException failure =
                IdentityStoreContract.failure(() -> LeaseKeeper.acquire(slow, LEASE, clock, clock, fences::add));
        assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
        assertThat(store.held()).isEmpty();
    }

    @Test
    void aReleasedLeaseIsNeitherRenewedNorFenced() {
        keeper.release();
        pass(Duration.ofSeconds(20));
        assertThat(clock.waiting()).isZero();
        assertThat(fences).isEmpty();
        assertThat(store.held()).isEmpty();
    }

    @Test
    void aRenewalWithoutMemoryIsTriedAgain() {
        AtomicInteger renewals = new AtomicInteger();
        IdentityLease lease = new IdentityLease() {
            @Override
            public NodeIdentity identity() {
                return new NodeIdentity(1, 1, 1, 1);
            }

            @Override
            public void renew() {
                if (renewals.incrementAndGet() == 1) {
                    throw new InternalError("no thread");
                }
            }

            @Override
            public void release() {}
        };
        LeaseKeeper keeping = LeaseKeeper.acquire(_ -> lease, LEASE, clock, Runnable::run, fences::add);
        for (int second = 0; second < 3 * LEASE.toSeconds(); second++) {
            clock.advance(LOOK);
            keeping.look();
        }
        assertThat(fences).isEmpty();
        assertThat(renewals).hasValueGreaterThan(2);
    }
}
