package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Waiting for several processes together. */
class TaskScopeTest {
    private final TaskScope scope = new TaskScope("batch");

    @Test
    void isIdleWithNothingPending() {
        assertThat(scope.isIdle()).isTrue();
        scope.awaitIdle(Duration.ZERO);
    }

    @Test
    void zeroWaitReportsPendingProcesses() {
        scope.begun();
        assertThatThrownBy(() -> scope.awaitIdle(Duration.ZERO))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED))
                .hasMessageContaining("'batch'")
                .hasMessageContaining("1 pending");
        scope.ended(null);
        scope.awaitIdle(Duration.ZERO);
    }

    @Test
    void firstFailureStays() {
        IreeException first = new IreeException(StatusCode.DATA_LOSS, "first");
        scope.begun();
        scope.begun();
        scope.ended(first);
        scope.ended(new IreeException(StatusCode.INTERNAL, "second"));
        assertThat(scope.failure()).isSameAs(first);
    }

    @Test
    void endingMoreThanBegunIsRefused() {
        assertThatThrownBy(() -> scope.ended(null)).isInstanceOf(IreeException.class);
        assertThat(scope.isIdle()).isTrue();
    }

    @Test
    void processesCountUntilTheyAreReleasedAndFailTheScope() {
        try (SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped()) {
            TestProcess good =
                    new TestProcess(ProcessOptions.named("good").within(scope), worker -> DrainResult.COMPLETED);
            TestProcess cancelled = new TestProcess(
                    ProcessOptions.named("cancelled").within(scope).suspended(1), worker -> DrainResult.COMPLETED);
            stepped.executor().submit(good);
            stepped.executor().submit(cancelled);
            stepped.runUntilAsleep();
            assertThat(scope.isIdle()).isFalse();
            assertThat(scope.failure()).isNull();
            cancelled.cancel();
            assertThat(scope.isIdle()).isTrue();
            assertThat(scope.failure()).isSameAs(cancelled.failure());
        }
    }

    @Test
    void waitersAreWokenWhenTheLastEnds() throws InterruptedException {
        try (ProcessExecutor executor = ProcessExecutor.builder(2).build()) {
            for (int round = 0; round < 100; round++) {
                for (int i = 0; i < 8; i++) {
                    executor.submit(
                            TestProcess.after(3, ProcessOptions.named("p").within(scope)));
                }
                scope.awaitIdle(Duration.ofSeconds(60));
                assertThat(scope.isIdle()).isTrue();
            }
        }
    }
}
