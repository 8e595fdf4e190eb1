package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** LANE-4: work of a call done by the calling thread itself. */
@Timeout(60)
class OwnWorkTest extends TaskQueueFixture {
    private static final long WAKE_NANOS = 300_000;
    private static final long SURPRISE_NANOS = 110_000_000;

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
    private ProcessExecutor workers;
    private Device device;
    private Executable code;
    private volatile long nanos;

    @BeforeEach
    void begin() {
        workers = closed(ProcessExecutor.builder(2)
                .wakeCost(Duration.ofNanos(WAKE_NANOS))
                .build());
        device = open(DeviceOptions.builder().with(CpuOptions.DEFAULTS.executor(workers)));
        code = executable(device);
        kernel.body = (group, dispatch, worker) -> {
            threads.add(Thread.currentThread());
            long end = System.nanoTime() + nanos;
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        };
        call.calledHere(true);
    }

    @AfterEach
    void end() {
        call.end();
    }

    private Fence dispatch(@Nullable Fence wait, int groups, long duration) {
        nanos = duration;
        return dispatch(device, wait, code, groups);
    }

    /** As {@link #dispatch}, in the call, once the duration of such work is known. */
    private Fence dispatchInCall(int groups, long duration) {
        known(code, groups, duration);
        return inCall(null, groups, duration);
    }

    private Fence inCall(@Nullable Fence wait, int groups, long duration) {
        MemoryHolder before = call.enter();
        try {
            return dispatch(wait, groups, duration);
        } finally {
            call.leave(before);
        }
    }

    @Test
    void workOverBeforeAWorkerWouldBeginIsDoneAtOnce() {
        assertThat(dispatchInCall(1, WAKE_NANOS / 10).isReached()).isTrue();
        assertThat(threads).containsExactly(Thread.currentThread());
    }

    @Test
    void workNotEndedEarlierByWorkersIsDoneWhenTheThreadOfTheCallWaits() {
        Fence done = dispatchInCall(1, 4 * WAKE_NANOS);
        assertThat(done.isReached()).isFalse();
        call.doOwnWork();
        assertThat(done.isReached()).isTrue();
        assertThat(threads).containsExactly(Thread.currentThread());
    }

    @Test
    void followingWorkIsDoneToo() {
        Fence first = dispatchInCall(1, 4 * WAKE_NANOS);
        Fence second = inCall(first, 1, 4 * WAKE_NANOS);
        Fence third = inCall(second, 1, 4 * WAKE_NANOS);
        assertThat(third.isReached()).isFalse();
        call.doOwnWork();
        assertThat(third.isReached()).isTrue();
        assertThat(threads).containsExactly(Thread.currentThread());
    }

    @Test
    void workEndedEarlierBySeveralWorkersIsGivenToThem() {
        Fence done = dispatchInCall(20, WAKE_NANOS);
        awaitAsleep(done);
        assertThat(threads).isNotEmpty().doesNotContain(Thread.currentThread());
    }

    @Test
    void workAbleToRunBesideOtherWorkIsHandedOn() {
        Fence first = dispatchInCall(1, 4 * WAKE_NANOS);
        Fence second = inCall(null, 1, 4 * WAKE_NANOS);
        awaitAsleep(first);
        assertThat(threads).doesNotContain(Thread.currentThread());
        assertThat(second.isReached()).isFalse();
        call.doOwnWork();
        assertThat(second.isReached()).isTrue();
    }

    @Test
    void workLeftBehindByTheThreadOfACallIsHandedOn() {
        Fence done = dispatchInCall(1, 4 * WAKE_NANOS);
        call.end();
        awaitAsleep(done);
        assertThat(threads).doesNotContain(Thread.currentThread());
    }

