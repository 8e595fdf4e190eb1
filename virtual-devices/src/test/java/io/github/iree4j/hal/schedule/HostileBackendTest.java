package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Backends and operations that throw, and queues closed or lost concurrently: no signal is lost, and nothing runs too
 * early.
 */
class HostileBackendTest {
    private static final IreeException CAUSE = IreeException.of(StatusCode.UNAVAILABLE, "unplugged");

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final List<TimelineSemaphore> semaphores = new ArrayList<>();
    private final List<Fence> fences = new ArrayList<>();
    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.iree4j.hal");

    @BeforeEach
    void quiet() {
        log.setLevel(Level.OFF);
    }

    @AfterEach
    void closeAll() {
        log.setLevel(null);
        fences.forEach(Fence::close);
        semaphores.forEach(TimelineSemaphore::close);
        device.close();
        tracker.close();
    }

    private Fence fence() {
        TimelineSemaphore semaphore = TimelineSemaphore.create(0);
        semaphores.add(semaphore);
        Fence fence = Fence.at(semaphore, 1);
        fences.add(fence);
        return fence;
    }

    private QueueScheduler queue(QueueBackend backend) {
        return QueueScheduler.create(domain, device, device, backend);
    }

    private static void inAnotherThread(Runnable action) {
        try {
            Thread.ofPlatform().start(action).join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aStreamWaitsForAQueueClosedDuringItsDecision() {
        QueueScheduler producer = queue(new RecordingStream());
        RecordingStream stream = new RecordingStream() {
            @Override
            public boolean canWaitFor(FifoBackend other, long epoch) {
                inAnotherThread(producer::close);
                return true;
            }
        };
        QueueScheduler consumer = queue(stream);
        Fence produced = fence();
        Nothing first = new Nothing();
        producer.submit(null, produced, () -> first);
        consumer.submit(produced, fence(), Nothing::new);
        assertThat(stream.entries).containsExactly("wait for 1", "nothing");
        producer.completed(first, null);
        consumer.close();
    }

    // FIFO-4
    @Test
    void aStreamIsGivenNothingMadeWhileItsQueueCloses() {
        RecordingStream stream = new RecordingStream();
        QueueScheduler queue = queue(stream);
        List<String> told = new ArrayList<>();
        Fence late = fence();
        queue.submit(null, late, () -> {
            queue.close();
            queue.whenGiven(() -> told.add("given"));
            return new Nothing();
        });
        assertThat(told).containsExactly("given");
        assertThat(late.query()).isEqualTo(StatusCode.ABORTED);
        assertThat(stream.entries).isEmpty();
    }

    @Test
    void whateverIssuingThrowsFailsTheOperationAndNothingElse() {
        for (Throwable thrown : List.of(CAUSE, new IllegalStateException("bug"), new StackOverflowError())) {
            for (QueueBackend backend : List.of(
                    new RecordingStream() {
                        @Override
                        public boolean issue(Issue next) {
                            fail(thrown, entries);
                            return true;
                        }
                    },
                    new UnorderedBackend() {
                        private final List<String> entries = new ArrayList<>();

                        @Override
                        public void issue(QueueOperation operation) {
                            fail(thrown, entries);
                        }
                    })) {
                QueueScheduler queue = queue(backend);
                Fence broken = fence();
                queue.submit(null, broken, Nothing::new);
                assertFailed(broken, thrown);
                Fence next = fence();
                Nothing work = new Nothing();
                queue.submit(null, next, () -> work);
                queue.completed(work, null);
                assertThat(next.isReached()).isTrue();
                queue.close();
            }
        }
    }

    /** Throws the first time. */
    private static void fail(Throwable thrown, List<String> entries) {
        entries.add("nothing");
        if (entries.size() > 1) {
            return;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) thrown;
    }

    private static void assertFailed(Fence fence, Throwable thrown) {
        assertThat(fence.failure()).as("after %s", thrown).isPresent();
        IreeException failure = fence.failure().get();
        if (thrown instanceof IreeException) {
            assertThat(failure).isSameAs(thrown);
        } else {
            assertThat(failure).hasCause(thrown);
            assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
        }
    }

    @Test
    void anOperationWithAWaitRefusedByTheStreamDoesNotRun() {
        IllegalStateException bug = new IllegalStateException("bug");
        QueueScheduler producer = queue(new RecordingStream());
        RecordingStream stream = new RecordingStream() {
            @Override
            public boolean issue(Issue next) {
                if (!next.waits().isEmpty()) {
                    throw bug;
                }
                return super.issue(next);
            }
        };
        QueueScheduler consumer = queue(stream);
        Fence produced = fence();
        Nothing first = new Nothing();
        producer.submit(null, produced, () -> first);
        Fence broken = fence();
        consumer.submit(produced, broken, Nothing::new);
        Fence next = fence();
        Nothing work = new Nothing();
        consumer.submit(null, next, () -> work);
        assertThat(stream.entries).containsExactly("nothing");
        consumer.completed(work, null);
        producer.completed(first, null);
        assertFailed(broken, bug);
        assertThat(next.isReached()).isTrue();
        assertThat(consumer.counters().inFlight()).isZero();
    }

    @Test // LINE-1, LINE-2
    void operationsNotTakenByTheDriverAreOfferedAgainInOrder() {
        RecordingStream stream = new RecordingStream() {
            private int room = 1;

            @Override
            public boolean issue(Issue next) {
                return room-- > 0 && super.issue(next);
            }

            @Override
            public void submit() {
                super.submit();
                room = 1;
            }
        };
        QueueScheduler queue = queue(stream);
        List<Fence> done = List.of(fence(), fence(), fence());
        List<Nothing> work = List.of(new Nothing(), new Nothing(), new Nothing());
        Fence gate = fence();
        for (int i = 0; i < 3; i++) {
            int index = i;
            queue.submit(gate, done.get(i), () -> work.get(index));
        }
        gate.signal();
        assertThat(stream.entries).hasSize(1);
        queue.issueMore();
        assertThat(stream.entries).hasSize(2);
        queue.issueMore();
        queue.completedUpTo(3);
        assertThat(done).allMatch(Fence::isReached);
        assertThat(queue.isIdle()).isTrue();
    }

    @Test
    void aThrowingSubmissionLeavesTheLineOpen() {
        RecordingStream stream = new RecordingStream() {
            @Override
            public void submit() {
                super.submit();
                if (submissions == 1) {
                    throw new IllegalStateException("on purpose");
                }
            }
        };
        QueueScheduler queue = queue(stream);
        queue.submit(null, fence(), Nothing::new);
        Fence next = fence();
        queue.submit(null, next, Nothing::new);
        assertThat(stream.entries).hasSize(2);
        queue.completedUpTo(2);
        assertThat(next.isReached()).isTrue();
    }

    @Test
    void workSetFreeByASignalIsASingleSubmission() {
        RecordingStream stream = new RecordingStream();
        QueueScheduler queue = queue(stream);
        Fence gate = fence();
        for (int i = 0; i < 100; i++) {
            queue.submit(gate, fence(), Nothing::new);
        }
        gate.signal();
        assertThat(stream.entries).hasSize(100);
        assertThat(stream.submissions).isEqualTo(1);
        assertThat(queue.streamCounters()).isEqualTo(new StreamCounters(1, 0, 0, 0));
        queue.completedUpTo(100);
    }

    @Test
    void signalsComeAlsoWhenLettingGoThrows() {
        List<QueueBackend> backends = List.of(new RecordingStream(), (UnorderedBackend) operation -> {});
        for (QueueBackend backend : backends) {
            QueueScheduler queue = queue(backend);
            Fence done = fence();
            Fence failed = fence();
            Nothing first = new Clumsy(() -> {});
            Nothing second = new Clumsy(() -> {});
            queue.submit(null, done, () -> first);
            queue.submit(null, failed, () -> second);
            queue.completed(first, null);
            queue.completed(second, CAUSE);
            assertThat(done.isReached()).isTrue();
            assertThat(failed.failure()).containsSame(CAUSE);
            queue.close();
        }
    }

    /** Submits work while retained, and throws wherever possible. */
    private static final class Clumsy extends Nothing {
        private final Runnable meanwhile;

        Clumsy(Runnable meanwhile) {
            this.meanwhile = meanwhile;
        }

        @Override
        protected void retain() {
            meanwhile.run();
        }

        @Override
        protected void release() {
            throw new IllegalStateException("clumsy");
        }

        @Override
        protected void failed(IreeException cause) {
            throw new IllegalStateException("clumsy");
        }
    }

    @Test
    void anUnkeepableRecordFailsTheOperation() {
        OutOfMemoryError full = new OutOfMemoryError("on purpose");
        for (QueueBackend backend : List.of(new RecordingStream(), (UnorderedBackend) operation -> {})) {
            QueueScheduler queue = queue(backend);
            Fence now = fence();
            Fence never = fence();
            Fence later = fence();
            for (Fence signal : List.of(now, later)) {
                queue.submit(
                        signal == now ? null : never,
                        signal,
                        () -> new Clumsy(() -> {
                            throw full;
                        }));
                assertFailed(signal, full);
            }
            assertThat(queue.counters().pending()).isZero();
            assertThat(queue.counters().inFlight()).isZero();
        }
    }

    @Test
    void anImpossibleOperationFailsItsSignalsAndTellsTheCaller() {
        NullPointerException mistake = new NullPointerException("on purpose");
        QueueScheduler queue = queue(new RecordingStream());
        Fence signal = fence();
        assertThatThrownBy(() -> queue.submit(null, signal, () -> {
                    throw mistake;
                }))
                .isSameAs(mistake);
        assertFailed(signal, mistake);
        assertThat(queue.counters().submitted()).isEqualTo(1);
    }

    @Test
    void anOperationSignallingAnImpossibleValueIsRefused() {
        for (QueueBackend backend : List.of(new RecordingStream(), (UnorderedBackend) operation -> {})) {
            QueueScheduler queue = queue(backend);
            TimelineSemaphore semaphore = TimelineSemaphore.create(0);
            semaphores.add(semaphore);
            Fence beyond = Fence.at(semaphore, Long.MAX_VALUE);
            fences.add(beyond);
            IreeException refusal = queue.submit(null, beyond, Nothing::new);
            assertThat(refusal).hasMessageContaining("the largest is " + TimelineSemaphore.MAXIMUM_VALUE);
            assertThat(beyond.failure()).containsSame(refusal);
            assertThat(queue.isIdle()).isTrue();
            assertThat(queue.counters().submitted()).isEqualTo(1);
        }
    }

    @Test // FIFO-1
    void workReportedWhileAnotherLetsGoSignalsBehindIt() {
        QueueScheduler queue = queue(new RecordingStream());
        Fence first = fence();
        Fence second = fence();
        Nothing next = new Nothing();
        List<Boolean> early = new ArrayList<>();
        Nothing work = new Nothing() {
            @Override
            protected void release() {
                queue.completed(next, null);
                early.add(second.isReached());
            }
        };
        queue.submit(null, first, () -> work);
        queue.submit(null, second, () -> next);
        queue.completed(work, null);
        assertThat(early).containsExactly(false);
        assertThat(first.isReached() && second.isReached()).isTrue();
    }

    @Test
    void aLateReportTakesNothingBack() {
        QueueScheduler queue = queue(new RecordingStream());
        List<Fence> done = List.of(fence(), fence(), fence());
        Nothing work = new Nothing() {
            @Override
            protected void release() { // a thread that reports completions finds this thread retiring
                queue.completedUpTo(3);
                queue.completedUpTo(2);
            }
        };
        queue.submit(null, done.get(0), () -> work);
        queue.submit(null, done.get(1), Nothing::new);
        queue.submit(null, done.get(2), Nothing::new);
        queue.completedUpTo(1);
        assertThat(done).allMatch(Fence::isReached);
    }

    @Test
    void workOfALostQueueIsQuietOnceTheHostIsDoneWithIt() {
        for (QueueBackend backend : List.of(new RecordingStream(), (UnorderedBackend) operation -> {})) {
            QueueScheduler queue = queue(backend);
            Nothing done = new Nothing();
            Nothing first = new Nothing();
            Nothing second = new Nothing();
            List.of(done, first, second).forEach(each -> queue.submit(null, fence(), () -> each));
            queue.completed(done, null);
            queue.lost(CAUSE);
            queue.completed(first, CAUSE);
            assertThat(tracker.isComplete(Frontier.of(queue.axis(), 2))).isTrue();
            assertThat(tracker.isComplete(Frontier.of(queue.axis(), 3))).isFalse();
            assertThat(tracker.completed(queue.axis())).isEqualTo(1);
            queue.completed(second, CAUSE);
            assertThat(tracker.isComplete(Frontier.of(queue.axis(), 3))).isTrue();
        }
    }

    @Test
    void aLostQueueIsNotQuietWhileTheHostLetsGoOfEarlierWork() {
        for (QueueBackend backend : List.of(new RecordingStream(), (UnorderedBackend) operation -> {})) {
            QueueScheduler queue = queue(backend);
            Nothing second = new Nothing();
            List<Boolean> early = new ArrayList<>();
            Nothing first = new Nothing() {
                @Override
                protected void release() {
                    queue.completed(second, CAUSE);
                    early.add(tracker.isComplete(Frontier.of(queue.axis(), 1)));
                }
            };
            queue.submit(null, fence(), () -> first);
            queue.submit(null, fence(), () -> second);
            queue.lost(CAUSE);
            queue.completed(first, CAUSE);
            assertThat(early).containsExactly(false);
            assertThat(tracker.isComplete(Frontier.of(queue.axis(), 2))).isTrue();
        }
    }

    @Test
    void aFailedWaitIsTheRootCauseUnlessTheOperationWasCancelled() {
        IreeException later = IreeException.of(StatusCode.DATA_LOSS, "for lack of the input");
        for (boolean cancelled : List.of(false, true)) {
            QueueScheduler producer = queue(new RecordingStream());
            QueueScheduler consumer = queue(new RecordingStream());
            Fence produced = fence();
            Fence consumed = fence();
            Nothing first = new Nothing();
            Nothing second = new Nothing();
            producer.submit(null, produced, () -> first);
            consumer.submit(produced, consumed, () -> second);
            if (cancelled) {
                consumer.cancel(second, later);
            }
            consumer.completed(second, later);
            producer.completed(first, CAUSE);
            assertThat(consumed.failure()).containsSame(cancelled ? later : CAUSE);
        }
    }

    @Test
    void anOperationThrowingWhenPlacedKeepsItsPlace() {
        RecordingStream stream = new RecordingStream();
        QueueScheduler queue = queue(stream);
        Fence broken = fence();
        Fence next = fence();
        Nothing first = new Nothing() {
            @Override
            protected void placed() {
                throw CAUSE;
            }
        };
        Nothing second = new Nothing();
        queue.submit(null, broken, () -> first);
        queue.submit(null, next, () -> second);
        assertThat(stream.entries).hasSize(2);
        assertThat(broken.failure()).as("not over yet").isEmpty();
        queue.completed(first, null);
        assertThat(broken.failure()).containsSame(CAUSE);
        queue.completed(second, null);
        assertThat(next.isReached()).isTrue();
        assertThat(queue.counters().inFlight()).isZero();
    }

    @Test
    void aWaiterForMemoryLearnsWhenNothingIsUnderWayAnyMore() {
        DomainQueues.of(domain).shortOfMemory();
        for (QueueBackend backend : List.of(new RecordingStream(), (UnorderedBackend) operation -> {})) {
            QueueScheduler queue = queue(backend);
            List<String> told = new ArrayList<>();
            queue.whenIdle(() -> told.add("idle"));
            Nothing first = new Nothing();
            Nothing second = new Nothing();
            queue.submit(null, fence(), () -> first);
            queue.submit(null, fence(), () -> second);
            queue.completed(first, null);
            assertThat(told).isEmpty();
            queue.completed(second, null);
            assertThat(told).containsExactly("idle");
        }
    }

    @Test
    void anOperationBeginningToWaitWhileTheDeviceIsLostFails() {
        List<QueueBackend> backends = List.of(new RecordingStream(), (UnorderedBackend) operation -> {});
        for (QueueBackend backend : backends) {
            QueueScheduler queue = queue(backend);
            Fence never = fence();
            Fence waiting = fence();
            queue.submit(never, waiting, () -> new Clumsy(() -> inAnotherThread(() -> queue.lost(CAUSE))));
            assertThat(waiting.failure()).containsSame(CAUSE);
            assertThat(queue.counters().pending()).isZero();
        }
    }

    @Test
    void aWaiterForMoreOfAClosedQueueIsCancelledOnceItIsEmpty() {
        for (QueueBackend backend : List.of(new RecordingStream(), (UnorderedBackend) operation -> {})) {
            boolean stream = backend instanceof FifoBackend;
            QueueScheduler queue = queue(backend);
            Nothing work = new Nothing();
            queue.submit(null, fence(), () -> work);
            List<String> outcomes = new ArrayList<>();
            tracker.whenCompleted(Frontier.of(queue.axis(), 1), outcome("first", outcomes));
            tracker.whenCompleted(Frontier.of(queue.axis(), 2), outcome("second", outcomes));
            queue.close();
            if (stream) {
                assertThat(outcomes).as("one is in flight").isEmpty();
                queue.completed(work, null);
                assertThat(outcomes).containsExactly("first OK", "second CANCELLED");
            } else {
                assertThat(outcomes)
                        .as("nothing on that queue is known before the completion")
                        .containsExactly("first CANCELLED", "second CANCELLED");
                queue.completed(work, null);
            }
            assertThat(tracker.completed(queue.axis())).isEqualTo(1);
        }
    }

    @Test
    void aWaiterForAnIdleClosedQueueIsCancelledAtOnce() {
        QueueScheduler queue = queue(new RecordingStream());
        List<String> outcomes = new ArrayList<>();
        tracker.whenCompleted(Frontier.of(queue.axis(), 1), outcome("first", outcomes));
        queue.close();
        assertThat(outcomes).containsExactly("first CANCELLED");
    }

    private static Consumer<@Nullable IreeException> outcome(String name, List<String> outcomes) {
        return failure -> outcomes.add(name + " " + (failure == null ? StatusCode.OK : failure.code()));
    }
}
