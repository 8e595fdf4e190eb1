package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** FENCE-1, FENCE-2: a wait for several fences ends once, whatever the cause. */
class MultiWaitTest {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");
    private static final Duration LONG = Duration.ofSeconds(30);

    private final TimelineSemaphore a = TimelineSemaphore.create(0);
    private final TimelineSemaphore b = TimelineSemaphore.create(0);
    private final TimelineSemaphore c = TimelineSemaphore.create(0);
    private final Fence atA = Fence.at(a, 1);
    private final Fence atB = Fence.at(b, 1);
    private final Fence atC = Fence.at(c, 1);

    @AfterEach
    void close() {
        for (AutoCloseable each : List.of(atA, atB, atC, a, b, c)) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void allWaitsForTheLast() {
        List<String> ends = new ArrayList<>();
        MultiWait.whenAll(List.of(atA, atB, atC), failure -> ends.add("" + failure));
        c.signal(1);
        a.signal(2);
        assertThat(ends).isEmpty();
        b.signal(1);
        assertThat(ends).containsExactly("null");
        MultiWait.awaitAll(List.of(atA, atB, atC), Duration.ZERO);
    }

    @Test
    void allEndsWithTheFirstFailure() {
        List<@Nullable IreeException> ends = new ArrayList<>();
        MultiWait.whenAll(List.of(atA, atB, atC), ends::add);
        b.fail(LOST);
        c.fail(IreeException.of(StatusCode.ABORTED, "second"));
        a.signal(1);
        assertThat(ends).containsExactly(LOST);
        assertFails(StatusCode.DATA_LOSS, () -> MultiWait.awaitAll(List.of(atA, atB), LONG));
    }

    @Test
    void anyEndsWithTheFirstReached() {
        List<Integer> ends = new ArrayList<>();
        MultiWait.whenAny(List.of(atA, atB, atC), (index, failure) -> ends.add(index));
        b.signal(1);
        a.signal(1);
        assertThat(ends).containsExactly(1);
        assertThat(MultiWait.awaitAny(List.of(atC, atB, atA), Duration.ZERO)).isEqualTo(1);
    }

    @Test
    void anyEndsWithTheFirstFailure() {
        List<@Nullable IreeException> ends = new ArrayList<>();
        MultiWait.whenAny(List.of(atA, atB), (index, failure) -> ends.add(failure));
        b.fail(LOST);
        a.signal(1);
        assertThat(ends).containsExactly(LOST);
        assertFails(StatusCode.DATA_LOSS, () -> MultiWait.awaitAny(List.of(atC, atB), LONG));
    }

    @Test
    void nullIsReached() {
        MultiWait.awaitAll(Arrays.asList(null, null), Duration.ZERO);
        MultiWait.awaitAll(List.of(), Duration.ZERO);
        assertThat(MultiWait.awaitAny(Arrays.asList(atA, null), Duration.ZERO)).isEqualTo(1);
        assertFails(StatusCode.INVALID_ARGUMENT, () -> MultiWait.awaitAny(List.of(), Duration.ZERO));
    }

    @Test
    void timeoutsSayHowManyAreMissing() {
        a.signal(1);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> MultiWait.awaitAll(List.of(atA, atB, atC), Duration.ofMillis(2)))
                .withMessageContaining("2 of 3 fences not reached within 2 ms")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        assertFails(StatusCode.DEADLINE_EXCEEDED, () -> MultiWait.awaitAny(List.of(atB, atC), Duration.ofMillis(2)));
    }

    @Test
    void cancelledWaitsAreNotCalled() {
        AtomicInteger calls = new AtomicInteger();
        Cancellation all = MultiWait.whenAll(List.of(atA, atB), failure -> calls.incrementAndGet());
        Cancellation any = MultiWait.whenAny(List.of(atA, atB), (index, failure) -> calls.incrementAndGet());
        assertThat(all.cancel()).isTrue();
        assertThat(any.cancel()).isTrue();
        assertThat(all.cancel()).isFalse();
        assertThat(any.cancel()).isFalse();
        a.signal(1);
        b.signal(1);
        assertThat(calls).hasValue(0);
    }

    @Test
    void endedWaitsAreCancelledEverywhere() {
        MultiWait.whenAll(List.of(atA, atB, atC), failure -> {}).cancel();
        assertThat(List.of(a, b, c)).noneMatch(TimelineSemaphore::isAwaited);
        MultiWait.whenAny(List.of(atA, atB, atC), (index, failure) -> {});
        b.signal(1);
        assertThat(List.of(a, b, c)).noneMatch(TimelineSemaphore::isAwaited);
        MultiWait.whenAny(List.of(atB, atC), (index, failure) -> {});
        assertThat(c.isAwaited()).isFalse();
        assertFails(StatusCode.DEADLINE_EXCEEDED, () -> MultiWait.awaitAll(List.of(atA, atC), Duration.ZERO));
        assertThat(List.of(a, b, c)).noneMatch(TimelineSemaphore::isAwaited);
    }

