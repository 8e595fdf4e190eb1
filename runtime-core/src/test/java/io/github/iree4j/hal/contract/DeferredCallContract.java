package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.SignalRecord;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract of every backend's queues for host calls with a later completion. */
public abstract class DeferredCallContract extends DeviceContract {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    /** On a backend, closed after each test. */
    protected DeferredCallContract(Backend backend) {
        super(backend);
    }

    /** Submits a call to be completed, and returns the completion after the begin. */
    private HostCallCompletion begun(Fence signal) {
        CompletableFuture<HostCallCompletion> given = new CompletableFuture<>();
        queue.deferredHostCall(null, signal, given::complete);
        return given.join();
    }

    private void drain() {
        Fence behind = fence();
        queue.barrier(null, behind, 0);
        behind.await(Duration.ofSeconds(60));
    }

    @Test
    void aDeferredCallSignalsWhenCompletedAndTheQueueGoesOnMeanwhile() {
        Buffer buffer = ints(0);
        TimelineSemaphore timeline = semaphore();
        Fence called = fence();
        AtomicReference<HostCallCompletion> given = new AtomicReference<>();
        queue.deferredHostCall(at(timeline, 1), at(timeline, 2), completion -> {
            assertThat(read(buffer)).containsExactly(7);
            given.set(completion);
            called.signal();
        });
        queue.barrier(at(timeline, 2), at(timeline, 3), 0);
        queue.fill(null, at(timeline, 1), buffer, 0, 4, 7, 4, 0);
        called.await();
        Fence other = fence();
        queue.barrier(null, other, 0);
        other.await();
        HostCallCompletion completion = given.get();
        assertThat(completion.isComplete()).isFalse();
        assertThat(timeline.value()).isEqualTo(1);
        assertThat(completion.complete()).isTrue();
        at(timeline, 3).await();
        assertThat(completion.complete()).isFalse();
        assertThat(completion.fail(LOST)).isFalse();
        assertThat(completion.isComplete()).isTrue();
    }

    @Test
    void aDeferredCallFailsAsRequested() {
        Fence status = fence();
        queue.deferredHostCall(null, status, completion -> completion.fail(LOST));
        assertFails(status, StatusCode.DATA_LOSS, "lost on purpose");
        Fence thrown = fence();
        queue.deferredHostCall(null, thrown, completion -> {
            throw LOST;
        });
        assertFails(thrown, StatusCode.DATA_LOSS, "lost on purpose");
    }

    @Test
    void aDeferredCallWithAFailedWaitIsNotBegun() {
        Fence wait = fence();
        Fence status = fence();
        AtomicInteger begun = new AtomicInteger();
        queue.deferredHostCall(wait, status, completion -> begun.incrementAndGet());
        wait.fail(LOST);
        assertFails(status, StatusCode.DATA_LOSS, "lost on purpose");
        assertThat(begun).hasValue(0);
    }

    @Test
    void aDeferredCallMayBeCompletedAfterTheDeviceWasClosed() {
        Fence called = fence();
        Fence done = fence();
        Fence never = fence();
        Fence aborted = fence();
        AtomicReference<HostCallCompletion> given = new AtomicReference<>();
        queue.deferredHostCall(null, done, completion -> {
            given.set(completion);
            called.signal();
        });
        queue.deferredHostCall(never, aborted, HostCallCompletion::complete);
        called.await();
        device.close();
        assertFails(aborted, StatusCode.ABORTED, "was closed");
        assertThat(done.isReached()).isFalse();
        assertThat(given.get().complete()).isTrue();
        assertThat(done.isReached()).isTrue();
    }

    /** The kinds of host calls. */
    enum Kind {
        PLAIN,
        DETACHED,
        DEFERRED
    }

