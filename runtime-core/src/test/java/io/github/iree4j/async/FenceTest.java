package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Promises, signals and references of fences. */
class FenceTest {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");
    private static final Frontier FRONTIER = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 1), 5);

    private final TimelineSemaphore a = TimelineSemaphore.create(0);
    private final TimelineSemaphore b = TimelineSemaphore.create(0);

    private Fence both(long valueA, long valueB) {
        return Fence.of(List.of(new Fence.Entry(a, valueA), new Fence.Entry(b, valueB)));
    }

    @Test
    void adoptedTimelineIsReleasedWithItsFence() {
        Fence fence = Fence.adopt(a, 1);
        fence.close();
        assertThat(a.isLive()).isFalse();
    }

    @Test
    void fenceOfAClosedTimelineRetainsNothing() {
        b.close();
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> both(1, 1));
        a.close();
        assertThat(a.isLive()).isFalse();
    }

    @Test
    void promisesEveryPointWithoutAPromise() {
        try (Fence fence = both(1, 2)) {
            a.signal(1);
            fence.promise(FRONTIER);
            assertThat(b.frontierAt(2)).isEqualTo(FRONTIER);
        }
    }

    @Test
    void signallingPassesOnTheFrontier() {
        try (Fence fence = both(1, 2)) {
            assertThat(fence.signalOrFail(FRONTIER)).isEmpty();
            assertThat(a.frontierAt(1)).isEqualTo(FRONTIER);
            assertThat(b.frontierAt(2)).isEqualTo(FRONTIER);
        }
    }

    @Test
    void aTimelineAlreadyAtTheValueFails() {
        try (Fence fence = both(1, 2)) {
            a.signal(1);
            assertThat(fence.signalOrFail(FRONTIER)).containsExactly(new Fence.Entry(a, 1));
            assertThat(a.failure()).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.INVALID_ARGUMENT);
            assertThat(b.value()).isEqualTo(2);
            assertThat(b.failure()).isNull();
        }
    }

    @Test
    void cancelledFutureEndsItsWait() {
        try (Fence fence = both(1, 1)) {
            var future = fence.toCompletableFuture();
            assertThat(a.isAwaited()).isTrue();
            future.cancel(false);
            assertThat(a.isAwaited()).isFalse();
            assertThat(b.isAwaited()).isFalse();
        }
    }

    @Test
    void failureOfAPointEndsTheWaitsForTheOthers() {
        try (Fence fence = both(1, 1)) {
            fence.whenReached(failure -> {});
            assertThat(a.isAwaited()).isTrue();
            b.fail(LOST);
            assertThat(a.isAwaited()).isFalse();
        }
    }

    @Test
    void wholeWaitIsCancelled() {
        try (Fence fence = both(1, 1)) {
            fence.whenReached(failure -> {}).cancel();
            assertThat(a.isAwaited()).isFalse();
            assertThat(b.isAwaited()).isFalse();
        }
    }

    @Test
    void earlierFailureLeavesNoWait() {
        a.fail(LOST);
        try (Fence fence = both(1, 1)) {
            fence.whenReached(failure -> {});
            assertThat(b.isAwaited()).isFalse();
        }
    }

    /** FENCE-3: a follower of one point of a fence finds all points signalled. */
    @Test
    void callbackOfAPointSignalsTheOtherTimelineFurther() {
        for (boolean first : new boolean[] {true, false}) {
            try (TimelineSemaphore left = TimelineSemaphore.create(0);
                    TimelineSemaphore right = TimelineSemaphore.create(0);
                    Fence fence = Fence.of(List.of(new Fence.Entry(left, 1), new Fence.Entry(right, 1)))) {
                TimelineSemaphore seen = first ? left : right;
                TimelineSemaphore other = first ? right : left;
                seen.whenReached(1, (value, failure) -> other.signal(2));
                fence.signalOrFail(FRONTIER);
                assertThat(other.failure()).isNull();
                assertThat(other.value()).isEqualTo(2);
                assertThat(other.frontierAt(1)).isEqualTo(FRONTIER);
            }
        }
    }

    @Test
    void callbackOfAPointFindsTheOthersSignalledByTheHost() {
        try (Fence fence = both(1, 1)) {
            a.whenReached(1, (value, failure) -> b.signal(2));
            fence.signal();
            assertThat(b.value()).isEqualTo(2);
        }
    }

    @Test
    void callbackOfAFailedPointFindsTheOthersFailed() {
        List<Object> found = new ArrayList<>();
        try (Fence fence = both(1, 1)) {
            a.whenReached(1, (value, failure) -> found.add(String.valueOf(b.failure())));
            b.whenReached(1, (value, failure) -> found.add(String.valueOf(a.failure())));
            fence.fail(LOST);
        }
        assertThat(found).containsExactly(LOST.toString(), LOST.toString());
    }

    @Test
    void callbackOfAPointFindsTheRefusingTimelineFailed() {
        List<StatusCode> found = new ArrayList<>();
        b.signal(1);
        try (Fence fence = both(1, 1)) {
            a.whenReached(
                    1,
                    (value, failure) -> found.add(
                            b.failure() == null ? StatusCode.OK : b.failure().code()));
            fence.signalOrFail(FRONTIER);
        }
        assertThat(found).containsExactly(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void waitersLearnTheProgressOfEachPoint() {
        List<Object> told = new ArrayList<>();
        try (Fence fence = both(3, 5)) {
            a.whenReached(1, (value, failure) -> told.add(value));
            b.whenReached(2, (value, failure) -> told.add(value));
            fence.signal();
        }
        try (Fence fence = both(7, 9)) {
            a.whenReached(7, (value, failure) -> told.add(value));
            b.whenReached(9, (value, failure) -> told.add(failure));
            fence.fail(LOST);
        }
        assertThat(told).containsExactly(3L, 5L, 3L, LOST);
    }

    @Test
    void failureDoesNotReplaceAnEarlierFailure() {
        IreeException earlier = IreeException.of(StatusCode.ABORTED, "earlier");
        b.fail(earlier);
        try (Fence fence = both(1, 1)) {
            fence.fail(LOST);
            fence.signalOrFail(FRONTIER);
        }
        assertThat(a.failure()).isSameAs(LOST);
        assertThat(b.failure()).isSameAs(earlier);
        assertThat(a.value()).isZero();
    }

    @Test
    void jointPointWaitsForItsOtherSignalWhileTheOthersAreReached() {
        b.expectSignals(1, 2);
        try (Fence fence = both(1, 1)) {
            fence.signalOrFail(FRONTIER);
            assertThat(a.value()).isEqualTo(1);
            assertThat(b.value()).isZero();
            b.signal(1);
            assertThat(b.value()).isEqualTo(1);
        }
    }

    @Test
    void threadsAreWokenBeforeTheFirstCallback() throws InterruptedException {
        Thread waiter = Thread.ofVirtual().unstarted(() -> b.await(1));
        List<Boolean> over = new ArrayList<>();
        a.whenReached(1, (value, failure) -> {
            try {
                over.add(waiter.join(Duration.ofSeconds(60)));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        waiter.start();
        while (!b.isAwaited()) {
            Thread.onSpinWait();
        }
        try (Fence fence = both(1, 1)) {
            fence.signal();
        }
        assertThat(over).containsExactly(true);
    }

    /**
     * FENCE-3: fences with common timelines, in other orders, are signalled at once by several threads without a
     * deadlock.
     */
    @Test
    void fencesWithCommonTimelinesAreSignalledConcurrently() throws InterruptedException {
        int rounds = Effort.rounds(20_000);
        TimelineSemaphore c = TimelineSemaphore.create(0);
        List<List<TimelineSemaphore>> orders = List.of(List.of(a, b, c), List.of(c, b, a), List.of(b, c, a));
        List<Thread> threads = new ArrayList<>();
        for (List<TimelineSemaphore> order : orders) {
            threads.add(Thread.ofPlatform().daemon().start(() -> {
                for (long value = 1; value <= rounds; value++) {
                    long next = value;
                    try (Fence fence = Fence.of(order.stream()
                            .map(each -> new Fence.Entry(each, next))
                            .toList())) {
                        fence.signal();
                    } catch (IreeException refused) {
                        // another thread was faster, for all three
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(60))).as("over").isTrue();
        }
        assertThat(List.of(a.value(), b.value(), c.value())).containsOnly((long) rounds);
        c.close();
    }

    /** FENCE-3: timelines are locked in the order of their creation, whatever the order of the points. */
    @Test
    void aSignalWaitingForATimelineHoldsNoLaterTimeline() throws InterruptedException {
        try (Fence fence = Fence.of(List.of(new Fence.Entry(b, 1), new Fence.Entry(a, 1)))) {
            Thread signaller;
            a.lock();
            try {
                signaller = Thread.ofPlatform().daemon().start(fence::signal);
                while (signaller.getState() == Thread.State.RUNNABLE) { // until parked at the lock
                    Thread.onSpinWait();
                }
                Thread reader = Thread.ofPlatform().daemon().start(b::isAwaited);
                assertThat(reader.join(Duration.ofSeconds(10)))
                        .as("later timeline is free")
                        .isTrue();
            } finally {
                a.unlock();
            }
            signaller.join();
            assertThat(fence.isReached()).isTrue();
        }
    }

    /** FENCE-3: a thread looking at the timelines in any order finds the second as far as the first. */
    @Test
    void readersSeeAllPointsOrNone() throws InterruptedException {
        long rounds = Effort.rounds(200_000);
        AtomicLong torn = new AtomicLong();
        List<Thread> readers = new ArrayList<>();
        for (List<TimelineSemaphore> order : List.of(List.of(a, b), List.of(b, a))) {
            readers.add(Thread.ofPlatform().start(() -> {
                for (long seen = 0; seen < rounds; ) {
                    seen = order.getFirst().value();
                    if (order.getLast().value() < seen) {
                        torn.incrementAndGet();
                    }
                }
            }));
        }
        for (long value = 1; value <= rounds; value++) {
            try (Fence fence = both(value, value)) {
                fence.signalOrFail(FRONTIER);
            }
        }
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(torn).hasValue(0);
    }
}
