package io.github.iree4j.hal.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.HostSlabProvider;
import io.github.iree4j.hal.pool.KnownNeed;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.pool.PoolOptions;
import io.github.iree4j.hal.pool.PoolSet;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.hal.pool.ReservationRequest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An allocation gets memory, releases unusable memory, and keeps none after a failure. */
class StorageGrantTest {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 1);
    private static final Frontier BEHIND = Frontier.of(AXIS, 1);
    private static final int SIZE = 1024;
    private static final IreeException CAUSE = IreeException.of(StatusCode.CANCELLED, "on purpose");

    private final FrontierTracker tracker = FrontierTracker.create();
    private final PoolSet pools = set(SIZE);
    private final List<String> order = new ArrayList<>();

    private PoolSet set(long budget) {
        return PoolSet.builder(new HostSlabProvider(), tracker)
                .budget(budget)
                .delayed(nanos -> look -> {}) // all on this thread
                .pool(PoolOptions.tlsf("t", 64, budget))
                .build();
    }

    @BeforeEach
    void register() {
        tracker.register(AXIS);
    }

    @AfterEach
    void close() {
        pools.close();
        tracker.close();
    }

    private static final class Storage extends BufferStorage {
        Storage(Reservation reservation) {
            super(reservation);
        }

        private Storage() {
            super(null);
        }
    }

    /** A buffer without a device. */
    private static class Bytes extends StoredBuffer<Storage> {
        Bytes() {
            super(0, BufferUsage.DEFAULT, MemoryAccess.ALL, SIZE, new Storage(), null, 0, false, null);
        }

        @Override
        public Device device() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected void wipe(Storage freed) {}

        @Override
        protected MemorySegment hostBytes(long offset, long length) {
            throw new UnsupportedOperationException();
        }
    }

    /** An operation with a request for storage, without a queue. */
    private final class Asking {
        private final String name;
        private final Bytes buffer = new Bytes();
        private final StorageGrant<Storage> grant;

        Asking(PoolSet from, String name) {
            this.name = name;
            this.grant = new StorageGrant<>(buffer, from, ReservationRequest.of(SIZE), Storage::new);
        }

        boolean hasPresent(Frontier after) {
            return grant.tryReservePresent(after, NativeTimepoints.NONE);
        }

        /** Acts as a scheduler for an operation during the submission. */
        void waits(Frontier after) {
            assertThat(hasPresent(after)).isFalse();
            resumedWaits(after);
        }

        void resumedWaits(Frontier after) {
            grant.reserve(
                    after, NativeTimepoints.NONE, failure -> order.add(failure == null ? name : name + " failed"));
        }
    }

    private Asking asking(String name) {
        return new Asking(pools, name);
    }

    private static Reservation taken(PoolSet from) {
        return Objects.requireNonNull(from.tryReserve(ReservationRequest.of(SIZE)));
    }

    private long live() {
        return pools.statistics().bytesLive();
    }

    private long waiting() {
        return pools.statistics().waiting();
    }

    @Test // POOL-4
    void anAllocationReturningItsMemoryAgainAndAgainIsServedBeforeLaterAllocations() {
        Reservation holder = taken(pools);
        Asking old = asking("old");
        old.waits(BEHIND); // a kept promise
        holder.release(Frontier.producedBy(AXIS, 1));
        assertThat(order).containsExactly("old");
        for (int round = 0; round < 3; round++) {
            asking("young " + round).waits(Frontier.EMPTY);
            assertThat(old.hasPresent(Frontier.EMPTY))
                    .as("a lower value has ended the wait")
                    .isFalse();
            assertThat(old.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                    .isFalse();
            order.clear();
            old.resumedWaits(BEHIND); // another promise
            assertThat(order).containsExactly("old");
        }
        old.waits(Frontier.EMPTY);
        order.clear();
        assertThat(waiting()).isEqualTo(4);
        tracker.advance(AXIS, 1);
        assertThat(order).containsExactly("old");
        assertThat(old.hasPresent(Frontier.EMPTY)).isTrue();
        old.grant.failed(CAUSE, Frontier.EMPTY);
        assertThat(order).containsExactly("old", "young 0");
    }

    @Test
    void memoryReturnedUnusedIsNotGivenToYoungerRequestsWhileItsOwnerCanUseIt() {
        Reservation holder = taken(pools);
        Asking old = asking("old");
        old.waits(BEHIND);
        holder.release(Frontier.producedBy(AXIS, 1));
        asking("young").waits(Frontier.EMPTY);
        assertThat(old.hasPresent(Frontier.EMPTY)).isFalse();
        order.clear();
        tracker.advance(AXIS, 1); // before the return to the line
        old.resumedWaits(Frontier.EMPTY);
        assertThat(order).containsExactly("old");
    }

    @Test
    void memoryNotYetUsableMayBeUsableLater() {
        Reservation holder = taken(pools);
        Asking old = asking("old");
        old.waits(BEHIND);
        holder.release(Frontier.producedBy(AXIS, 1));
        assertThat(old.hasPresent(Frontier.EMPTY)).isFalse();
        tracker.advance(AXIS, 1);
        assertThat(old.hasPresent(Frontier.EMPTY)).isTrue();
        assertThat(old.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE)).isTrue();
        assertThat(live()).isEqualTo(SIZE);
    }

    @Test
    void unusableMemoryGoesBackOnceThereIsOther() {
        try (PoolSet two = set(2 * SIZE)) {
            Reservation used = taken(two);
            Reservation other = taken(two);
            used.release(Frontier.producedBy(AXIS, 1));
            Asking asking = new Asking(two, "asking");
            assertThat(asking.hasPresent(BEHIND)).isTrue();
            assertThat(asking.grant.premise().epochOf(AXIS)).isEqualTo(1);
            other.release(Frontier.EMPTY);
            assertThat(asking.hasPresent(Frontier.EMPTY)).isTrue();
            assertThat(asking.grant.premise()).isEqualTo(Frontier.EMPTY);
            assertThat(two.statistics().bytesLive()).isEqualTo(SIZE);
            asking.grant.failed(CAUSE, Frontier.EMPTY);
            assertThat(two.statistics().bytesLive()).isZero();
        }
    }

    @Test
    void aFailedAllocationGetsNoMemoryInExchange() {
        try (PoolSet two = set(2 * SIZE)) {
            Reservation used = taken(two);
            Reservation other = taken(two);
            used.release(Frontier.producedBy(AXIS, 1));
            Asking asking = new Asking(two, "asking");
            assertThat(asking.hasPresent(BEHIND)).isTrue();
            assertThat(asking.hasPresent(Frontier.EMPTY)).isFalse();
            asking.grant.failed(CAUSE, Frontier.EMPTY);
            other.release(Frontier.EMPTY);
            assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                    .as("the scheduler finds the failure")
                    .isTrue();
            assertThat(two.statistics().bytesLive()).isZero();
        }
    }

    @Test
    void memoryComingAfterTheFailureGoesBack() {
        Reservation holder = taken(pools);
        Asking asking = asking("asking");
        asking.waits(Frontier.EMPTY);
        boolean held = HeldCallbacks.begin();
        try {
            holder.release(Frontier.EMPTY); // granted, about to be notified
            asking.grant.failed(CAUSE, Frontier.EMPTY);
        } finally {
            HeldCallbacks.end(held);
        }
        assertThat(order).containsExactly("asking");
        assertThat(live()).isZero();
    }

    @Test
    void aFailedAllocationLeavesTheLine() {
        Reservation holder = taken(pools);
        Asking asking = asking("asking");
        asking.waits(Frontier.EMPTY);
        assertThat(waiting()).isOne();
        asking.grant.failed(CAUSE, Frontier.EMPTY);
        assertThat(waiting()).isZero();
        holder.release(Frontier.EMPTY);
        assertThat(order).isEmpty();
    }

    @Test
    void anAllocationFailedBeforeJoiningTheLineDoesNotStayThere() {
        Reservation holder = taken(pools);
        Asking asking = asking("asking");
        asking.grant.failed(CAUSE, Frontier.EMPTY);
        asking.waits(Frontier.EMPTY);
        assertThat(waiting()).isZero();
        holder.release(Frontier.EMPTY);
        assertThat(live()).isZero();
    }

    @Test
    void memoryOfAnUnissuedOperationIsAsBefore() {
        Reservation holder = taken(pools);
        holder.release(Frontier.producedBy(AXIS, 1));
        Asking asking = asking("asking");
        assertThat(asking.hasPresent(BEHIND)).isTrue();
        asking.grant.failed(CAUSE, Frontier.EMPTY);
        assertThat(live()).isZero();
        assertThat(pools.tryReserve(ReservationRequest.of(SIZE)))
                .as("the last user is in flight")
                .isNull();
        tracker.advance(AXIS, 1);
        assertThat(pools.tryReserve(ReservationRequest.of(SIZE))).isNotNull();
    }

    @Test
    void memoryOfAnIssuedOperationIsFreeBehindIt() {
        Asking asking = asking("asking");
        assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .isTrue();
        asking.grant.failed(CAUSE, Frontier.producedBy(AXIS, 1));
        assertThat(live()).isZero();
        assertThat(pools.tryReserve(ReservationRequest.of(SIZE)))
                .as("perhaps in use by the operation")
                .isNull();
        tracker.advance(AXIS, 1);
        assertThat(pools.tryReserve(ReservationRequest.of(SIZE))).isNotNull();
    }

    @Test
    void memoryOfItsBufferGoesWithTheBuffersLastUser() {
        Asking asking = asking("asking");
        assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .isTrue();
        asking.grant.executed();
        asking.buffer.pinStorage();
        asking.grant.failed(CAUSE, Frontier.EMPTY);
        assertThat(live()).isEqualTo(SIZE);
        assertThatThrownBy(asking.buffer::pinStorage).hasMessageContaining("whose allocation failed: on purpose");
        asking.buffer.unpin();
        assertThat(live()).isZero();
    }

    @Test
    void aBufferGetsStorageOnce() {
        Asking asking = asking("asking");
        assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .isTrue();
        asking.grant.executed();
        assertThatThrownBy(asking.grant::executed)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL))
                .hasMessageContaining("gets storage twice");
        asking.buffer.close();
        assertThat(live()).isZero();
    }

    @Test
    void storageStaysUntilTheLastOfSeveralUsersHasLeft() {
        Asking asking = asking("asking");
        assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .isTrue();
        asking.grant.executed();
        asking.buffer.pinStorage();
        asking.buffer.pinStorage();
        asking.buffer.deallocate();
        assertThat(live()).isEqualTo(SIZE);
        asking.buffer.unpin();
        assertThat(live()).isEqualTo(SIZE);
        asking.buffer.unpin();
        assertThat(live()).isZero();
    }

    @Test
    void storageIsGivenOnOnce() {
        Asking asking = asking("asking");
        assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .isTrue();
        asking.grant.issued(Frontier.producedBy(AXIS, 1));
        Frontier death = Frontier.producedBy(AXIS, 2);
        assertThat(asking.buffer.releaseAfter(death)).isTrue();
        assertThat(asking.buffer.releaseAfter(death)).isFalse();
        assertThat(live()).isZero();
    }

    @Test
    void storageIsNotGivenOnByADeallocationOfUnknownOrder() {
        Asking asking = asking("asking");
        assertThat(asking.grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .isTrue();
        asking.grant.issued(Frontier.producedBy(AXIS, 1));
        Frontier elsewhere = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 2), 9);
        assertThat(asking.buffer.releaseAfter(elsewhere)).isFalse();
        assertThat(asking.buffer.isAllocatedBefore(elsewhere)).isEqualTo(Known.NO);
        assertThat(asking.buffer.releaseAfter(elsewhere.tainted())).isFalse();
        assertThat(asking.buffer.isAllocatedBefore(elsewhere.tainted())).isEqualTo(Known.UNKNOWN);
        assertThat(live()).isEqualTo(SIZE);
        asking.grant.executed();
        assertThat(asking.buffer.isAllocatedBefore(elsewhere)).isEqualTo(Known.YES);
        asking.buffer.close();
        assertThat(live()).isZero();
    }

    @Test
    void unusedStorageIsFreeForOthersOnceItsAllocationIsComplete() {
        Bytes onStream = new Bytes() {
            @Override
            protected boolean isCommittedWhenIssued() {
                return true;
            }
        };
        StorageGrant<Storage> grant = new StorageGrant<>(onStream, pools, ReservationRequest.of(SIZE), Storage::new);
        assertThat(grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE)).isTrue();
        grant.issued(Frontier.producedBy(AXIS, 1));
        onStream.deallocate();
        assertThat(live()).isZero();
        Asking asking = asking("asking");
        assertThat(asking.hasPresent(Frontier.EMPTY)).isFalse();
        tracker.advance(AXIS, 1);
        assertThat(asking.hasPresent(Frontier.EMPTY)).isTrue();
        asking.grant.failed(CAUSE, Frontier.EMPTY);
    }

    @Test
    void aCallShortOfItsNeedGetsNoMemoryUntilAllIsThere() throws Exception {
        Admission other = Objects.requireNonNull(pools.gate().tryAdmit("", new KnownNeed(SIZE - 256, 64)));
        Admission own = Objects.requireNonNull(pools.gate().tryAdmitAhead("", new KnownNeed(SIZE / 2, 64)));
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        call.admitted(own);
        try (TimelineSemaphore timeline = TimelineSemaphore.create(1);
                Fence reached = Fence.at(timeline, 1)) {
            own.dueAt(reached);
        }
        MemoryHolder before = call.enter();
        StorageGrant<Storage> grant = new StorageGrant<>(new Bytes(), pools, ReservationRequest.of(64), Storage::new);
        call.leave(before);
        assertThat(grant.tryReserve(Frontier.EMPTY, NativeTimepoints.NONE))
                .as("new memory")
                .isFalse();
        taken(pools).release(Frontier.EMPTY);
        assertThat(grant.tryReservePresent(Frontier.EMPTY, NativeTimepoints.NONE))
                .as("memory that is free")
                .isFalse();
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        grant.reserve(Frontier.EMPTY, NativeTimepoints.NONE, failure -> done.complete(failure == null));
        assertThat(done).isNotDone();
        other.exit();
        assertThat(done.get()).isTrue();
        assertThat(live()).isPositive();
        grant.failed(CAUSE, Frontier.EMPTY);
        assertThat(live()).isZero();
        own.exit();
        assertThat(pools.gate().committed()).isZero();
    }
}