    @Test
    void aWaitRegisteredAfterTheEndIsCancelled() {
        List<String> taken = new ArrayList<>();
        AnyWait any = new AnyWait((index, failure) -> taken.add("ended"), 2);
        any.ended(0, null);
        any.add(1, () -> taken.add("taken back"));
        assertThat(taken).containsExactly("ended", "taken back");
    }

    @Test
    void aTimelinesOwnDeadlineFailureIsReported() {
        a.fail(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "the call had 5 ms"));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> MultiWait.awaitAll(List.of(atA, atB), LONG))
                .withMessageContaining("the call had 5 ms");
    }

    @Test
    void aClosedFenceIsRefusedEvenBehindAReachedFence() {
        a.signal(1);
        Fence closed = Fence.at(b, 2);
        closed.close();
        List<Integer> ends = new ArrayList<>();
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                () -> MultiWait.whenAny(List.of(atA, closed), (index, failure) -> ends.add(index)));
        assertThat(ends).isEmpty();
    }

    @Test
    void blockedThreadsOfBothKindsWake() throws Exception {
        for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
            try (TimelineSemaphore last = TimelineSemaphore.create(0);
                    Fence fence = Fence.at(last, 1)) {
                CompletableFuture<Integer> any = new CompletableFuture<>();
                CompletableFuture<String> all = new CompletableFuture<>();
                Thread first = kind.start(() -> any.complete(MultiWait.awaitAny(List.of(atB, fence), LONG)));
                Thread second = kind.start(() -> {
                    MultiWait.awaitAll(List.of(fence, fence), LONG);
                    all.complete("woken");
                });
                last.signal(1);
                assertThat(any.join()).isEqualTo(1);
                assertThat(all.join()).isEqualTo("woken");
                first.join();
                second.join();
            }
        }
    }

    @Test
    void aTimelinePointIsAFence() {
        try (Timeline timeline = Timeline.create();
                Fence one = timeline.at(1);
                Fence two = timeline.at(2);
                Fence both = Fence.joinNullable(Arrays.asList(one, null, two, atA))) {
            assertThat(timeline.at(0).isReached()).isTrue();
            one.signal();
            timeline.await(1);
            assertThat(timeline.value()).isEqualTo(1);
            two.signal();
            assertThat(both).isNotNull();
            assertThat(both.size()).isEqualTo(2);
            assertThat(both.semaphore(0)).isSameAs(timeline.semaphore());
            assertThat(both.value(0)).isEqualTo(2);
            assertThat(both.isReached()).isFalse();
            CompletableFuture<@Nullable Void> future = both.toCompletableFuture();
            atA.signal();
            assertThat(future).isCompleted();
        }
    }

    /** Each wait ends once: reached, failed, or cancelled. */
    @Test
    void racingEndsAreASingleEnd() throws Exception {
        for (int round = 0; round < 400; round++) {
            TimelineSemaphore left = TimelineSemaphore.create(0);
            TimelineSemaphore right = TimelineSemaphore.create(0);
            AtomicInteger allEnds = new AtomicInteger();
            AtomicInteger anyEnds = new AtomicInteger();
            CyclicBarrier start = new CyclicBarrier(3);
            try (Fence x = Fence.at(left, 1);
                    Fence y = Fence.at(right, 1)) {
                Cancellation all = MultiWait.whenAll(List.of(x, y), failure -> allEnds.incrementAndGet());
                Cancellation any = MultiWait.whenAny(List.of(x, y), (index, failure) -> anyEnds.incrementAndGet());
                Thread signaller = Thread.ofPlatform().start(() -> {
                    meet(start);
                    left.signal(1);
                });
                Thread failer = Thread.ofPlatform().start(() -> {
                    meet(start);
                    right.fail(LOST);
                });
                meet(start);
                int allCancelled = all.cancel() ? 1 : 0;
                int anyCancelled = any.cancel() ? 1 : 0;
                signaller.join();
                failer.join();
                assertThat(allEnds.get() + allCancelled).isEqualTo(1);
                assertThat(anyEnds.get() + anyCancelled).isEqualTo(1);
            }
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertFails(StatusCode code, Runnable action) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(action::run)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }
}
