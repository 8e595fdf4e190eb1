package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The life cycle of a process; a stepped executor drains on command. */
class TaskProcessTest {
    private final SteppedExecutor stepped =
            ProcessExecutor.builder(1).name("stepped").buildStepped();

    @AfterEach
    void close() {
        stepped.close();
    }

    private static TestProcess suspended(int count) {
        return new TestProcess(ProcessOptions.named("p").suspended(count), worker -> DrainResult.COMPLETED);
    }

    private static IreeException internal(String message) {
        return IreeException.of(StatusCode.INTERNAL, message);
    }

    private void run(TestProcess process) {
        stepped.executor().submit(process);
        stepped.runUntilAsleep();
    }

    @Test
    void isSuspendedWhileAwaitingEvents() {
        TestProcess process =
                new TestProcess(ProcessOptions.named("p").suspended(3).wanting(7), worker -> DrainResult.COMPLETED);
        assertThat(process.state()).isEqualTo(ProcessState.SUSPENDED);
        assertThat(process.wakeBudget()).isEqualTo(7);
        assertThat(process.failure()).isNull();
        run(process);
        assertThat(process.drains).hasValue(0);
    }

    @Test
    void isRunnableWhenAwaitingNothing() {
        TestProcess process = suspended(0);
        assertThat(process.state()).isEqualTo(ProcessState.RUNNABLE);
        assertThat(process.wakeBudget()).isEqualTo(1);
        assertThat(process.drains).as("not before the submission").hasValue(0);
    }

    @Test
    void aSingleEventMakesAProcessRunnable() {
        TestProcess process = suspended(1);
        assertThat(process.wake()).isTrue();
        assertThat(process.state()).isEqualTo(ProcessState.RUNNABLE);
    }

    @Test
    void onlyTheLastEventMakesAProcessRunnable() {
        TestProcess process = suspended(3);
        assertThat(process.wake()).isFalse();
        assertThat(process.wake()).isFalse();
        assertThat(process.state()).isEqualTo(ProcessState.SUSPENDED);
        assertThat(process.wake()).isTrue();
        assertThat(process.state()).isEqualTo(ProcessState.RUNNABLE);
    }

    @Test
    void surplusEventIsRefusedAndChangesNothing() {
        TestProcess process = suspended(1);
        process.wake();
        assertThatThrownBy(process::wake).isInstanceOf(IreeException.class).hasMessageContaining("more often");
        assertThat(process.state()).isEqualTo(ProcessState.RUNNABLE);
        run(process);
        assertThat(process.drains).hasValue(1);
    }

    @Test
    void eventAfterCancellationMakesNothingRunnable() {
        TestProcess process = suspended(1);
        process.cancel();
        assertThat(process.wake()).isFalse();
        assertThat(process.state()).isEqualTo(ProcessState.CANCELLED);
    }

    @Test
    void completesWithoutFailure() {
        TestProcess process = suspended(0);
        run(process);
        assertThat(process.state()).isEqualTo(ProcessState.COMPLETED);
        assertThat(process.completions).hasValue(1);
        assertThat(process.completedWith).isNull();
        assertThat(process.isReleased()).isTrue();
    }

    @Test
    void completesWithItsFailure() {
        IreeException failure = internal("broken");
        TestProcess process = TestProcess.of("p", worker -> {
            throw failure;
        });
        run(process);
        assertThat(process.completedWith).isSameAs(failure);
        assertThat(process.failure()).isSameAs(failure);
        assertThat(process.state()).isEqualTo(ProcessState.COMPLETED);
    }

    @Test
    void completesWithoutAnyHook() {
        TaskProcess plain = new TaskProcess(ProcessOptions.named("plain")) {
            @Override
            protected DrainResult drain(WorkerContext worker) {
                return DrainResult.COMPLETED;
            }
        };
        stepped.executor().submit(plain);
        stepped.runUntilAsleep();
        assertThat(plain.isReleased()).isTrue();
    }

    @Test
    void throwingHooksDoNotAffectOthers() {
        TestProcess other = suspended(0);
        TaskProcess rude = new TaskProcess(ProcessOptions.named("rude")) {
            @Override
            protected DrainResult drain(WorkerContext worker) {
                return DrainResult.COMPLETED;
            }

            @Override
            protected void completed(@Nullable IreeException failure) {
                throw new IllegalStateException("completed");
            }

            @Override
            protected void released() {
                throw new IllegalStateException("released");
            }
        };
        stepped.executor().submit(rude);
        stepped.executor().submit(other);
        stepped.runUntilAsleep();
        assertThat(rude.isReleased()).isTrue();
        assertThat(other.completedWith).isNull();
        assertThat(other.releases).hasValue(1);
        assertThat(stepped.executor().liveProcesses()).isZero();
    }

