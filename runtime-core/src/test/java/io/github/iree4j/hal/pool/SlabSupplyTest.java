package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Slabs from the system: shortage, failures, exceptions, and when slabs are returned. */
class SlabSupplyTest extends MemoryLine {
    @Test
    void everyFittingRequestIsGrantedHoweverManySlabsItTakesOnABusyDevice() {
        PoolSet set = builder(64 * 64)
                .busy(() -> true)
                .pool(PoolOptions.passThrough("p").withRetained(Long.MAX_VALUE))
                .build();
        ask(set, "holder", 64 * 64);
        for (int i = 0; i < 40; i++) {
            ask(set, "waiting " + i, 64);
        }
        release("holder");
        assertThat(order).hasSize(41);
        assertThat(failed).isEmpty();
    }

    @Test
    void whenTheSystemHasNoMoreTheRequestWaitsForMemoryInUse() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        ask(set, "first", 10 * 64);
        ask(set, "second", 5 * 64);
        assertThat(order).containsExactly("first");
        release("first");
        assertThat(order).containsExactly("first", "second");
        release("second");
        assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(20 * 64)))
                .hasMessageContaining("the system has no 1280 bytes");
    }

    @Test
    void whenTheSystemHasNoMoreTheRequestWaitsForFreedMemoryStillInUse() {
        tracker.register(AXIS);
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        ask(set, "first", 10 * 64);
        got.remove("first").release(Frontier.producedBy(AXIS, 1));
        assertThat(set.tryReserve(ReservationRequest.of(10 * 64))).isNull();
        ask(set, "second", 10 * 64);
        ask(set, "huge", 20 * 64);
        assertThat(order).as("nothing is live, and memory will come").containsExactly("first");
        tracker.advance(AXIS, 1);
        assertThat(got).containsOnlyKeys("second");
        got.remove("second").release(Frontier.producedBy(AXIS, 2));
        assertThat(failed).isEmpty();
        tracker.advance(AXIS, 2);
        assertThat(failed).containsOnlyKeys("huge");
    }

    @Test
    void whenTheSystemHasNoMoreTheRequestWaitsForWorkDueForRetirement() {
        tracker.register(AXIS);
        PoolSet set = builder(Long.MAX_VALUE).pool(PoolOptions.passThrough("p")).build();
        slabs.system = 10 * 64;
        ask(set, "first", 5 * 64);
        Reservation ahead = got.remove("first");
        ahead.releaseAhead(Frontier.producedBy(AXIS, 1));
        tracker.advance(AXIS, 1);
        ask(set, "second", 10 * 64);
        assertThat(failed).as("nothing is live, and memory will come").isEmpty();
        ahead.accessEnded();
        assertThat(got).containsOnlyKeys("second");
    }

    /** Only a shortage ends because others have. */
    @Test
    void aRequestDoesNotWaitForMemoryRefusedForAnotherReason() {
        PoolSet set = builder(20 * 64).pool(PoolOptions.passThrough("p")).build();
        Runnable refusal = () -> {
            throw IreeException.of(StatusCode.ABORTED, "the device is lost");
        };
        ask(set, "kept", 5 * 64);
        ask(set, "first", 10 * 64);
        slabs.acquiring = refusal;
        assertThatThrownBy(() -> ask(set, "second", 5 * 64)).hasMessageContaining("the device is lost");
        ask(set, "third", 15 * 64);
        slabs.acquiring = refusal;
        release("first");
        assertThat(got).containsOnlyKeys("kept");
        assertThat(failed).containsOnlyKeys("third");
    }

    @Test
    void aSlabAwaitedByARequestDoesNotGoBack() {
        tracker.register(AXIS);
        PoolSet set = builder(1024).pool(PoolOptions.passThrough("p")).build(); // keeps nothing
        ask(set, "first", 1024);
        ask(set, "second", 1024);
        ask(set, "third", 1024);
        release("first");
        got.remove("second").release(Frontier.producedBy(AXIS, 1));
        assertThat(order).containsExactly("first", "second");
        tracker.advance(AXIS, 1);
        assertThat(order).containsExactly("first", "second", "third");
        assertThat(slabs.asked).isEqualTo(1);
        release("third");
        assertThat(slabs.bytesOut).isZero();
    }

    @Test
    void unusedSlabsAreReturnedWhenTheSystemIsShort() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        ask(set, "first", 5 * 64);
        release("first");
        ask(set, "second", 7 * 64);
        assertThat(order).containsExactly("first", "second");
        ask(set, "third", 10 * 64);
        assertThat(order).as("waits for the second").hasSize(2);
        release("second");
        assertThat(order).containsExactly("first", "second", "third");
        release("third");
        assertThat(set.trim()).isEqualTo(10 * 64);
    }

    /**
     * A set with a request in line, whose slab the test acquires by running an exchange, as another thread would
     * without deferred callbacks.
     */
    private PoolSet waitingForAnotherThread(List<Runnable> growths, ReservationListener waiter) {
        PoolSet set = builder(1024)
                .pool(PoolOptions.passThrough("p").withRetained(4096))
                .growth(growths::add)
                .build();
        ask(set, "holder", 1024);
        set.reserve(ReservationRequest.of(512), waiter);
        release("holder");
        return set;
    }

    @Test
    void aListenerIsCalledWithoutTheLockAfterGrowth() {
        List<Runnable> growths = new ArrayList<>();
        List<PoolSetStatistics> seen = new ArrayList<>();
        PoolSet[] set = new PoolSet[1];
        set[0] = waitingForAnotherThread(growths, (reservation, failure) -> {
            CompletableFuture<PoolSetStatistics> other = CompletableFuture.supplyAsync(set[0]::statistics);
            seen.add(other.orTimeout(30, TimeUnit.SECONDS).join());
        });
        assertThat(growths).isNotEmpty();
        runAll(growths);
        assertThat(seen).hasSize(1);
        assertThat(seen.getFirst().waiting()).isZero();
    }

    @Test // POOL-2
    void aListenerReleasingAtOnceAfterGrowthIsCalledOnce() {
        List<Runnable> growths = new ArrayList<>();
        PoolSet set = waitingForAnotherThread(growths, (reservation, failure) -> {
            order.add("told");
            reservation.cancel();
        });
        runAll(growths);
        assertThat(order).containsExactly("holder", "told");
        assertThat(set.statistics().waiting()).isZero();
        assertThat(set.statistics().bytesLive()).isZero();
    }

    @Test
    void aRequestFailedByTheSystemLetsLaterRequestsGoOn() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        ask(set, "first", 2 * 64);
        ask(set, "huge", 20 * 64);
        ask(set, "modest", 10 * 64);
        assertThat(order).containsExactly("first");
        release("first");
        assertThat(failed).containsOnlyKeys("huge");
        assertThat(got).containsOnlyKeys("modest");
    }

    // POOL-5
    @Test
    void aCallerUnableToWaitForReleasesWaitsForMemoryBeingAcquired() throws InterruptedException {
        PoolSet set =
                builder(10 * 64).pool(PoolOptions.tlsf("p", 10 * 64, 10 * 64)).build();
        Caller caller = new Caller(set, 5 * 64);
        slabs.acquiring = caller::startAndWait;
        ask(set, "first", 5 * 64);
        assertThat(caller.outcome()).isEqualTo(5L * 64);
    }

    // POOL-5
    @Test
    void aCallerRefusedByTheSystemWaitsForMemoryGivenToAnother() throws InterruptedException {
        PoolSet set = builder(Long.MAX_VALUE)
                .pool(PoolOptions.tlsf("p", 10 * 64, 10 * 64))
                .build();
        slabs.system = 10 * 64;
        Caller caller = new Caller(set, 5 * 64);
        slabs.acquired = caller::startAndWait;
        ask(set, "first", 5 * 64);
        assertThat(caller.outcome()).isEqualTo(5L * 64);
    }

    // POOL-5
    @Test
    void aCallerRefusedByTheSystemWaitsForMemoryOnItsWayBack() throws InterruptedException {
        PoolSet set = builder(Long.MAX_VALUE).pool(PoolOptions.passThrough("p")).build(); // keeps nothing
        slabs.system = 10 * 64;
        ask(set, "kept", 64);
        ask(set, "first", 9 * 64);
        Caller caller = new Caller(set, 5 * 64);
        slabs.releasing = caller::startAndWait;
        release("first");
        assertThat(caller.outcome()).isEqualTo(5L * 64);
    }

    // POOL-5
    @Test
    void aCallerInACallbackReturnsTheSlabsOfItsThreadFirst() {
        PoolSet set = builder(10 * 64).pool(PoolOptions.passThrough("p")).build();
        slabs.system = 10 * 64;
        ask(set, "kept", 64);
        ask(set, "first", 9 * 64);
        assertThat(reserveBehindRelease(set, "first")).isEqualTo(5L * 64);
    }

    // POOL-5
    @Test
    void aCallerInACallbackFirstAcquiresTheSlabsOwedByItsThread() {
        PoolSet set = builder(20 * 64)
                .pool(PoolOptions.tlsf("small", 10 * 64, 10 * 64).withSizes(0, 5 * 64))
                .pool(PoolOptions.passThrough("large"))
                .build();
        ask(set, "kept", 10 * 64);
        ask(set, "first", 10 * 64);
        ask(set, "second", 5 * 64);
        assertThat(reserveBehindRelease(set, "first")).isEqualTo(5L * 64);
        assertThat(got).containsOnlyKeys("kept", "second");
    }

    private long reserveBehindRelease(PoolSet set, String released) {
        boolean held = HeldCallbacks.begin();
        try {
            release(released);
            return set.reserveNow(ReservationRequest.of(5 * 64)).size();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** A thread unable to wait for releases. */
    private static final class Caller {
        private final List<Object> outcome = new ArrayList<>();
        private final Thread thread;

        Caller(PoolSet set, long size) {
            thread = Thread.ofPlatform().unstarted(() -> {
                try {
                    outcome.add(set.reserveNow(ReservationRequest.of(size)).size());
                } catch (IreeException e) {
                    outcome.add(e);
                }
            });
        }

        /** Returns in the wait for a slab, or after the end. */
        void startAndWait() {
            thread.start();
            while (!isWaiting(thread) && thread.getState() != Thread.State.TERMINATED) {
                Thread.onSpinWait();
            }
        }

        /** The size of the reservation, or the reason for its absence. */
        Object outcome() throws InterruptedException {
            thread.join();
            return outcome.getFirst();
        }
    }

    /** Whether a thread waits for a slab, not just for a class to be loaded. */
    private static boolean isWaiting(Thread caller) {
        return caller.getState() == Thread.State.WAITING
                && Arrays.stream(caller.getStackTrace())
                        .anyMatch(each -> each.getMethodName().equals("awaitMove"));
    }

    @Test
    void aCallerUnableToWaitGetsTheMessageOfTheSystem() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        ask(set, "first", 10 * 64);
        assertThatThrownBy(() -> set.reserveNow(ReservationRequest.of(64)))
                .hasMessageContaining("the system has no 64 bytes");
    }

    // POOL-3
    @Test
    void aRequestJoiningDuringAFailedGrowthIsServed() {
        PoolSet set = set(10 * 64);
        slabs.system = 5 * 64;
        slabs.acquiring = () -> ask(set, "second", 5 * 64);
        assertThatThrownBy(() -> ask(set, "first", 10 * 64)).hasMessageContaining("the system has no 640 bytes");
        assertThat(got).containsOnlyKeys("second");
    }

    // POOL-6
    @Test
    void aRequestRefusedDuringARequestForAnotherFailsIfTheOtherDoes() {
        PoolSet set = builder(Long.MAX_VALUE).pool(PoolOptions.passThrough("p")).build();
        slabs.system = 0;
        slabs.acquiring = () -> ask(set, "second", 5 * 64);
        assertThatThrownBy(() -> ask(set, "first", 10 * 64)).hasMessageContaining("the system has no 640 bytes");
        assertThat(failed).containsOnlyKeys("second");
    }

    // POOL-6
    @Test
    void aRefusedRequestWaitsForASlabOnItsWayToAnother() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        slabs.acquired = () -> ask(set, "second", 10 * 64);
        ask(set, "first", 10 * 64);
        assertThat(order).containsExactly("first");
        release("first");
        assertThat(order).containsExactly("first", "second");
    }

    // POOL-6
    @Test
    void aRefusedRequestGetsASlabOnItsWayBack() {
        List<Runnable> growths = new ArrayList<>();
        PoolSet set = builder(Long.MAX_VALUE)
                .pool(PoolOptions.tlsf("t", 64, 64 * MB))
                .growth(growths::add)
                .build();
        slabs.system = 10 * 64;
        ask(set, "first", 10 * 64);
        release("first");
        slabs.releasing = () -> {
            ask(set, "second", 10 * 64);
            runAll(growths);
        };
        set.trim();
        assertThat(failed).isEmpty();
        assertThat(growths).as("not by a returning thread").hasSize(1);
        runAll(growths);
        assertThat(got).containsOnlyKeys("second");
    }

    // POOL-6
    @Test
    void aRequestIsNotJudgedByARefusalOlderThanTheReturnOfASlab() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.system = 10 * 64;
        ask(set, "first", 5 * 64);
        release("first");
        slabs.acquired = () -> CompletableFuture.runAsync(set::trim).join(); // another thread is back at once
        ask(set, "second", 10 * 64);
        assertThat(got).containsOnlyKeys("second");
    }

    // POOL-6
    @Test
    void aWaiterForASlabOnItsWayToAnotherLearnsThatNoneCame() {
        List<Runnable> growths = new ArrayList<>();
        PoolSet set = builder(1024)
                .pool(PoolOptions.passThrough("small").withSizes(0, 256))
                .pool(PoolOptions.passThrough("large"))
                .growth(growths::add)
                .build();
        ask(set, "holder", 1024);
        Cancellation withdrawn = ask(set, "first", 512);
        release("holder");
        slabs.system = 0;
        slabs.acquiring = () -> {
            withdrawn.cancel();
            ask(set, "second", 256);
            runAll(growths);
        };
        growths.removeFirst().run();
        assertThat(failed).containsOnlyKeys("second");
        assertThat(set.statistics().waiting()).isZero();
    }

    private static void runAll(List<Runnable> growths) {
        while (!growths.isEmpty()) {
            growths.removeFirst().run();
        }
    }

    @Test
    void aSlabAcquiredDuringCloseIsReturned() {
        PoolSet set = set(10 * 64);
        slabs.acquiring = set::close;
        assertThatThrownBy(() -> ask(set, "a", 64)).hasMessageContaining("closed");
        assertThat(slabs.out).isEmpty();
        assertThat(set.statistics().bytesReserved()).isZero();
    }

    @Test
    void aClosedSetReportsOnceThatNoSlabIsOnItsWayBack() {
        PoolSet set = set(Long.MAX_VALUE);
        ask(set, "first", 64);
        release("first");
        ask(set, "kept", 64 * 64);
        slabs.releasing = () -> set.close(() -> order.add("closed with " + slabs.bytesOut));
        set.trim();
        assertThat(order).containsExactly("first", "kept", "closed with " + 64 * 64);
        release("kept");
        set.close(() -> order.add("closed again"));
        assertThat(order).hasSize(3);
        assertThat(slabs.bytesOut).isZero();
    }

    @Test
    void aClosedSetTellsOnceNoSlabIsBeingAcquired() {
        PoolSet set = set(Long.MAX_VALUE);
        slabs.acquiring = () -> set.close(() -> order.add("closed with " + slabs.bytesOut));
        assertThatThrownBy(() -> set.tryReserve(ReservationRequest.of(64))).hasMessageContaining("closed");
        assertThat(order).containsExactly("closed with 0");
    }

    @Test
    void aClosedSetReportsOnceThatGrowthForItsLineIsOver() {
        List<Runnable> growths = new ArrayList<>();
        PoolSet set = waitingForAnotherThread(growths, (reservation, failure) -> order.add("told " + failure));
        set.close(() -> order.add("closed with " + slabs.bytesOut));
        assertThat(order).noneMatch(each -> each.startsWith("closed"));
        runAll(growths);
        assertThat(order).last().isEqualTo("closed with 0");
    }

    @Test
    void aSetWithoutSlabsTellsAtOnce() {
        set(Long.MAX_VALUE).close(() -> order.add("closed"));
        assertThat(order).containsExactly("closed");
    }

    @Test
    void aProviderThrowingAnythingCostsNoBudget() {
        PoolSet set = set(10 * 64);
        slabs.acquiring = () -> {
            throw new IllegalStateException("broken");
        };
        assertThatThrownBy(() -> ask(set, "a", 10 * 64))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("broken");
        ask(set, "b", 10 * 64);
        assertThat(got).containsOnlyKeys("b");
    }

    @Test
    void idleSlabsAreReturnedAfterAWhile() {
        PoolSet set = builder(Long.MAX_VALUE)
                .idleAfter(1000)
                .pool(PoolOptions.tlsf("t", 640, 640))
                .build();
        ask(set, "a", 640);
        ask(set, "b", 640);
        clock.addAndGet(5000);
        release("a");
        assertThat(slabs.out).hasSize(2);
        clock.addAndGet(1000);
        release("b");
        assertThat(slabs.out).as("a release looks for idle slabs").hasSize(1);
        clock.addAndGet(999);
        set.woken();
        assertThat(slabs.out).hasSize(1);
        clock.addAndGet(1);
        set.woken();
        assertThat(slabs.out).isEmpty();
    }

    @Test
    void idleSlabsOfAnUnusedSetAreReturned() {
        tracker.register(AXIS);
        ManualTimer timer = new ManualTimer();
        PoolSet set = builder(Long.MAX_VALUE)
                .idleAfter(1000)
                .delayed(timer::after)
                .pool(PoolOptions.tlsf("t", 640, 640))
                .build();
        ask(set, "a", 640);
        ask(set, "b", 640);
        ask(set, "c", 640);
        assertThat(timer.pending).as("nothing is idle").isEmpty();
        release("a");
        clock.addAndGet(600);
        release("b");
        got.remove("c").release(Frontier.producedBy(AXIS, 1));
        assertThat(timer.pending).as("a single alarm at a time").hasSize(1);
        assertThat(timer.next()).isEqualTo(1000);
        clock.addAndGet(400);
        timer.run();
        assertThat(slabs.out).as("only one slab has been idle for so long").hasSize(2);
        assertThat(timer.next()).as("until the others' turn").isEqualTo(600);
        clock.addAndGet(600);
        timer.run();
        assertThat(slabs.out).as("the last user is not over").hasSize(1);
        tracker.advance(AXIS, 1);
        clock.addAndGet(timer.next());
        timer.run();
        assertThat(slabs.out).isEmpty();
        assertThat(timer.pending).as("nothing is left to look for").isEmpty();
        ask(set, "d", 640);
        release("d");
        assertThat(timer.pending).hasSize(1);
        set.close();
        timer.run();
        assertThat(timer.pending).as("a closed set is not looked at").isEmpty();
        assertThat(slabs.out).isEmpty();
    }

    /** A timer run by the test. */
    private static final class ManualTimer {
        final List<Runnable> pending = new ArrayList<>();
        private final List<Long> delays = new ArrayList<>();

        Executor after(long nanos) {
            return action -> {
                delays.add(nanos);
                pending.add(action);
            };
        }

        long next() {
            return delays.getFirst();
        }

        void run() {
            delays.removeFirst();
            pending.removeFirst().run();
        }
    }
}