    /** SCHED-7: on a stream the call becomes ready with its waits, before the host knows their outcome. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aCallIsNotMadeAfterAFailedWaitWhoeverKnowsFirst(Kind kind) {
        Device several = closed(open(DeviceOptions.builder().queueCount(2)));
        for (int round = 0; round < Effort.rounds(80); round++) {
            DeviceQueue calling = several.queue(round % 2);
            DeviceQueue failing = several.queue(0);
            Fence start = fence();
            Fence failed = fence();
            Fence signal = fence();
            Fence behind = fence();
            AtomicInteger made = new AtomicInteger();
            failing.hostCall(
                    start,
                    failed,
                    () -> {
                        throw LOST;
                    },
                    0);
            switch (kind) {
                case PLAIN -> calling.hostCall(failed, signal, made::incrementAndGet, 0);
                case DETACHED ->
                    calling.hostCall(failed, signal, made::incrementAndGet, DeviceQueue.HOST_CALL_NON_BLOCKING);
                case DEFERRED ->
                    calling.deferredHostCall(failed, signal, completion -> {
                        made.incrementAndGet();
                        completion.complete();
                    });
            }
            calling.barrier(signal, behind, 0);
            start.signal();
            assertFails(behind, StatusCode.DATA_LOSS, "lost on purpose");
            assertFails(signal, StatusCode.DATA_LOSS, "lost on purpose");
            Fence drained = fence();
            calling.barrier(null, drained, 0);
            drained.await(Duration.ofSeconds(60));
            assertThat(made).as("calls made in round %d", round).hasValue(0);
        }
    }

    @Test
    void theSignalOfADeferredCallKnowsTheCallAndItsWaits() {
        SchedulingDomain domain = device.schedulingDomain();
        long before = domain.axes().allocate(CausalDomain.HOST);
        domain.tracker().register(before);
        TimelineSemaphore known = semaphore();
        TimelineSemaphore done = semaphore();
        CompletableFuture<HostCallCompletion> given = new CompletableFuture<>();
        known.signal(1, Frontier.producedBy(before, 5));
        queue.deferredHostCall(at(known, 1), at(done, 1), given::complete);
        assertThat(given.join().complete()).isTrue();
        done.await(1, Duration.ofSeconds(60));
        Frontier frontier = Objects.requireNonNull(done.frontierAt(1));
        assertThat(frontier.producerAxis()).isEqualTo(queue.axis());
        assertThat(frontier.producerEpoch()).isPositive();
        assertThat(frontier.epochOf(before)).isEqualTo(5);
        assertThat(domain.tracker().completed(queue.axis())).isGreaterThanOrEqualTo(frontier.producerEpoch());
    }

    /** Else hardware of another queue would not wait for the completion. */
    @Test
    void nothingPromisesAnUncompletedCall() {
        Device several = closed(open(DeviceOptions.builder().queueCount(2)));
        TimelineSemaphore timeline = semaphore();
        CompletableFuture<HostCallCompletion> given = new CompletableFuture<>();
        several.queue(0).deferredHostCall(null, at(timeline, 1), given::complete);
        several.queue(0).barrier(at(timeline, 1), at(timeline, 2), 0);
        several.queue(1).barrier(at(timeline, 2), at(timeline, 3), 0);
        HostCallCompletion completion = given.join();
        assertThat(timeline.lookup(1, new SignalRecord())).isFalse();
        assertThat(several.queue(1).pending(9)).hasSize(1);
        assertThat(completion.complete()).isTrue();
        timeline.await(3, Duration.ofSeconds(60));
    }

    @Test
    void anUncompletedCallIsInFlight() {
        TimelineSemaphore timeline = semaphore();
        HostCallCompletion completion = begun(at(timeline, 1));
        drain();
        long done = queue.counters().retired();
        assertThat(queue.inFlight(9)).extracting(PendingOperation::name).contains("deferred host call");
        assertThat(queue.counters().inFlight()).isEqualTo(1);
        assertThat(completion.complete()).isTrue();
        timeline.await(1, Duration.ofSeconds(60));
        drain();
        assertThat(queue.inFlight(9)).extracting(PendingOperation::name).doesNotContain("deferred host call");
        assertThat(queue.counters().inFlight()).isZero();
        assertThat(queue.counters().retired()).isEqualTo(done + 2);
    }

    /** SCHED-6: the call ends once, by the later of the queue and the host. */
    @Test
    void aCallCompletedWhileItsBeginningReturnsSignalsOnce() {
        for (int round = 0; round < Effort.rounds(400); round++) {
            TimelineSemaphore timeline = semaphore();
            boolean fails = round % 2 == 1;
            queue.deferredHostCall(
                    null,
                    at(timeline, 1),
                    completion -> CompletableFuture.runAsync(
                            () -> assertThat(fails ? completion.fail(LOST) : completion.complete())
                                    .isTrue()));
            if (fails) {
                assertFails(at(timeline, 1), StatusCode.DATA_LOSS, "lost on purpose");
            } else {
                timeline.await(1, Duration.ofSeconds(60));
            }
        }
        drain();
        assertThat(queue.counters().inFlight()).isZero();
    }

    @Test
    void anExceptionCountsThoughTheCallWasCompletedBefore() {
        Fence thrown = fence();
        queue.deferredHostCall(null, thrown, completion -> {
            completion.complete();
            throw LOST;
        });
        assertFails(thrown, StatusCode.DATA_LOSS, "lost on purpose");
    }

    @Test
    void aCallWithoutASignalMayBeCompletedOrDropped() {
        CompletableFuture<HostCallCompletion> given = new CompletableFuture<>();
        queue.deferredHostCall(null, null, given::complete);
        assertThat(given.join().complete()).isTrue();
        queue.deferredHostCall(null, null, completion -> {});
        drain();
    }
}