    @Test
    void noDrainBeginsAfterAnExternalFailure() {
        TestProcess process = TestProcess.of("p", worker -> DrainResult.IDLE);
        run(process);
        IreeException failure = internal("from outside");
        assertThat(process.fail(failure)).isTrue();
        stepped.runUntilAsleep();
        assertThat(process.drains).hasValue(1);
        assertThat(process.completedWith).isSameAs(failure);
    }

    /** TASK-4: the first failure is final. */
    @Test
    void firstFailureWins() {
        TestProcess process = TestProcess.of("p", worker -> DrainResult.IDLE);
        run(process);
        IreeException first = internal("first");
        assertThat(process.fail(first)).isTrue();
        assertThat(process.fail(internal("second"))).isFalse();
        process.cancel();
        stepped.runUntilAsleep();
        assertThat(process.completedWith).isSameAs(first);
        assertThat(process.state()).isEqualTo(ProcessState.COMPLETED);
    }

    /** TASK-4: success is final too. */
    @Test
    void failureAfterSuccessIsDropped() {
        TestProcess process = suspended(0);
        run(process);
        assertThat(process.fail(internal("late"))).isFalse();
        assertThat(process.failure()).isNull();
        assertThat(process.completions).hasValue(1);
    }

    @Test
    void cancellingASuspendedProcessEndsTheProcessAtOnce() {
        TestProcess process = suspended(2);
        process.cancel();
        assertThat(process.state()).isEqualTo(ProcessState.CANCELLED);
        assertThat(process.failure()).isNotNull();
        assertThat(process.completedWith).isNotNull();
        assertThat(process.completedWith.code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(process.releases).hasValue(1);
        assertThat(process.drains).hasValue(0);
    }

    @Test
    void cancellingARunnableProcessIsLeftToItsNextDrain() {
        TestProcess process = TestProcess.of("p", worker -> DrainResult.WORKED);
        stepped.executor().submit(process);
        process.cancel();
        assertThat(process.state()).isEqualTo(ProcessState.CANCELLED);
        assertThat(process.completions).hasValue(0);
        stepped.runUntilAsleep();
        assertThat(process.completions).hasValue(1);
        assertThat(process.drains).hasValue(0);
    }

    @Test
    void cancellingACompletedProcessDoesNothing() {
        TestProcess process = suspended(0);
        run(process);
        process.cancel();
        assertThat(process.state()).isEqualTo(ProcessState.COMPLETED);
        assertThat(process.completions).hasValue(1);
    }

    @Test
    void cancellationKeepsAnEarlierFailure() {
        TestProcess process = suspended(1);
        process.fail(internal("earlier"));
        process.cancel();
        assertThat(process.completedWith).hasMessage("earlier");
        assertThat(process.releases).hasValue(1);
    }

    @Test
    void cancellationWakesASleeper() {
        TestProcess sleeper =
                new TestProcess(ProcessOptions.named("sleeper").placed(Placement.COMPUTE), worker -> DrainResult.IDLE);
        run(sleeper);
        assertThat(stepped.isAsleep(0)).isTrue();
        sleeper.cancel();
        assertThat(stepped.isAsleep(0)).isFalse();
        stepped.runUntilAsleep();
        assertThat(sleeper.completedWith).isNotNull();
        assertThat(sleeper.drains).hasValue(1);
    }

    /** TASK-1: of 8 threads with a signal of an event each, one makes the process runnable. */
    @Test
    void eventsFromManyThreadsMakeAProcessRunnableOnce() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            TestProcess process = suspended(8);
            AtomicInteger activations = new AtomicInteger();
            ProcessExecutorTest.concurrently(8, index -> {
                if (process.wake()) {
                    activations.incrementAndGet();
                }
            });
            assertThat(activations).hasValue(1);
        }
    }

    /** TASK-4: of 8 threads that fail the process, one succeeds. */
    @Test
    void failuresFromManyThreadsLeaveASingleFailure() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            TestProcess process = suspended(1);
            AtomicInteger first = new AtomicInteger();
            ProcessExecutorTest.concurrently(8, index -> {
                if (process.fail(internal("failure " + index))) {
                    first.incrementAndGet();
                }
            });
            assertThat(first).hasValue(1);
            assertThat(process.completions).hasValue(1);
        }
    }

    @Test
    void processOfAnotherExecutorIsRefused() {
        TestProcess process = TestProcess.of("p", worker -> DrainResult.IDLE);
        run(process);
        try (SteppedExecutor other = ProcessExecutor.builder(1).name("other").buildStepped()) {
            assertThatThrownBy(() -> other.executor().submit(process))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("'stepped'");
        }
    }
}