    @Test
    void workOfACallWithoutAWaitingThreadIsNotLeftToAThread() throws InterruptedException {
        known(code, 1, 4 * WAKE_NANOS);
        Thread other = Thread.ofPlatform().start(() -> awaitAsleep(inCall(null, 1, 4 * WAKE_NANOS)));
        other.join();
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread(), other);
    }

    @Test
    void workOfNoCallIsNotDoneByItsSubmitter() {
        known(code, 1, WAKE_NANOS / 10);
        awaitAsleep(dispatch(null, 1, WAKE_NANOS / 10));
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void workLeftToAThreadFailsWhenItsDeviceIsClosed() {
        Fence done = dispatchInCall(1, 4 * WAKE_NANOS);
        device.close();
        call.doOwnWork();
        assertThat(failure(done)).extracting(IreeException::code).isEqualTo(StatusCode.ABORTED);
        assertThat(threads).isEmpty();
    }

    /** The known duration may be wrong. */
    @Test
    void anInterruptedThreadDoesNotDoTheRestOfTheWork() {
        known(code, 200, 1_400);
        AtomicInteger begun = new AtomicInteger();
        kernel.body = (group, dispatch, worker) -> {
            if (begun.incrementAndGet() == 1) {
                Thread.currentThread().interrupt();
            }
        };
        Fence done = inCall(null, 200, 0);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(failure(done)).extracting(IreeException::code).isEqualTo(StatusCode.CANCELLED);
        assertThat(begun.get()).isLessThan(200);
    }

    @Test
    void unmeasuredWorkIsGivenToWorkers() {
        awaitAsleep(inCall(null, 1, 0));
        assertThat(threads).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void workMadeShortByOneInputIsGivenToWorkers() {
        awaitAsleep(inCall(null, 1, 0));
        awaitAsleep(inCall(null, 1, 0));
        assertThat(threads).doesNotContain(Thread.currentThread());
    }

    @Test
    void workOnceFarLongerThanKnownIsGivenToWorkersUntilItWasShortManyTimes() {
        assertThat(dispatchInCall(1, WAKE_NANOS / 1_000).isReached()).isTrue();
        assertThat(inCall(null, 1, SURPRISE_NANOS).isReached()).isTrue();
        assertThat(threads).containsExactly(Thread.currentThread());
        threads.clear();
        awaitAsleep(inCall(null, 1, 0));
        awaitAsleep(inCall(null, 1, SURPRISE_NANOS));
        for (int i = 1; i < LocalExecutable.DOUBTED_RUNS; i++) {
            awaitAsleep(inCall(null, 1, 0));
        }
        assertThat(threads).isNotEmpty().doesNotContain(Thread.currentThread());
        assertThat(inCall(null, 1, 0).isReached()).isTrue();
        assertThat(threads).contains(Thread.currentThread());
    }

    @Test
    void unmeasuredWorkIsNotDoneByAWaitingThread() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch go = new CountDownLatch(1);
        kernel.body = (group, dispatch, worker) -> {
            threads.add(Thread.currentThread());
            begun.countDown();
            go.await();
        };
        Fence busy = dispatch(null, 2, 0);
        begun.await();
        Fence done = inCall(null, 1, 0);
        assertThatThrownBy(() -> done.await(Duration.ofMillis(1))).isInstanceOf(IreeException.class);
        go.countDown();
        awaitAsleep(busy);
        awaitAsleep(done);
        assertThat(threads).hasSizeBetween(1, 2).doesNotContain(Thread.currentThread());
    }

    /** Otherwise a request for memory would be taken for a deadlock: the call waits, and no operation seems to run. */
    @Test
    void workBecomingDueOnTheThreadOfACallIsInFlight() {
        Executable brief = known(executable(device), 1, WAKE_NANOS / 10);
        Fence first = dispatchInCall(1, 4 * WAKE_NANOS);
        AtomicLong inFlight = new AtomicLong();
        kernel.body = (group, dispatch, worker) ->
                inFlight.set(device.queue(0).counters().inFlight());
        code = brief;
        Fence second = inCall(first, 1, 0);
        call.doOwnWork();
        assertThat(second.isReached()).isTrue();
        assertThat(inFlight).hasValue(1);
        assertThat(device.queue(0).counters().inFlight()).isZero();
    }

    /** The workers are busy, so the waiting thread ends the first work; nobody would do work left to the waiting thread. */
    @Test
    void workMadeDueByTheThreadOfACallDuringAWaitIsGivenToWorkers() throws InterruptedException {
        Thread caller = Thread.currentThread();
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger left = new AtomicInteger(10);
        kernel.body = (group, dispatch, worker) -> {
            if (Thread.currentThread().equals(caller) && left.decrementAndGet() == 0) {
                go.countDown();
            } else if (!Thread.currentThread().equals(caller)) {
                begun.countDown();
                go.await();
            }
        };
        dispatch(null, 2, 0);
        begun.await();
        Fence first = dispatchInCall(10, WAKE_NANOS / 4);
        code = known(executable(device), 1, 4 * WAKE_NANOS);
        Fence second = inCall(first, 1, 0);
        call.doOwnWork();
        second.await(Duration.ofSeconds(30));
        assertThat(left).hasValue(0);
    }

    @Test
    void longWorkOfAVirtualThreadIsGivenToWorkers() throws InterruptedException {
        Thread caller = callOnVirtualThread(4 * WAKE_NANOS);
        assertThat(threads).hasSize(1).doesNotContain(caller);
    }

    @Test
    void workOfAVirtualThreadIsDoneByThatThread() throws InterruptedException {
        Thread caller = callOnVirtualThread(WAKE_NANOS / 2);
        assertThat(threads).containsExactly(caller);
    }

    private Thread callOnVirtualThread(long duration) throws InterruptedException {
        known(code, 1, duration);
        Thread caller = Thread.ofVirtual().start(() -> {
            MemoryHolder own = new MemoryHolder("own", new OperationsUnderWay());
            own.calledHere(true);
            MemoryHolder before = own.enter();
            Fence done = dispatch(null, 1, duration);
            own.leave(before);
            own.doOwnWork();
            done.await();
            own.end();
        });
        caller.join();
        return caller;
    }
}
