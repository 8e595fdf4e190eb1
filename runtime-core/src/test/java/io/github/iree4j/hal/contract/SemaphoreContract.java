package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of every backend's timelines. */
public abstract class SemaphoreContract extends DeviceContract {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    /** On a backend, closed after each test. */
    protected SemaphoreContract(Backend backend) {
        super(backend);
    }

    @Test
    void startsAtItsInitialValue() {
        TimelineSemaphore semaphore = closed(device.createSemaphore(5, 0));
        assertThat(semaphore.value()).isEqualTo(5);
        assertThat(semaphore.isReached(5)).isTrue();
        assertThat(semaphore.isReached(6)).isFalse();
    }

    @Test
    void refusesANegativeStart() {
        assertFails(StatusCode.INVALID_ARGUMENT, "initial semaphore value -1", () -> device.createSemaphore(-1, 0));
    }

    @Test
    void refusesToGoBackOrStay() {
        TimelineSemaphore semaphore = closed(device.createSemaphore(5, 0));
        assertFails(StatusCode.INVALID_ARGUMENT, "must increase: 5 -> 5", () -> semaphore.signal(5));
        assertFails(StatusCode.INVALID_ARGUMENT, "must increase: 5 -> 4", () -> semaphore.signal(4));
        assertFails(StatusCode.INVALID_ARGUMENT, "must increase: 5 -> -9", () -> semaphore.signal(-9));
        semaphore.signal(TimelineSemaphore.MAXIMUM_VALUE);
        assertFails(StatusCode.INVALID_ARGUMENT, "must increase", () -> semaphore.signal(Long.MAX_VALUE));
    }

    @Test
    void firstFailureStays() {
        TimelineSemaphore semaphore = semaphore();
        semaphore.signal(3);
        semaphore.fail(LOST);
        semaphore.fail(IreeException.of(StatusCode.ABORTED, "second"));
        assertThat(semaphore.failure()).isSameAs(LOST);
        assertThat(semaphore.value()).isEqualTo(3);
        assertThat(semaphore.isReached(3))
                .as("a failed timeline has reached nothing")
                .isFalse();
        assertFails(StatusCode.DATA_LOSS, "lost on purpose", () -> semaphore.await(1));
        assertFails(StatusCode.DATA_LOSS, "lost on purpose", () -> semaphore.signal(4));
    }

    @Test
    void callsBackAtOnceWhenReached() {
        TimelineSemaphore semaphore = closed(device.createSemaphore(2, 0));
        List<Long> values = new ArrayList<>();
        Cancellation wait = semaphore.whenReached(1, (value, failure) -> values.add(value));
        assertThat(values).containsExactly(2L);
        assertThat(wait.cancel()).isFalse();
    }

    @Test
    void callsBackWhenSignalledInOrderOfValueThenRegistration() {
        TimelineSemaphore semaphore = semaphore();
        List<String> calls = new ArrayList<>();
        semaphore.whenReached(3, (value, failure) -> calls.add("3 at " + value));
        semaphore.whenReached(1, (value, failure) -> calls.add("1 at " + value));
        semaphore.whenReached(2, (value, failure) -> calls.add("2a at " + value));
        semaphore.whenReached(2, (value, failure) -> calls.add("2b at " + value));
        semaphore.signal(1);
        semaphore.signal(7);
        assertThat(calls).containsExactly("1 at 1", "2a at 7", "2b at 7", "3 at 7");
    }

    @Test
    void failureReachesAllWaitersNowAndLater() {
        TimelineSemaphore semaphore = semaphore();
        List<@Nullable IreeException> failures = new ArrayList<>();
        semaphore.whenReached(1, (value, failure) -> failures.add(failure));
        semaphore.whenReached(100, (value, failure) -> failures.add(failure));
        semaphore.fail(LOST);
        semaphore.whenReached(0, (value, failure) -> failures.add(failure));
        assertThat(failures).containsExactly(LOST, LOST, LOST);
    }

    @Test
    void aCancelledWaiterIsNotCalled() {
        TimelineSemaphore semaphore = semaphore();
        AtomicInteger calls = new AtomicInteger();
        Cancellation first = semaphore.whenReached(1, (value, failure) -> calls.addAndGet(1));
        Cancellation middle = semaphore.whenReached(1, (value, failure) -> calls.addAndGet(10));
        Cancellation last = semaphore.whenReached(1, (value, failure) -> calls.addAndGet(100));
        assertThat(middle.cancel()).isTrue();
        assertThat(middle.cancel()).isFalse();
        semaphore.signal(1);
        assertThat(calls).hasValue(101);
        assertThat(first.cancel()).isFalse();
        assertThat(last.cancel()).isFalse();
    }

