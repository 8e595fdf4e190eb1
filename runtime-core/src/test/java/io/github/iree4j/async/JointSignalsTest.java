package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Joint values, with several signallers. */
@Timeout(300)
class JointSignalsTest {
    private final TimelineSemaphore semaphore = TimelineSemaphore.create(0);

    @Test
    void aValueIsReachedByTheLastCountedSignal() {
        semaphore.addSignaller(1);
        semaphore.addSignaller(1);
        semaphore.addSignaller(1);
        AtomicInteger called = new AtomicInteger();
        semaphore.whenReached(1, (value, failure) -> called.incrementAndGet());
        semaphore.signal(1);
        semaphore.signal(1);
        assertThat(semaphore.value()).isZero();
        assertThat(called).hasValue(0);
        semaphore.signal(1);
        assertThat(semaphore.value()).isEqualTo(1);
        assertThat(called).hasValue(1);
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> semaphore.signal(1));
    }

    @Test
    void expectedSignalsCountBeforeAndAfterSubmission() {
        semaphore.expectSignals(1, 3);
        semaphore.signal(1);
        semaphore.addSignaller(1);
        semaphore.signal(1);
        assertThat(semaphore.value()).isZero();
        semaphore.signal(1);
        assertThat(semaphore.value()).isEqualTo(1);
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> semaphore.expectSignals(2, 0));
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> semaphore.expectSignals(1, 1));
    }

    private static long queue(int ordinal) {
        return Axis.of(1, 0, CausalDomain.QUEUE, ordinal);
    }

    private static Frontier after(Frontier before, int queue, long epoch) {
        MutableFrontier own = new MutableFrontier();
        own.merge(before);
        return own.produce(queue(queue), epoch, axis -> 0);
    }

    @Test
    void aJointValueTakesNoPromise() {
        Frontier frontier = Frontier.producedBy(queue(1), 5);
        semaphore.expectSignals(1, 2);
        assertThat(semaphore.promise(1, frontier)).isFalse();
        assertThat(semaphore.frontierAt(1)).isNull();
        semaphore.signal(1, frontier);
        assertThat(semaphore.frontierAt(1)).as("one is missing").isNull();
        semaphore.signal(1);
        semaphore.addSignaller(2);
        assertThat(semaphore.promise(2, frontier)).as("a single one knows").isTrue();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> semaphore.addSignaller(2))
                .withMessageContaining("promised");
        semaphore.signal(2, frontier);
        assertThat(semaphore.frontierAt(2)).isEqualTo(frontier);
    }

    @Test
    void everythingBeforeAnySignalHappensBeforeTheValue() {
        Frontier a = Frontier.producedBy(queue(1), 5);
        Frontier b = after(Frontier.producedBy(queue(2), 3), 3, 7);
        semaphore.expectSignals(1, 3);
        semaphore.signal(1, a);
        semaphore.signal(1); // from the host: an empty frontier
        semaphore.signal(1, b);
        Frontier joined = semaphore.frontierAt(1);
        assertThat(joined).isEqualTo(a.merge(b));
        assertThat(joined.hasProducer()).isFalse();
    }

    @Test
    void theFrontierOfASignallerBehindTheOthersStandsForAll() {
        Frontier a = Frontier.producedBy(queue(1), 5);
        Frontier b = after(a, 2, 3);
        semaphore.expectSignals(1, 2);
        semaphore.signal(1, b);
        semaphore.signal(1, a);
        assertThat(semaphore.frontierAt(1)).isEqualTo(b);
        assertThat(b.hasProducer()).isTrue();
    }

    @Test
    void taintOfASignallerIsKeptButNotForever() {
        semaphore.expectSignals(1, 2);
        semaphore.signalExternal(1);
        semaphore.signal(1, Frontier.producedBy(queue(1), 5));
        assertThat(semaphore.isTainted(1)).as("one signal was external").isTrue();
        semaphore.expectSignals(2, 2);
        semaphore.signal(2, Frontier.producedBy(queue(1), 6).tainted());
        semaphore.signal(2, Frontier.producedBy(queue(2), 1));
        assertThat(semaphore.isTainted(2)).isFalse();
        assertThat(semaphore.frontierAt(2))
                .as("a join with lost entries claims nothing")
                .isEqualTo(Frontier.EMPTY);
    }

    @Test
    void aFailedAddSignallerCountsNothing() {
        TimelineSemaphore ahead = TimelineSemaphore.create(5);
        try (Fence fence = Fence.of(List.of(new Fence.Entry(semaphore, 1), new Fence.Entry(ahead, 5)))) {
            semaphore.addSignaller(1);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(fence::addSignaller)
                    .withMessageContaining("it is reached (at 5)");
            semaphore.signal(1);
            assertThat(semaphore.value()).isEqualTo(1);
        }
    }

    @Test
    void everyPointOfAFenceIsReachedByTheLastOfItsSignallers() {
        TimelineSemaphore other = TimelineSemaphore.create(0);
        try (Fence fence = Fence.of(List.of(new Fence.Entry(semaphore, 1), new Fence.Entry(other, 1)))) {
            fence.addSignaller();
            fence.addSignaller();
            fence.signal();
            assertThat(semaphore.value()).isZero();
            assertThat(other.value()).isZero();
            fence.signal();
            assertThat(fence.isReached()).isTrue();
        }
    }

    @Test
    void aReachedValueIsJointNoMore() {
        JointPoints points = new JointPoints();
        points.expect(1, 2);
        points.expect(2, 2);
        points.forget(1);
        assertThat(points.isJoint(1)).isFalse();
        assertThat(points.isJoint(2)).isTrue();
    }

    @Test
    void theGreatestExpectedNumberCounts() {
        semaphore.expectSignals(1, 3);
        semaphore.expectSignals(1, 2);
        semaphore.signal(1);
        semaphore.signal(1);
        assertThat(semaphore.value()).isZero();
    }

    @Test
    void theLastSignallerBehindTheOthersStandsForAll() {
        Frontier a = Frontier.producedBy(queue(1), 5);
        Frontier b = after(a, 2, 3);
        semaphore.expectSignals(1, 2);
        semaphore.signal(1, a);
        semaphore.signal(1, b);
        assertThat(semaphore.frontierAt(1)).isEqualTo(b);
    }

    @Test
    void aPromiseOfAHigherValueDoesNotBlockJoiningALowerValue() {
        semaphore.promise(5, Frontier.producedBy(queue(1), 5));
        semaphore.addSignaller(3);
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> semaphore.addSignaller(5));
    }

    @Test
    void passingAValueForgetsItsCount() {
        semaphore.addSignaller(1);
        semaphore.addSignaller(1);
        semaphore.addSignaller(3);
        semaphore.addSignaller(3);
        semaphore.signal(2);
        assertThat(semaphore.value()).isEqualTo(2);
        semaphore.signal(3);
        assertThat(semaphore.value()).isEqualTo(2);
        semaphore.signal(3);
        assertThat(semaphore.value()).isEqualTo(3);
    }

    // SEM-8: the last signal reaches the value.
    @Test
    void threadsSignallingAtTheSameTimeReachTheValueOnce() throws Exception {
        int threads = 4;
        for (int value = 1; value <= 500; value++) {
            semaphore.expectSignals(value, threads);
            CountDownLatch start = new CountDownLatch(1);
            int next = value;
            for (int t = 0; t < threads; t++) {
                Thread.ofVirtual().start(() -> {
                    try {
                        start.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    semaphore.signal(next);
                });
            }
            start.countDown();
            semaphore.await(value);
            assertThat(semaphore.value()).isEqualTo(value);
        }
    }
}
