package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** GATE-2: the memory held by a call, with its inner calls, and the duration of its right to memory. */
@Timeout(60)
class MemoryHolderTest extends DeadlockLine {
    private static MemoryHolder call(String name, @Nullable MemoryHolder outer) {
        return new MemoryHolder(name, new OperationsUnderWay(), null, outer);
    }

    private static Admission right(PoolSet set, long need) {
        return Objects.requireNonNull(set.gate().tryAdmit("", new KnownNeed(need, 0)));
    }

    @Test
    void aPeakIsTheMostHeldAtOnce() {
        PoolSet set = halves().build();
        MemoryHolder a = holding(set, "a");
        askFor(set, a, "more");
        release("a");
        release("more");
        askFor(set, a, "less again");
        a.end();
        assertThat(a.peak(set.gate())).isEqualTo(2 * HALF);
        release("less again");
        MemoryHolder b = holding(set, "b");
        release("b");
        askFor(set, b, "again");
        b.end();
        assertThat(b.peak(set.gate())).isEqualTo(HALF);
    }

    @Test
    void aCallAwaitsMemoryUntilTheGrantAndNotUntilItsThreadWakes() throws InterruptedException {
        MemoryHolder call = call("a", null);
        CompletableFuture<String> grant = new CompletableFuture<>();
        assertThat(call.isAwaitingMemory()).isFalse();
        Thread caller = Thread.startVirtualThread(() -> call.await(grant));
        while (!call.isAwaitingMemory()) {
            Thread.onSpinWait();
        }
        grant.complete("memory");
        assertThat(call.isAwaitingMemory()).isFalse();
        caller.join();
        assertThat(call.isAwaitingMemory()).isFalse();
    }

    @Test
    void memoryHeldByTheCallsOfACallIsPartOfItsPeak() {
        PoolSet set = builder(4 * HALF).pool(FakeSlabs.pieces("f", HALF)).build();
        MemoryHolder outer = holding(set, "outer");
        MemoryHolder inner = call("inner", outer);
        askFor(set, inner, "of inner");
        MemoryHolder innermost = call("innermost", inner);
        askFor(set, innermost, "of innermost");
        release("of innermost");
        innermost.end();
        release("of inner");
        inner.end();
        askFor(set, outer, "more");
        outer.end();
        assertThat(outer.peak(set.gate())).isEqualTo(3 * HALF);
        assertThat(inner.peak(set.gate())).isEqualTo(2 * HALF);
        assertThat(innermost.peak(set.gate())).isEqualTo(HALF);
        assertThat(outer.peak(halves().build().gate())).as("of other memory").isZero();
    }

    @Test
    void aRightLastsUntilTheCallsOfTheCallHaveSettled() {
        PoolSet set = halves().build();
        MemoryHolder outer = call("outer", null);
        outer.admitted(right(set, HALF));
        MemoryHolder inner = call("inner", outer);
        MemoryHolder other = call("other", outer);
        assertThat(inner.admission(set.gate())).isSameAs(outer.admission(set.gate()));
        outer.end();
        outer.settle(() -> {});
        inner.end();
        inner.settle(() -> {});
        inner.settle(() -> {});
        assertThat(set.gate().committed()).as("one is left").isEqualTo(HALF);
        other.operationBegins();
        other.end();
        other.settle(() -> {});
        assertThat(set.gate().committed()).as("the work is in flight").isEqualTo(HALF);
        other.operationEnds();
        assertThat(set.gate().committed()).isZero();
    }

    @Test
    void aRightComingTooLateIsGivenUp() throws Exception {
        PoolSet set = halves().build();
        MemoryHolder call = call("call", null);
        call.end();
        call.settle(() -> {});
        call.admitted(right(set, HALF));
        CompletableFuture<Void> admitted = new CompletableFuture<>();
        set.gate().join("", true, new KnownNeed(2 * HALF, 0), false, _ -> admitted.complete(null));
        admitted.get();
    }

    @Test
    void theMemoryHeldByACallIsKnownWhenItsNestedCallsHaveEnded() {
        PoolSet set = builder(4 * HALF).pool(FakeSlabs.pieces("f", HALF)).build();
        MemoryHolder outer = holding(set, "outer");
        outer.admitted(right(set, HALF));
        MemoryHolder inner = call("inner", outer);
        AtomicLong learned = new AtomicLong();
        outer.end();
        outer.settle(() -> {
            learned.set(outer.peak(set.gate()));
            assertThat(set.gate().committed()).as("the right is still there").isEqualTo(HALF);
        });
        askFor(set, inner, "of inner");
        assertThat(learned.get()).isZero();
        inner.end();
        inner.settle(() -> {});
        assertThat(learned.get()).isEqualTo(2 * HALF);
        List<AdmissionGate> gates = new ArrayList<>();
        outer.forEachGate(gates::add);
        assertThat(gates).containsExactly(set.gate());
        assertThat(set.gate().committed()).isZero();
    }

