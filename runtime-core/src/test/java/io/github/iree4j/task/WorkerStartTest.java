package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A worker gets a thread with the first work. */
class WorkerStartTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final String name = "start-" + NAMES.incrementAndGet();

    private long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(name + "-worker-"))
                .count();
    }

    private ProcessExecutor executor(int workers) {
        return ProcessExecutor.builder(workers).name(name).build();
    }

    @Test
    void anExecutorWithoutWorkHasNoThreads() {
        try (ProcessExecutor executor = executor(4)) {
            assertThat(executor.sleepingWorkers()).isEqualTo(4);
            TestProcess asleep = TestProcess.oneShot("asleep");
            executor.adopt(asleep);
            assertThat(threads()).isZero();
        }
        assertThat(threads()).isZero();
    }

    @Test
    void workForOneWorkerStartsOneWorker() {
        try (ProcessExecutor executor = executor(4)) {
            for (int i = 0; i < 3; i++) {
                TestProcess process = TestProcess.oneShot("once");
                executor.submit(process);
                process.awaitReleased();
            }
            assertThat(threads()).isBetween(1L, 3L);
        }
        assertThat(threads()).isZero();
    }

    @Test
    void adoptedProcessRunsWhenScheduled() {
        try (ProcessExecutor executor = executor(2)) {
            TestProcess process = TestProcess.oneShot("later");
            executor.adopt(process);
            assertThat(process.drains).hasValue(0);
            process.schedule();
            process.awaitReleased();
            assertThat(process.drains).hasValue(1);
        }
    }

    @Test
    void closingEndsSleepersWithoutStartedWorkers() {
        TestProcess asleep = TestProcess.oneShot("asleep");
        TestProcess suspended = TestProcess.after(
                3, ProcessOptions.named("suspended").suspended(1).placed(Placement.COMPUTE));
        try (ProcessExecutor executor = executor(3)) {
            executor.adopt(asleep);
            executor.submit(suspended);
        }
        for (TestProcess process : List.of(asleep, suspended)) {
            assertThat(process.isReleased()).as(process.toString()).isTrue();
            assertThat(process.completions).hasValue(1);
            assertThat(process.completedWith).isNotNull();
        }
        assertThat(threads()).isZero();
    }

    /** TASK-17: the first work arrives while the executor is being closed. */
    @Test
    void firstWorkAndCloseMayRace() throws InterruptedException {
        for (int round = 0; round < Effort.rounds(3_000); round++) {
            ProcessExecutor executor = executor(1 + round % 3);
            List<TestProcess> processes = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                processes.add(TestProcess.after(
                        1 + i,
                        ProcessOptions.named("process " + i)
                                .placed(i % 2 == 0 ? Placement.IMMEDIATE : Placement.COMPUTE)
                                .wanting(1 + i)));
            }
            ProcessExecutorTest.concurrently(3, index -> {
                if (index == 2) {
                    executor.close();
                } else {
                    executor.submit(processes.get(index));
                    executor.submit(processes.get(index + 2));
                }
            });
            for (TestProcess process : processes) {
                assertThat(process.isReleased())
                        .as("%s of round %d", process, round)
                        .isTrue();
                assertThat(process.completions).hasValue(1);
            }
        }
        assertThat(threads()).isZero();
    }
}
