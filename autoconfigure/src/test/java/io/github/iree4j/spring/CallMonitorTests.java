package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** Deadlines of synchronous calls; the tests tell the time. */
class CallMonitorTests {

    private static final IreeException FAILURE = IreeException.of(StatusCode.CANCELLED, "interrupted");

    private final AtomicLong clock = new AtomicLong();
    private final Queue<Runnable> looks = new ArrayDeque<>();
    private final CallMonitor calls = new CallMonitor(_ -> 0, clock::get, new ThreadDeadlines(looks::add));

    @AfterEach
    void noInterruptIsLeft() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private void look() {
        looks.remove().run();
    }

    @Test
    void aLateCallIsInterruptedOnceAndFailsWithItsDeadline() {
        CallMonitor.Here here = calls.begin("draft", "module.step", Deadline.after(Duration.ofSeconds(5), clock::get));
        clock.set(Duration.ofSeconds(4).toNanos());
        look();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        clock.set(Duration.ofSeconds(5).toNanos());
        look();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        IreeException seen = here.failed(FAILURE);
        assertThat(seen.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(seen).hasMessageContaining("call of 'module.step' took longer than 5 s");
        assertThat(calls.endedCalls()).isEqualTo(1);
    }

    @Test
    void aCallEndingJustAsItIsLateLeavesNoInterrupt() {
        CallMonitor.Here here = calls.begin("draft", "module.step", Deadline.after(Duration.ofSeconds(5), clock::get));
        clock.set(Duration.ofSeconds(6).toNanos());
        look();
        here.end();
    }

    @Test
    void aLateCallFailsWithItsDeadlineWithoutALook() {
        CallMonitor.Here here = calls.begin("draft", "module.step", Deadline.after(Duration.ofSeconds(5), clock::get));
        clock.set(Duration.ofSeconds(5).toNanos());
        assertThat(here.failed(FAILURE).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @Test
    void aFailureInTimeStaysAsItIs() {
        CallMonitor.Here here = calls.begin("draft", "module.step", Deadline.after(Duration.ofSeconds(5), clock::get));
        assertThat(here.failed(FAILURE)).isSameAs(FAILURE);
        look();
        assertThat(looks).as("looks while there is no deadline").isEmpty();
    }

    @Test
    void cancellingInterruptsThreadsAndLeavesFuturesToTheirPrograms() {
        CallMonitor.Here here = calls.begin("draft", "module.step", null);
        CompletableFuture<Void> future = new CompletableFuture<>();
        calls.add("draft", "module.step", null, future);
        assertThat(looks).as("looks without deadlines").isEmpty();
        assertThat(calls.cancel()).isEqualTo(1);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(future).isNotDone();
        assertThat(here.failed(FAILURE))
                .hasMessageContaining("call of 'module.step' was cancelled: the application stops")
                .hasCause(FAILURE);
        assertThat(calls.cancel()).isZero();
        assertThat(calls.endedCalls()).isEqualTo(1);
    }

    @Test
    void aCancelledCallKeepsAMoreTellingFailure() {
        for (IreeException failure : List.of(
                IreeException.of(StatusCode.CANCELLED, "call 7 of 'm.f' was cancelled: the application stops"),
                IreeException.of(StatusCode.INVALID_ARGUMENT, "input 0 has another shape"))) {
            CallMonitor.Here here = calls.begin("draft", "module.step", null);
            calls.cancel();
            assertThat(here.failed(failure)).isSameAs(failure);
        }
    }

    @Test
    void tracesBelongToTheCallingThreads() {
        MDC.put("traceId", "first");
        CallMonitor.Here here = calls.begin("draft", "module.step", null);
        clock.set(1);
        MDC.put("traceId", "second");
        calls.add("draft", "module.step", null, new CompletableFuture<>());
        calls.add("other", "module.step", null, new CompletableFuture<>());
        MDC.remove("traceId");
        calls.add("draft", "module.step", null, new CompletableFuture<>());
        assertThat(calls.traces("draft", "module.step")).containsExactly("first", "second");
        here.end();
        assertThat(calls.traces("draft", "module.step")).containsExactly("second");
    }

    @Test
    void callsAreLateWhenAllAreAfterTheirDeadlines() {
        assertThat(calls.areCallsLate()).as("without calls").isFalse();
        CompletableFuture<Object> brief = new CompletableFuture<>();
        CompletableFuture<Object> endless = new CompletableFuture<>();
        calls.add("draft", "module.step", Deadline.after(Duration.ofSeconds(1), clock::get), brief);
        calls.add("draft", "module.step", Deadline.after(Duration.ofSeconds(Long.MAX_VALUE), clock::get), endless);
        clock.set(Duration.ofMinutes(5).toNanos());
        assertThat(calls.areCallsLate()).as("one is not").isFalse();
        endless.complete("");
        assertThat(calls.areCallsLate()).isTrue();
        calls.add("draft", "module.step", null, new CompletableFuture<>());
        assertThat(calls.areCallsLate()).as("one has no deadline").isFalse();
    }
}