    @Test
    void aCallMayHoldMemoryOfSeveralSets() {
        PoolSet a = halves().build();
        PoolSet b = halves().build();
        MemoryHolder call = call("call", null);
        Admission ofA = right(a, HALF);
        Admission ofB = right(b, 2 * HALF);
        call.admitted(ofA);
        call.admitted(ofB);
        assertThat(call.admission(a.gate())).isSameAs(ofA);
        assertThat(call.admission(b.gate())).isSameAs(ofB);
        call.end();
        call.settle(() -> {});
        assertThat(a.gate().committed() + b.gate().committed()).isZero();
    }

    private static Reservation input(PoolSet set, MemoryHolder call) {
        Reservation[] reservation = new Reservation[1];
        assertThat(call.request(
                        null, // in no turn, as a nested call
                        "",
                        true,
                        () -> reservation[0] =
                                set.reserveNow(ReservationRequest.of(HALF).asPersistent())))
                .isTrue();
        return reservation[0];
    }

    /** An input awaited by a thread. */
    private static CompletableFuture<Reservation> inputInLine(PoolSet set, MemoryHolder call) {
        long before = set.statistics().waiting();
        CompletableFuture<Reservation> input = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                input.complete(input(set, call));
            } catch (IreeException e) {
                input.completeExceptionally(e);
            }
        });
        while (set.statistics().waiting() == before || thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return input;
    }

    /** Each holds the other's missing part. */
    @Test
    void ofTwoCallsWaitingForMemoryOfTheirInputsTheYoungerFails() {
        PoolSet set = halves().build();
        MemoryHolder a = call("a", null);
        MemoryHolder b = call("b", null);
        Reservation ofA = input(set, a);
        Reservation ofB = input(set, b);
        CompletableFuture<Reservation> moreOfB = inputInLine(set, b);
        CompletableFuture<Reservation> moreOfA = inputInLine(set, a);
        pass(2 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(moreOfB)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        assertThat(moreOfA).isNotDone();
        ofB.release(Frontier.EMPTY);
        assertThat(moreOfA).succeedsWithin(Duration.ofSeconds(30));
        moreOfA.join().release(Frontier.EMPTY);
        ofA.release(Frontier.EMPTY);
    }

    @Test
    void anInputToBeAskedForAgainIsNoFailure() {
        PoolSet set = halves().build();
        MemoryHolder a = call("a", null);
        Reservation first = input(set, a);
        Reservation second = input(set, a);
        assertThat(a.request(
                        set.gate(),
                        "",
                        false,
                        () -> set.reserveNow(ReservationRequest.of(HALF).asPersistent())))
                .isFalse();
        assertThat(set.statistics().pools().getFirst().failures()).isZero();
        first.release(Frontier.EMPTY);
        second.release(Frontier.EMPTY);
    }

    /** Runs a call's requests on a thread that may wait. */
    private static Thread inTurn(PoolSet set, MemoryHolder call, Runnable requests) {
        return Thread.ofPlatform().start(() -> {
            try {
                call.request(set.gate(), "", true, requests);
            } catch (IreeException e) {
                assertThat(e.code()).isEqualTo(StatusCode.CANCELLED);
            }
        });
    }

    private static void awaitWaiting(Thread thread, AtomicBoolean ran) {
        while (thread.getState() != Thread.State.WAITING && !ran.get()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void oneCallAtATimeKeepsSomeOfItsInputsDuringTheWaitForOthers() throws Exception {
        PoolSet set = halves().build();
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicBoolean isIn = new AtomicBoolean();
        Thread first = inTurn(set, call("first", null), () -> {
            isIn.set(true);
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        awaitWaiting(first, new AtomicBoolean());
        AtomicBoolean ran = new AtomicBoolean();
        MemoryHolder abandoned = call("abandoned", null);
        Thread second = inTurn(set, abandoned, () -> ran.set(true));
        awaitWaiting(second, ran);
        Thread third = inTurn(set, call("third", null), () -> ran.set(true));
        awaitWaiting(third, ran);
        assertThat(isIn).isTrue();
        assertThat(ran).isFalse();
        abandoned.abandon();
        second.join();
        assertThat(ran).isFalse();
        goOn.countDown();
        third.join();
        assertThat(ran).isTrue();
        first.join();
    }

    @Test
    void aHolderDoesNotReferToACallThatHasGivenUpItsRight() {
        MemoryHolder call = call("a", null);
        call.end();
        assertCollected(settled(call));
        Reference.reachabilityFence(call);
    }

    private static WeakReference<Object> settled(MemoryHolder call) {
        Object future = new Object();
        call.settle(future::hashCode);
        return new WeakReference<>(future);
    }

    @Test
    void aRightDoesNotReferToTheCallWhoseAdmissionItWas() {
        List<Admission> rights = new ArrayList<>();
        assertCollected(joined(halves().build(), rights));
        assertThat(rights)
                .singleElement()
                .satisfies(right -> assertThat(right.isAdmitted()).isTrue());
    }

    private static WeakReference<Object> joined(PoolSet set, List<Admission> rights) {
        Object future = new Object();
        rights.add(set.gate().join("", false, new KnownNeed(HALF, 0), false, _ -> future.hashCode()));
        return new WeakReference<>(future);
    }

    private static void assertCollected(WeakReference<Object> reference) {
        while (reference.get() != null && !Thread.currentThread().isInterrupted()) {
            System.gc();
        }
        assertThat(reference.get()).isNull();
    }
}
