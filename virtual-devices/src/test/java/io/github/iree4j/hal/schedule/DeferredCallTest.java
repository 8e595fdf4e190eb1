package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SCHED-6: how a deferred host call ends on a stream and on an unordered queue. */
@ParameterizedClass
@ValueSource(booleans = {true, false})
class DeferredCallTest {
    private static final IreeException LOST = IreeException.of(StatusCode.ABORTED, "lost on purpose");
    private static final IreeException CANCELLED = IreeException.of(StatusCode.CANCELLED, "cancelled on purpose");

    private final Call call;

    DeferredCallTest(boolean stream) {
        call = new Call(stream);
    }

    @AfterEach
    void close() {
        call.close();
    }

    /** A call of a program on a separate queue, with hardware that completes the call on command. */
    private static final class Call implements AutoCloseable {
        private final FrontierTracker tracker = FrontierTracker.create();
        final SchedulingDomain domain =
                SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
        final VirtualDevice device = VirtualDevice.builder().build();
        final OperationsUnderWay operations = new OperationsUnderWay();
        final TimelineSemaphore timeline = TimelineSemaphore.create(0);
        final Fence signal = Fence.at(timeline, 1);
        final AtomicInteger failures = new AtomicInteger();
        final QueueScheduler queue;
        final CallCompletion completion;
        Runnable onIssue = () -> {};
        final QueueOperation operation = new Nothing() {
            @Override
            protected void retain() {
                onIssue.run();
            }

            @Override
            protected void failed(IreeException cause) {
                failures.incrementAndGet();
            }
        };
        private final List<QueueOperation> issued = new ArrayList<>();

        Call(boolean stream) {
            RecordingStream hardware = new RecordingStream() {
                @Override
                public boolean issue(Issue next) {
                    issued.add(next.operation());
                    return true;
                }
            };
            queue = QueueScheduler.create(domain, device, device, stream ? hardware : (UnorderedBackend) issued::add);
            completion = new CallCompletion(queue);
        }

        void submit(@Nullable Fence wait) {
            MemoryHolder holder = new MemoryHolder("module.function", operations);
            MemoryHolder before = holder.enter();
            try {
                queue.submit(wait, signal, () -> completion.of(operation));
            } finally {
                holder.leave(before);
            }
        }

        void run() {
            List<QueueOperation> all = List.copyOf(issued);
            issued.clear();
            all.forEach(each -> queue.completed(each, null));
        }

        void assertOver() {
            assertThat(completion.isComplete()).isTrue();
            assertThat(completion.complete()).isFalse();
            assertThat(queue.inFlight(9)).isEmpty();
            assertThat(queue.counters().inFlight()).isZero();
            assertThat(queue.isIdle()).isTrue();
            assertThat(operations.isNone()).isTrue();
        }

        void assertFailed(Ending ending) {
            assertThat(timeline.failure()).isNotNull();
            assertThat(timeline.failure().code())
                    .isEqualTo(ending == Ending.LOST ? StatusCode.ABORTED : StatusCode.CANCELLED);
            assertThat(failures).hasValue(1);
        }

        @Override
        public void close() {
            queue.close();
            signal.close();
            timeline.close();
            device.close();
            tracker.close();
        }
    }

    /** The other ends of a call. */
    enum Ending {
        CANCELLED,
        LOST,
        WITHDRAWN;

        void end(Call call) {
            switch (this) {
                case CANCELLED -> call.queue.cancel(call.operation, DeferredCallTest.CANCELLED);
                case LOST -> call.queue.lost(DeferredCallTest.LOST);
                case WITHDRAWN -> call.domain.withdraw(call.operations, DeferredCallTest.CANCELLED);
            }
        }
    }

    @Test
    void signalsWhenTheHostIsDoneLast() {
        call.submit(null);
        call.run();
        assertThat(call.timeline.value()).isZero();
        assertThat(call.timeline.lookup(1, new SignalRecord())).as("promised").isFalse();
        assertThat(call.completion.complete()).isTrue();
        assertSignalled();
    }

    @Test
    void signalsWhenTheQueueIsDoneLast() {
        call.submit(null);
        assertThat(call.completion.complete()).isTrue();
        assertThat(call.completion.isComplete()).isTrue();
        assertThat(call.timeline.value()).isZero();
        assertThat(call.timeline.lookup(1, new SignalRecord())).as("promised").isFalse();
        call.run();
        assertSignalled();
    }

    private void assertSignalled() {
        assertThat(call.timeline.value()).isEqualTo(1);
        assertThat(call.timeline.frontierAt(1)).isEqualTo(call.operation.frontier());
        assertThat(call.operation.epoch()).isEqualTo(1);
        assertThat(call.queue.counters().retired()).isEqualTo(1);
        call.assertOver();
    }

    @Test
    void failsWithTheHostsFailureBeforeTheRun() {
        call.submit(null);
        assertThat(call.completion.fail(CANCELLED)).isTrue();
        assertThat(call.timeline.failure()).isNull();
        call.run();
        call.assertFailed(Ending.CANCELLED);
        call.assertOver();
    }

