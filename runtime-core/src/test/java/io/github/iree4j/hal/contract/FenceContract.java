package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.MultiWait;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of fences over every backend's timelines. */
public abstract class FenceContract extends DeviceContract {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    /** On a backend, closed after each test. */
    protected FenceContract(Backend backend) {
        super(backend);
    }

    private Fence both(TimelineSemaphore a, long valueA, TimelineSemaphore b, long valueB) {
        return closed(Fence.of(List.of(new Fence.Entry(a, valueA), new Fence.Entry(b, valueB))));
    }

    @Test
    void joinOfNothingIsReached() {
        assertThat(Fence.joinNullable(List.of())).isNull();
        assertThat(Fence.joinNullable(Arrays.asList(null, null))).isNull();
    }

    @Test
    void joinKeepsTheGreatestValueOfEachTimeline() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        Fence joined = closed(Fence.joinNullable(Arrays.asList(at(a, 3), null, at(b, 7), at(a, 5), at(a, 4))));
        assertThat(joined.entries()).containsExactly(new Fence.Entry(a, 5), new Fence.Entry(b, 7));
    }

    @Test
    void isReachedWhenAllPointsAre() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        Fence fence = both(a, 1, b, 2);
        assertThat(fence.query()).isEqualTo(StatusCode.DEFERRED);
        a.signal(1);
        b.signal(1);
        assertThat(fence.isReached()).isFalse();
        b.signal(3);
        assertThat(fence.isReached()).isTrue();
        assertThat(fence.query()).isEqualTo(StatusCode.OK);
        fence.await(Duration.ZERO);
    }

    @Test
    void failsWithTheFirstFailingTimeline() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        Fence fence = both(a, 1, b, 1);
        AtomicReference<@Nullable IreeException> seen = new AtomicReference<>();
        fence.whenReached(seen::set);
        b.fail(LOST);
        assertThat(seen.get()).isSameAs(LOST);
        assertThat(fence.query()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(fence.failure()).containsSame(LOST);
        assertFails(StatusCode.DATA_LOSS, "lost on purpose", fence::await);
    }

    @Test
    void awaitWakesForTheFailureOfAnyTimeline() throws Exception {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        Fence fence = both(a, 1, b, 1);
        AtomicReference<@Nullable Throwable> outcome = new AtomicReference<>();
        Thread waiter = Thread.ofVirtual().start(() -> {
            try {
                fence.await();
            } catch (Throwable t) {
                outcome.set(t);
            }
        });
        SemaphoreContract.blocked(waiter);
        b.fail(LOST);
        waiter.join();
        assertThat(outcome.get()).hasMessage("lost on purpose");
    }

    @Test
    void awaitTimesOutOverSeveralTimelines() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        a.signal(1);
        Fence fence = both(a, 1, b, 1);
        assertFails(StatusCode.DEADLINE_EXCEEDED, "", () -> fence.await(Duration.ofMillis(5)));
        b.signal(1);
        fence.await();
    }

    @Test
    void signalMovesEveryTimeline() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        Fence fence = both(a, 4, b, 2);
        fence.signal();
        assertThat(a.value()).isEqualTo(4);
        assertThat(b.value()).isEqualTo(2);
        assertFails(StatusCode.INVALID_ARGUMENT, "must increase: 4 -> 4", fence::signal);
    }

    @Test
    void anUnsignallablePointDoesNotKeepTheOthers() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        a.signal(9);
        Fence fence = both(a, 4, b, 2);
        assertFails(StatusCode.INVALID_ARGUMENT, "must increase: 9 -> 4", fence::signal);
        assertThat(b.value()).isEqualTo(2);
    }

    @Test
    void failReachesEveryTimeline() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        both(a, 1, b, 1).fail(LOST);
        assertThat(a.failure()).isSameAs(LOST);
        assertThat(b.failure()).isSameAs(LOST);
    }

    @Test
    void callsBackOnceWhenTheLastPointIsReached() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        AtomicInteger calls = new AtomicInteger();
        both(a, 1, b, 1).whenReached(failure -> calls.incrementAndGet());
        a.signal(1);
        assertThat(calls).hasValue(0);
        b.signal(1);
        b.signal(2);
        a.fail(LOST);
        assertThat(calls).hasValue(1);
    }

    @Test
    void aCancelledWaitIsNotCalled() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        AtomicInteger calls = new AtomicInteger();
        Cancellation wait = both(a, 1, b, 1).whenReached(failure -> calls.incrementAndGet());
        a.signal(1);
        assertThat(wait.cancel()).isTrue();
        assertThat(wait.cancel()).isFalse();
        b.signal(1);
        assertThat(calls).hasValue(0);
    }

    /** A point signalled by work of the device, and a point signalled by the host. */
    @Test
    void severalThreadsWaitForTheHostAndTheDevice() throws Exception {
        for (boolean hostFirst : new boolean[] {true, false}) {
            Fence wait = fence();
            Fence byDevice = fence();
            Fence byHost = fence();
            queue.barrier(wait, byDevice, 0);
            Fence first = hostFirst ? byHost : wait;
            CompletableFuture<Integer> any = new CompletableFuture<>();
            List<CompletableFuture<String>> all = List.of(new CompletableFuture<>(), new CompletableFuture<>());
            List<Fence> both = List.of(byDevice, byHost);
            List<Thread> threads = new ArrayList<>();
            threads.add(Thread.ofVirtual().start(() -> any.complete(MultiWait.awaitAny(both, LONG))));
            for (CompletableFuture<String> each : all) {
                threads.add(Thread.ofPlatform().start(() -> {
                    MultiWait.awaitAll(both, LONG);
                    each.complete("reached");
                }));
            }
            first.signal();
            assertThat(any.get(60, TimeUnit.SECONDS)).isEqualTo(hostFirst ? 1 : 0);
            assertThat(all).noneMatch(CompletableFuture::isDone);
            (hostFirst ? wait : byHost).signal();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(all).allMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void becomesAFuture() {
        TimelineSemaphore a = semaphore();
        Fence fence = at(a, 1);
        CompletableFuture<@Nullable Void> future = fence.toCompletableFuture();
        assertThat(future).isNotDone();
        a.signal(1);
        assertThat(future).isCompleted();
        a.fail(LOST);
        assertThat(fence.toCompletableFuture()).isCompletedExceptionally();
        TimelineSemaphore b = semaphore();
        assertThat(at(b, 1).toCompletableFuture().cancel(true)).isTrue();
        b.signal(1);
    }

    @Test
    void keepsItsTimelinesAlive() {
        TimelineSemaphore semaphore = device.createSemaphore(0, 0);
        Fence fence = Fence.at(semaphore, 1);
        semaphore.close();
        assertThat(semaphore.isLive()).isTrue();
        AtomicReference<@Nullable IreeException> seen = new AtomicReference<>();
        fence.whenReached(seen::set);
        fence.close();
        fence.close();
        assertThat(semaphore.isLive()).isFalse();
        assertThat(seen.get()).as("no signaller is left").isNotNull();
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> Fence.at(semaphore, 2));
    }

    @Test
    void aClosedFenceIsNotUsed() {
        Fence fence = fence();
        fence.close();
        assertFails(StatusCode.FAILED_PRECONDITION, "fence of 1 point is closed", fence::await);
        assertFails(StatusCode.FAILED_PRECONDITION, "fence of 1 point is closed", fence::signal);
        assertFails(StatusCode.FAILED_PRECONDITION, "is closed", fence::toCompletableFuture);
    }

    @Test
    void racingPointsCallBackOnce() throws Exception {
        for (int round = 0; round < Effort.rounds(500); round++) {
            List<TimelineSemaphore> semaphores = new ArrayList<>();
            List<Fence.Entry> entries = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                semaphores.add(TimelineSemaphore.create(0));
                entries.add(new Fence.Entry(semaphores.get(i), 1));
            }
            AtomicInteger calls = new AtomicInteger();
            boolean fails = round % 2 == 0;
            try (Fence fence = Fence.of(entries)) {
                CyclicBarrier start = new CyclicBarrier(3);
                Thread first = Thread.ofPlatform().start(() -> {
                    SemaphoreContract.meet(start);
                    semaphores.get(0).signal(1);
                    semaphores.get(2).signal(1);
                });
                Thread second = Thread.ofPlatform().start(() -> {
                    SemaphoreContract.meet(start);
                    if (fails) {
                        semaphores.get(1).fail(LOST);
                    } else {
                        semaphores.get(1).signal(1);
                    }
                });
                SemaphoreContract.meet(start);
                fence.whenReached(failure -> calls.addAndGet(failure == null ? 1 : 100));
                first.join();
                second.join();
            }
            assertThat(calls).hasValue(fails ? 100 : 1);
            semaphores.forEach(TimelineSemaphore::close);
        }
    }

    /** FENCE-3: the points of an operation's fence are a single event for work behind any point. */
    @Test
    void workBehindAPointOfAnOperationSignalsTheOtherTimelinesFurther() {
        for (int points : new int[] {2, 8}) {
            for (int round = 0; round < Effort.rounds(400); round++) {
                List<Fence.Entry> entries = points(points);
                try (Fence all = Fence.of(entries);
                        Fence behind = Fence.at(entries.get(round % points).semaphore(), 1);
                        Fence further =
                                Fence.at(entries.get((round + 1) % points).semaphore(), 2)) {
                    queue.hostCall(behind, further, () -> {}, 0);
                    queue.hostCall(null, all, () -> {}, 0);
                    further.await(Duration.ofSeconds(60));
                    assertThat(all.isReached()).as("round %d", round).isTrue();
                }
                entries.forEach(each -> each.semaphore().close());
            }
        }
    }

    /** FENCE-3: and for a thread that polls a point. */
    @Test
    void aThreadSeeingAPointOfAnOperationSignalsTheOtherTimelinesFurther() {
        for (int round = 0; round < Effort.rounds(2_000); round++) {
            List<Fence.Entry> entries = points(8);
            TimelineSemaphore seen = entries.get(0).semaphore();
            TimelineSemaphore other = entries.get(7).semaphore();
            try (Fence all = Fence.of(entries)) {
                queue.hostCall(null, all, () -> {}, 0);
                while (!seen.isReached(1)) {
                    Thread.onSpinWait();
                }
                other.signal(2);
                assertThat(all.isReached()).as("round %d", round).isTrue();
            }
            entries.forEach(each -> each.semaphore().close());
        }
    }

    private static List<Fence.Entry> points(int count) {
        List<Fence.Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(new Fence.Entry(TimelineSemaphore.create(0), 1));
        }
        return entries;
    }
}