    @Test
    void waitersOfRandomValuesAreCalledOnceEach() {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        TimelineSemaphore semaphore = semaphore();
        int[] calls = new int[500];
        int[] minimum = new int[calls.length];
        Cancellation[] waits = new Cancellation[calls.length];
        boolean[] cancelled = new boolean[calls.length];
        long value = 0;
        for (int i = 0; i < calls.length; i++) {
            int index = i;
            minimum[i] = random.nextInt(1000);
            waits[i] = semaphore.whenReached(minimum[i], (v, failure) -> calls[index]++);
            int other = random.nextInt(i + 1);
            if (random.nextInt(4) == 0) {
                cancelled[other] |= waits[other].cancel();
            }
            if (random.nextInt(20) == 0) {
                semaphore.signal(value += 1 + random.nextInt(50));
            }
            for (int j = 0; j <= i; j++) {
                assertThat(calls[j])
                        .as("seed %d, waiter %d", seed, j)
                        .isEqualTo(minimum[j] <= value && !cancelled[j] ? 1 : 0);
            }
        }
    }

    @Test
    void aChainOfAHundredThousandDoesNotRecurse() {
        int length = 100_000;
        List<TimelineSemaphore> chain = new ArrayList<>();
        for (int i = 0; i <= length; i++) {
            chain.add(TimelineSemaphore.create(0));
        }
        for (int i = 0; i < length; i++) {
            TimelineSemaphore next = chain.get(i + 1);
            chain.get(i).whenReached(1, (value, failure) -> next.signal(1));
        }
        chain.getFirst().signal(1);
        assertThat(chain.getLast().value()).isEqualTo(1);
        chain.forEach(TimelineSemaphore::close);
    }

    @Test
    void aThrowingTimepointDoesNotKeepTheOthers() {
        TimelineSemaphore semaphore = semaphore();
        AtomicInteger calls = new AtomicInteger();
        semaphore.whenReached(1, (value, failure) -> {
            throw new IllegalStateException("on purpose");
        });
        semaphore.whenReached(1, (value, failure) -> calls.incrementAndGet());
        semaphore.signal(1);
        assertThat(calls).hasValue(1);
    }

    @Test
    void awaitTimesOut() {
        TimelineSemaphore semaphore = semaphore();
        assertFails(StatusCode.DEADLINE_EXCEEDED, "did not reach 1", () -> semaphore.await(1, Duration.ofMillis(5)));
        assertFails(StatusCode.DEADLINE_EXCEEDED, "at 0", () -> semaphore.await(1, Duration.ZERO));
        assertFails(StatusCode.DEADLINE_EXCEEDED, "at 0", () -> semaphore.await(1, Duration.ofSeconds(-5)));
        semaphore.signal(1);
        semaphore.await(1, Duration.ZERO);
        semaphore.await(1, ChronoUnit.FOREVER.getDuration());
    }