    @Test
    void leftToTheHostACallKeepsNothingBusyAndIsStillInFlight() {
        call.submit(null);
        assertThat(call.queue.inFlight(9)).hasSize(1);
        assertThat(call.queue.isIdle()).isFalse();
        call.run();
        assertThat(call.queue.isIdle()).isTrue();
        assertThat(call.queue.inFlight(9)).hasSize(1);
        assertThat(call.queue.counters().inFlight()).isEqualTo(1);
        assertThat(call.queue.counters().retired()).isZero();
        assertThat(call.operations.isNone()).isFalse();
        assertThat(call.completion.complete()).isTrue();
        call.assertOver();
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void anotherEndFailsACallLeftToTheHost(Ending ending) {
        call.submit(null);
        call.run();
        ending.end(call);
        call.assertFailed(ending);
        call.assertOver();
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void anotherEndFailsACallHeldBackAndLeftToTheHost(Ending ending) {
        try (TimelineSemaphore start = TimelineSemaphore.create(0);
                Fence wait = Fence.at(start, 1)) {
            call.submit(wait);
            start.signal(1);
            call.run();
        }
        assertThat(call.queue.inFlight(9)).hasSize(1);
        ending.end(call);
        call.assertFailed(ending);
        call.assertOver();
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void anotherEndFailsARunningCallAfterItsRun(Ending ending) {
        call.submit(null);
        ending.end(call);
        assertThat(call.completion.complete()).isFalse();
        call.run();
        call.assertFailed(ending);
        call.assertOver();
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void anotherEndFailsAWaitingCall(Ending ending) {
        try (TimelineSemaphore never = TimelineSemaphore.create(0);
                Fence wait = Fence.at(never, 1)) {
            call.submit(wait);
            ending.end(call);
        }
        call.assertFailed(ending);
        assertThat(call.issued).isEmpty();
        assertThat(call.queue.inFlight(9)).isEmpty();
        assertThat(call.operations.isNone()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void anotherEndComesTooLateForACompletedCall(Ending ending) {
        call.submit(null);
        call.run();
        assertThat(call.completion.complete()).isTrue();
        ending.end(call);
        assertThat(call.timeline.failure()).isNull();
        assertThat(call.timeline.value()).isEqualTo(1);
        call.assertOver();
    }

    @Test
    void aCallRunningOnALostDeviceFails() {
        try (TimelineSemaphore start = TimelineSemaphore.create(0);
                Fence wait = Fence.at(start, 1)) {
            call.submit(wait);
            start.signal(1);
            call.queue.lost(LOST);
            call.run();
        }
        call.assertFailed(Ending.LOST);
        call.assertOver();
    }

    @Test
    void aCallIssuedWhileItsDeviceIsLostFails() {
        call.onIssue = () -> call.queue.lost(LOST); // before being in flight, and so found
        call.submit(null);
        call.run();
        call.assertFailed(Ending.LOST);
        call.assertOver();
    }

    @Test
    void aCallFailingToRunIsNotLeftToTheHost() {
        call.submit(null);
        call.issued.forEach(each -> call.queue.completed(each, CANCELLED));
        call.assertFailed(Ending.CANCELLED);
        call.assertOver();
    }

    @Test
    void aClosedQueueLeavesACallToTheHost() {
        call.submit(null);
        call.run();
        call.queue.close();
        assertThat(call.timeline.failure()).isNull();
        assertThat(call.completion.complete()).isTrue();
        assertThat(call.timeline.value()).isEqualTo(1);
        call.assertOver();
    }

    @Test
    void aDroppedCompletionEndsWithItsProgram() {
        call.submit(null);
        call.run();
        assertThat(call.operations.isNone()).isFalse();
        call.domain.withdraw(new OperationsUnderWay(), CANCELLED);
        assertThat(call.timeline.failure()).as("of another program").isNull();
        Ending.WITHDRAWN.end(call);
        call.assertFailed(Ending.WITHDRAWN);
        assertThat(call.operations.isNone()).isTrue();
    }

    /** SCOPE-2: another queue that joins finds promises, and there is none. */
    @Test
    void anotherQueueJoiningTheTimelineWaitsOnTheHost() {
        call.submit(null);
        QueueScheduler other = QueueScheduler.create(call.domain, call.device, call.device, new RecordingStream());
        try (Fence behind = Fence.at(call.timeline, 2)) {
            other.submit(call.signal, behind, Nothing::new);
            assertThat(call.timeline.lookup(1, new SignalRecord())).isFalse();
            assertThat(other.pending(9)).hasSize(1);
            call.run();
            assertThat(other.pending(9)).hasSize(1);
            call.completion.complete();
            assertThat(other.pending(9)).isEmpty();
        } finally {
            other.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Ending.class)
    void whoeverIsLastEndsTheCallOnce(Ending ending) throws Exception {
        for (int round = 0; round < Effort.rounds(300); round++) {
            try (Call raced = new Call(call.queue.isStream())) {
                raced.submit(null);
                CyclicBarrier start = new CyclicBarrier(3);
                List<Thread> threads = new ArrayList<>();
                for (Runnable each :
                        List.<Runnable>of(raced::run, raced.completion::complete, () -> ending.end(raced))) {
                    threads.add(Thread.ofPlatform().start(() -> {
                        try {
                            start.await();
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                        each.run();
                    }));
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                boolean failed = raced.timeline.failure() != null;
                assertThat(raced.timeline.value()).isEqualTo(failed ? 0 : 1);
                assertThat(raced.failures).hasValue(failed ? 1 : 0);
                raced.assertOver();
            }
        }
    }
}
