package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The guarantees of an executor with threads, for any interleaving. */
class ProcessExecutorTest {
    private ProcessExecutor executor = ProcessExecutor.builder(4).name("test").build();

    @AfterEach
    void close() {
        executor.close();
    }

    private void workers(int count) {
        executor.close();
        executor = ProcessExecutor.builder(count).name("test").build();
    }

    private static ProcessOptions compute(String name, int budget) {
        return ProcessOptions.named(name).wanting(budget).placed(Placement.COMPUTE);
    }

    /** Runs the action on several threads concurrently. */
    static void concurrently(int threads, IntConsumer action) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(threads);
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int index = i;
            started.add(Thread.ofPlatform().start(() -> {
                ready.countDown();
                try {
                    ready.await();
                } catch (InterruptedException e) {
                    return;
                }
                action.accept(index);
            }));
        }
        for (Thread thread : started) {
            thread.join();
        }
    }

    @Test
    void drainsAProcessCompletingAtOnceOnce() {
        workers(1);
        TestProcess process = TestProcess.oneShot("once");
        executor.submit(process);
        process.awaitReleased();
        assertThat(process.drains).hasValue(1);
        assertThat(process.completions).hasValue(1);
        assertThat(process.completedWith).isNull();
        assertThat(process.state()).isEqualTo(ProcessState.COMPLETED);
    }

    @Test
    void drainsUntilTheProcessReturnsCompleted() {
        TestProcess process = TestProcess.after(5, ProcessOptions.named("five"));
        executor.submit(process);
        process.awaitReleased();
        assertThat(process.drains).hasValue(5);
    }

    @Test
    void processCompletesWithTheFailureThrownByItsDrain() {
        TestProcess process = TestProcess.of("bad", worker -> {
            throw IreeException.of(StatusCode.DATA_LOSS, "lost");
        });
        executor.submit(process);
        process.awaitReleased();
        assertThat(process.completedWith).hasMessage("lost");
        assertThat(process.completions).hasValue(1);
    }

    @Test
    void anythingThrownByADrainFailsItsProcessAndNotTheWorker() {
        workers(1);
        TestProcess process = TestProcess.of("bad", worker -> {
            throw new StackOverflowError("deep");
        });
        executor.submit(process);
        process.awaitReleased();
        assertThat(process.completedWith).isNotNull();
        assertThat(process.completedWith.code()).isEqualTo(StatusCode.INTERNAL);
        TestProcess next = TestProcess.oneShot("next");
        executor.submit(next);
        next.awaitReleased();
        assertThat(next.completedWith).isNull();
    }

    /** TASK-7, TASK-11, TASK-12: no wake-up is lost among many sleeps and wakes. */
    @Test
    void sleepsAndWakesManyTimes() throws InterruptedException {
        concurrently(8, index -> {
            for (Placement placement : Placement.values()) {
                AtomicInteger wanted = new AtomicInteger();
                AtomicInteger done = new AtomicInteger();
                TestProcess process =
                        new TestProcess(ProcessOptions.named("sleeper").placed(placement), worker -> {
                            int now = wanted.get();
                            if (done.get() == now) {
                                return DrainResult.IDLE;
                            }
                            done.set(now);
                            return now == 500 ? DrainResult.COMPLETED : DrainResult.WORKED;
                        });
                executor.submit(process);
                for (int i = 1; i <= 500; i++) {
                    wanted.set(i);
                    process.schedule();
                    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
                    while (done.get() != i) {
                        assertThat(System.nanoTime())
                                .as("wake %d of %s", i, placement)
                                .isLessThan(deadline);
                        Thread.onSpinWait();
                    }
                }
                process.awaitReleased();
            }
        });
    }

    /** TASK-3, TASK-8, TASK-9, TASK-14: each is completed and released once, after the last drain. */
    @Test
    void processesSubmittedByManyThreadsAllEnd() throws InterruptedException {
        List<TestProcess> all = new ArrayList<>();
        for (int i = 0; i < 8 * 64; i++) {
            all.add(TestProcess.after(1 + i % 3, ProcessOptions.named("p" + i).wanting(1 + i % 4)));
        }
        concurrently(8, index -> {
            for (int i = 0; i < 64; i++) {
                executor.submit(all.get(index * 64 + i));
            }
        });
        for (TestProcess process : all) {
            process.awaitReleased();
            assertThat(process.completions).hasValue(1);
            assertThat(process.releases).hasValue(1);
            assertThat(process.insideWhenReleased).hasValue(0);
            assertThat(process.drainsAfterCompletion).hasValue(0);
        }
        assertThat(executor.liveProcesses()).isZero();
    }

    /** TASK-6, TASK-9: drained by several workers concurrently, never after the release. */
    @Test
    void severalWorkersShareTheTilesOfAProcess() {
        AtomicInteger claimed = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        Set<Integer> workers = ConcurrentHashMap.newKeySet();
        TestProcess process = new TestProcess(compute("tiles", 4), worker -> {
            int tile = claimed.getAndIncrement();
            if (tile >= 10_000) {
                return DrainResult.IDLE;
            }
            workers.add(worker.index());
            return done.incrementAndGet() == 10_000 ? DrainResult.COMPLETED : DrainResult.WORKED;
        });
        executor.submit(process);
        process.awaitReleased();
        assertThat(done).hasValue(10_000);
        assertThat(workers).isNotEmpty();
        assertThat(process.completions).hasValue(1);
        assertThat(process.insideWhenReleased).hasValue(0);
    }

    /** TASK-10, TASK-13: more processes than slots. */
    @Test
    void processesWithoutASlotAreDrainedWhenASlotIsFree() {
        executor.close();
        executor = ProcessExecutor.builder(4).computeSlots(2).build();
        List<TestProcess> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            TestProcess process = TestProcess.after(5, compute("p" + i, 2));
            all.add(process);
            executor.submit(process);
        }
        all.forEach(TestProcess::awaitReleased);
    }

    /** TASK-1, TASK-2, TASK-4: woken and cancelled concurrently, a process ends once. */
    @Test
    void processWokenAndCancelledAtOnceEndsOnce() throws InterruptedException {
        for (int round = 0; round < 300; round++) {
            TestProcess process =
                    new TestProcess(ProcessOptions.named("p").suspended(2), worker -> DrainResult.COMPLETED);
            executor.submit(process);
            concurrently(3, index -> {
                if (index == 2) {
                    process.cancel();
                } else {
                    process.wake();
                }
            });
            process.awaitReleased();
            assertThat(process.completions).hasValue(1);
            assertThat(process.releases).hasValue(1);
        }
    }

    @Test
    void closingCancelsSleepersAndSuspended() {
        TestProcess sleeper = TestProcess.of("sleeper", worker -> DrainResult.IDLE);
        TestProcess suspended =
                new TestProcess(ProcessOptions.named("suspended").suspended(1), worker -> DrainResult.COMPLETED);
        executor.submit(sleeper);
        executor.submit(suspended);
        executor.close();
        assertThat(sleeper.state()).isEqualTo(ProcessState.CANCELLED);
        assertThat(suspended.state()).isEqualTo(ProcessState.CANCELLED);
        assertThat(sleeper.releases).hasValue(1);
        assertThat(suspended.drains).hasValue(0);
    }

    @Test
    void closingTimesOutOnAHangingDrain() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        ProcessExecutor stuck =
                ProcessExecutor.builder(1).closeTimeout(Duration.ofMillis(10)).build();
        stuck.submit(TestProcess.of("endless", worker -> {
            entered.countDown();
            leave.await();
            return DrainResult.COMPLETED;
        }));
        entered.await();
        assertThatThrownBy(stuck::close)
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("worker 0")
                .hasMessageContaining("endless");
        leave.countDown();
    }

    @Test
    void workersAreNamedDaemonPlatformThreads() {
        workers(1);
        List<String> seen = new ArrayList<>();
        TestProcess process = TestProcess.of("p", worker -> {
            Thread thread = Thread.currentThread();
            seen.add(thread.getName() + " " + thread.isDaemon() + " " + thread.isVirtual());
            return DrainResult.COMPLETED;
        });
        executor.submit(process);
        process.awaitReleased();
        assertThat(seen).containsExactly("test-worker-0 true false");
    }

    @Test
    void setupRunsOnTheWorkersThreadBeforeItsFirstDrainAndAfterItsLast() {
        executor.close();
        List<String> events = java.util.Collections.synchronizedList(new ArrayList<>());
        executor = ProcessExecutor.builder(1)
                .name("set-up")
                .setup(new WorkerSetup() {
                    @Override
                    public void begin(WorkerContext worker) {
                        events.add("begin on " + Thread.currentThread().getName());
                    }

                    @Override
                    public void end(WorkerContext worker) {
                        events.add("end on " + Thread.currentThread().getName());
                    }
                })
                .build();
        TestProcess process = TestProcess.of("p", worker -> {
            events.add("drain on " + Thread.currentThread().getName());
            return DrainResult.COMPLETED;
        });
        executor.submit(process);
        process.awaitReleased();
        executor.close();
        assertThat(events)
                .containsExactly("begin on set-up-worker-0", "drain on set-up-worker-0", "end on set-up-worker-0");
    }

    @Test
    void workerRunsDespiteAFailedSetup() {
        executor.close();
        executor = ProcessExecutor.builder(1)
                .setup(worker -> {
                    throw new IllegalStateException("no such processor");
                })
                .build();
        TestProcess process = TestProcess.oneShot("p");
        executor.submit(process);
        process.awaitReleased();
    }

    @Test
    void workerSleepsDespiteAnInterruptLeftByADrain() {
        workers(1);
        TestProcess process = TestProcess.of("p", worker -> {
            Thread.currentThread().interrupt();
            return DrainResult.COMPLETED;
        });
        executor.submit(process);
        process.awaitReleased();
        awaitAsleep();
        TestProcess next = TestProcess.oneShot("next");
        executor.submit(next);
        next.awaitReleased();
    }

    /** A process leaves the table just before the release, or, on the submitting thread, after it. */
    private void awaitNoneLive() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (executor.liveProcesses() > 0) {
            assertThat(System.nanoTime())
                    .as("%d live", executor.liveProcesses())
                    .isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private void awaitAsleep() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (executor.sleepingWorkers() < executor.workers()) {
            assertThat(System.nanoTime()).as("workers fall asleep").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    void severalComputeProcessesRunSideBySide() {
        List<TestProcess> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            AtomicInteger claimed = new AtomicInteger();
            AtomicInteger done = new AtomicInteger();
            TestProcess process = new TestProcess(compute("tiles" + i, 4), worker -> {
                if (claimed.getAndIncrement() >= 50) {
                    return DrainResult.IDLE;
                }
                return done.incrementAndGet() == 50 ? DrainResult.COMPLETED : DrainResult.WORKED;
            });
            all.add(process);
            executor.submit(process);
        }
        for (TestProcess process : all) {
            process.awaitReleased();
            assertThat(process.completions).hasValue(1);
        }
    }

    @Test
    void computeProcessWakesAComputeProcessAndThenAListedProcess() {
        List<String> order = java.util.Collections.synchronizedList(new ArrayList<>());
        TestProcess a = TestProcess.after(20, compute("a", 4));
        TestProcess b = TestProcess.after(20, compute("b", 4).suspended(1));
        TestProcess c = TestProcess.oneShot("c");
        a.whenCompleted = () -> {
            order.add("a");
            b.wake();
        };
        b.whenCompleted = () -> {
            order.add("b");
            executor.submit(c);
        };
        c.whenCompleted = () -> order.add("c");
        executor.submit(b);
        executor.submit(a);
        c.awaitReleased();
        assertThat(order).containsExactly("a", "b", "c");
    }

    @Test
    void failureOfAComputeDrainReachesCompletionOnce() {
        AtomicInteger drains = new AtomicInteger();
        TestProcess process = new TestProcess(compute("bad", 4), worker -> {
            if (drains.incrementAndGet() == 100) {
                throw IreeException.of(StatusCode.DATA_LOSS, "tile 100");
            }
            return DrainResult.WORKED;
        });
        executor.submit(process);
        process.awaitReleased();
        assertThat(process.completedWith).hasMessage("tile 100");
        assertThat(process.completions).hasValue(1);
        assertThat(process.releases).hasValue(1);
    }

    /** TASK-7: units arrive while the last drainer is about to leave. */
    @Test
    void noUnitIsLostWhileTheLastDrainerLeaves() {
        AtomicInteger units = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        TestProcess process = new TestProcess(compute("units", 2), worker -> {
            for (int seen; (seen = units.get()) > 0; ) {
                if (units.compareAndSet(seen, seen - 1)) {
                    return done.incrementAndGet() == 20_000 ? DrainResult.COMPLETED : DrainResult.WORKED;
                }
            }
            return DrainResult.IDLE;
        });
        executor.submit(process);
        for (int i = 0; i < 20_000; i++) {
            units.incrementAndGet();
            process.schedule();
            if (i % 3 == 0) {
                Thread.onSpinWait();
            }
        }
        process.awaitReleased();
        assertThat(done).hasValue(20_000);
    }

    @Test
    void closingTwiceIsHarmlessAndAWorkerMayNotClose() {
        workers(1);
        TestProcess process = TestProcess.of("closer", worker -> {
            executor.close();
            return DrainResult.COMPLETED;
        });
        executor.submit(process);
        process.awaitReleased();
        assertThat(process.completedWith).isNotNull();
        assertThat(process.completedWith.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        executor.close();
        executor.close();
    }

    /** Closing races with submissions: each process ends in either order. */
    @Test
    void everythingSubmittedWhileClosingEnds() throws InterruptedException {
        for (int round = 0; round < 20; round++) {
            workers(2);
            List<TestProcess> all = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                ProcessOptions options = ProcessOptions.named("p").wanting(1 + i % 2);
                all.add(new TestProcess(i % 3 == 0 ? options.suspended(1) : options, worker -> DrainResult.IDLE));
            }
            concurrently(3, index -> {
                if (index == 0) {
                    executor.close();
                } else {
                    for (int i = index - 1; i < all.size(); i += 2) {
                        executor.submit(all.get(i));
                    }
                }
            });
            for (TestProcess process : all) {
                process.awaitReleased();
                assertThat(process.completions).hasValue(1);
            }
        }
    }

    /** TASK-16: the last event comes while the process is being submitted. */
    @Test
    void lastEventWhileBeingSubmittedIsNotLost() throws InterruptedException {
        for (int round = 0; round < 300; round++) {
            TestProcess process =
                    new TestProcess(ProcessOptions.named("p").suspended(1), worker -> DrainResult.COMPLETED);
            TestProcess cancelled =
                    new TestProcess(ProcessOptions.named("c").suspended(1), worker -> DrainResult.COMPLETED);
            concurrently(2, index -> {
                if (index == 0) {
                    executor.submit(process);
                    executor.submit(cancelled);
                } else {
                    process.wake();
                    cancelled.cancel();
                }
            });
            process.awaitReleased();
            cancelled.awaitReleased();
        }
        awaitNoneLive();
    }
}