    @Test
    void awaitReturnsWhenSignalledOnPlatformAndVirtualThreads() throws Exception {
        for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
            TimelineSemaphore semaphore = semaphore();
            AtomicReference<@Nullable Throwable> outcome =
                    new AtomicReference<>(new IllegalStateException("did not end"));
            Thread waiter = kind.start(() -> {
                try {
                    semaphore.await(2);
                    outcome.set(null);
                } catch (Throwable t) {
                    outcome.set(t);
                }
            });
            semaphore.signal(1);
            blocked(waiter);
            semaphore.signal(2);
            waiter.join();
            assertThat(outcome.get()).isNull();
        }
    }

    /** Each waits for a different value: a signal wakes its own waiter. */
    @Test
    void threadsWaitingForDifferentValuesWakeInTurn() throws Exception {
        TimelineSemaphore semaphore = semaphore();
        int count = 2_000;
        List<Thread> threads = new ArrayList<>();
        AtomicReferenceArray<@Nullable Throwable> thrown = new AtomicReferenceArray<>(count);
        for (int i = 0; i < count; i++) {
            int index = i;
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    semaphore.await(index + 1, Duration.ofMinutes(1));
                    if (semaphore.value() <= index) {
                        thrown.set(index, new IllegalStateException("woken at " + semaphore.value()));
                    }
                } catch (Throwable t) {
                    thrown.set(index, t);
                }
            }));
        }
        for (int i = 0; i < count; i++) {
            semaphore.signal(i + 1);
        }
        for (int i = 0; i < count; i++) {
            threads.get(i).join();
            assertThat(thrown.get(i)).as("thread %d", i).isNull();
        }
    }

    @Test
    void aLateWaiterInheritsTheEarliestSignalNotTheLatest() {
        TimelineSemaphore semaphore = semaphore();
        Frontier first = Frontier.producedBy(AXIS, 1);
        Frontier second = Frontier.producedBy(AXIS, 2);
        assertThat(semaphore.promise(1, first)).isTrue();
        assertThat(semaphore.promise(2, second)).isTrue();
        semaphore.signal(1, first);
        semaphore.signal(2, second);
        assertThat(semaphore.frontierAt(1)).isSameAs(first);
        assertThat(semaphore.frontierAt(2)).isSameAs(second);
    }

    @Test
    void taintLastsUntilASignalOfOurOwn() {
        TimelineSemaphore semaphore = semaphore();
        semaphore.signalExternal(1);
        assertThat(semaphore.isTainted(1)).isTrue();
        semaphore.signal(2, Frontier.producedBy(AXIS, 1));
        assertThat(semaphore.isTainted(1)).isFalse();
        assertThat(semaphore.frontierAt(1)).isEqualTo(Frontier.producedBy(AXIS, 1));
    }

    @Test
    void awaitThrowsWhenTheTimelineFailsMeanwhile() throws Exception {
        TimelineSemaphore semaphore = semaphore();
        AtomicReference<@Nullable Throwable> outcome = new AtomicReference<>();
        Thread waiter = Thread.ofVirtual().start(() -> {
            try {
                semaphore.await(2);
            } catch (Throwable t) {
                outcome.set(t);
            }
        });
        blocked(waiter);
        semaphore.fail(LOST);
        waiter.join();
        assertThat(outcome.get())
                .isInstanceOf(IreeException.class)
                .hasMessage("lost on purpose")
                .hasCause(LOST);
    }

    @Test
    void anInterruptEndsAwait() throws Exception {
        TimelineSemaphore semaphore = semaphore();
        AtomicReference<@Nullable Throwable> outcome = new AtomicReference<>();
        AtomicReference<Boolean> interrupted = new AtomicReference<>(false);
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                semaphore.await(2);
            } catch (Throwable t) {
                outcome.set(t);
                interrupted.set(Thread.currentThread().isInterrupted());
            }
        });
        blocked(waiter);
        waiter.interrupt();
        waiter.join();
        assertThat(outcome.get()).isInstanceOf(IreeException.class).hasMessageContaining("interrupted");
        assertThat(interrupted.get()).isTrue();
    }

    @Test
    void thousandsOfVirtualThreadsWait() throws Exception {
        TimelineSemaphore semaphore = semaphore();
        AtomicInteger woken = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                semaphore.await(1);
                woken.incrementAndGet();
            }));
        }
        semaphore.signal(1);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(woken).hasValue(5000);
    }

    @Test
    void twoThreadsSignalEachOtherBackAndForth() throws Exception {
        TimelineSemaphore there = semaphore();
        TimelineSemaphore back = semaphore();
        Thread other = Thread.ofPlatform().start(() -> {
            there.await(0);
            for (int i = 1; i <= 200; i++) {
                there.await(3 * i - 1, LONG); // passed by the signal
                back.signal(i);
            }
        });
        for (int i = 1; i <= 200; i++) {
            there.signal(3 * i);
            back.await(i, LONG);
            assertThat(back.value()).isEqualTo(i);
        }
        other.join();
    }

    @Test
    void waitersOfAnAbandonedTimelineAreCancelled() {
        TimelineSemaphore semaphore = device.createSemaphore(0, 0);
        AtomicReference<@Nullable IreeException> failure = new AtomicReference<>();
        semaphore.whenReached(1, (value, cause) -> failure.set(cause));
        semaphore.close();
        assertThat(failure.get()).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
        assertFails(StatusCode.CANCELLED, "closed before it reached 1", () -> semaphore.await(1));
        AtomicReference<@Nullable IreeException> late = new AtomicReference<>();
        semaphore.whenReached(1, (value, cause) -> late.set(cause));
        assertThat(late.get()).isNotNull();
    }

    @Test
    void racingSignalsWaitersAndCancellationsLoseNobody() throws Exception {
        for (int round = 0; round < Effort.rounds(300); round++) {
            TimelineSemaphore semaphore = TimelineSemaphore.create(0);
            AtomicInteger called = new AtomicInteger();
            AtomicInteger cancelled = new AtomicInteger();
            int each = 20;
            CyclicBarrier start = new CyclicBarrier(3);
            Thread signaller = Thread.ofPlatform().start(() -> {
                meet(start);
                for (int v = 1; v <= each; v++) {
                    semaphore.signal(v);
                }
            });
            List<Thread> waiters = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                waiters.add(Thread.ofPlatform().start(() -> {
                    meet(start);
                    for (int v = 1; v <= each; v++) {
                        Cancellation wait = semaphore.whenReached(v, (value, failure) -> called.incrementAndGet());
                        if (v % 3 == 0 && wait.cancel()) {
                            cancelled.incrementAndGet();
                        }
                    }
                }));
            }
            signaller.join();
            for (Thread waiter : waiters) {
                waiter.join();
            }
            assertThat(called.get() + cancelled.get()).isEqualTo(2 * each);
            semaphore.close();
        }
    }

    static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns once the thread has blocked; fails without one. */
    static void blocked(Thread thread) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(thread.isAlive()).as("thread ended instead of waiting").isTrue();
            assertThat(System.nanoTime()).as("thread never waited").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
