package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls concurrent with other calls, closing, fences, timeouts and cancellation. */
class ProgramCallsTest extends ProgramFixture {
    // -- threads

    @Test
    void callsRunOneAfterTheOther() throws Exception {
        int threads = 8;
        int perThread = 200;
        try (Program program = program()) {
            ProgramFunction one = program.function("one");
            CyclicBarrier start = new CyclicBarrier(threads);
            List<CompletableFuture<Void>> all = new java.util.ArrayList<>();
            for (int t = 0; t < threads; t++) {
                all.add(CompletableFuture.runAsync(
                        () -> {
                            try {
                                start.await();
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                            for (int i = 0; i < perThread; i++) {
                                one.invoke().close();
                            }
                        },
                        r -> Thread.ofPlatform().start(r)));
            }
            for (CompletableFuture<Void> each : all) {
                each.get();
            }
        }
        assertThat(calls).hasValue(threads * perThread);
    }

    @Test
    void thousandsOfCallsMayWaitForTheirTurn() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> first = program.function("wait").invokeAsync();
            entered.await();
            List<CompletableFuture<Results>> waiting = new java.util.ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                waiting.add(program.function("one").invokeAsync());
            }
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            go.countDown();
            for (CompletableFuture<Results> each : waiting) {
                each.get().close();
            }
            first.get().close();
        }
        assertThat(calls).hasValue(2001);
    }

    @Test
    void callingItsOwnProgramIsRefused() throws Exception {
        AtomicReference<Program> self = new AtomicReference<>();
        VmModule recursive = NativeModule.builder("recursive", 1, Object::new)
                .function(
                        "again", "0v_v", (s, c) -> self.get().function("again").invoke())
                .build();
        try (Program program =
                runtime.load(ProgramOptions.builder().module(recursive).build())) {
            self.set(program);
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "load the program twice",
                    () -> program.function("again").invoke());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"join", "get"})
    void waitingForACallOfItsOwnProgramIsRefusedAndTheAwaitedCallEndsAfterwards(String how) throws Exception {
        AtomicReference<Program> self = new AtomicReference<>();
        AtomicReference<CompletableFuture<Results>> other = new AtomicReference<>();
        VmModule waiting = NativeModule.builder("waiting", 1, Object::new)
                .function("outer", "0v_v", (s, c) -> {
                    CompletableFuture<Results> inner =
                            self.get().function("inner").invokeAsync();
                    other.set(inner);
                    if (how.equals("join")) {
                        inner.join();
                    } else {
                        try {
                            inner.get();
                        } catch (InterruptedException | ExecutionException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                })
                .function("inner", "0v_v", (s, c) -> {})
                .build();
        try (Program program =
                runtime.load(ProgramOptions.builder().module(waiting).build())) {
            self.set(program);
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "'waiting.inner' was waited for from within a call of the same program, before whose end it cannot go on; load the program twice",
                    () -> program.function("outer").invoke());
            other.get().get().close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"within", "timed get", "deadline"})
    void waitingForACallOfItsOwnProgramWithALimitLastsUntilTheLimit(String how) throws Exception {
        AtomicReference<Program> self = new AtomicReference<>();
        AtomicReference<CompletableFuture<Results>> other = new AtomicReference<>();
        AtomicInteger made = new AtomicInteger();
        VmModule waiting = NativeModule.builder("waiting", 1, Object::new)
                .function("outer", "0v_v", (s, c) -> {
                    ProgramFunction inner = self.get().function("inner");
                    Duration limit = Duration.ofMillis(1);
                    switch (how) {
                        case "within" ->
                            inner.call(CallOptions.DEFAULTS.timeout(limit)).await();
                        case "deadline" ->
                            inner.call(CallOptions.DEFAULTS.timeout(limit)).join();
                        default -> {
                            other.set(inner.invokeAsync());
                            try {
                                other.get().get(1, TimeUnit.MILLISECONDS);
                            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                                throw new IllegalStateException(e);
                            }
                        }
                    }
                })
                .function("inner", "0v_v", (s, c) -> made.incrementAndGet())
                .build();
        try (Program program =
                runtime.load(ProgramOptions.builder().module(waiting).build())) {
            self.set(program);
            assertThatThrownBy(() -> program.function("outer").invoke())
                    .hasStackTraceContaining(how.equals("timed get") ? "TimeoutException" : "took longer than");
            if (how.equals("timed get")) {
                other.get().get().close();
                assertThat(made).hasValue(1);
            } else {
                program.function("inner").invoke().close();
                assertThat(made).as("the abandoned call was not made").hasValue(1);
            }
        }
    }

    // -- closing

    @Test
    void retiringDuringACallLetsItFinishAndRefusesTheNext() throws Exception {
        Program program = program();
        CompletableFuture<Results> running = program.function("wait").invokeAsync();
        entered.await();
        program.retire();
        program.retire();
        assertThat(program.isClosed()).isTrue();
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "program 'java' is closed",
                () -> program.function("one").invoke());
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "closed",
                () -> program.function("one").invokeAsync());
        assertThat(closedStates).as("the running call still needs the state").hasValue(0);
        go.countDown();
        try (Results results = running.get()) {
            assertThat(results.intValue(0)).isEqualTo(1);
        }
        assertThat(closedStates).hasValue(1);
    }

    @Test
    void closingTheRuntimeDuringACallCancelsItAndRefusesTheNext() throws Exception {
        Program program = program();
        CompletableFuture<Results> running = program.function("wait").invokeAsync();
        entered.await();
        runtime.close();
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "closed",
                () -> program.function("one").invoke());
        assertFails(StatusCode.FAILED_PRECONDITION, "runtime is closed", this::program);
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> runtime.upload(Tensor.scalar(1)));
        assertThat(closedStates).hasValue(1);
        assertThat(runtime.programs()).isEmpty();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(running::get)
                .withMessageContaining("program 'java' was closed");
    }

    @Test
    void closedInputsAndResultsAreRefused() {
        try (Program program = program()) {
            Tensor input = Tensor.of(new float[2], 1, 2);
            Results results = program.function("same").invoke(input);
            Tensor output = results.tensor(0);
            input.close();
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "argument 0 'x'",
                    () -> program.function("same").invoke(input));
            results.close();
            results.close();
            assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> results.get(0));
            assertFails(StatusCode.FAILED_PRECONDITION, "closed", output::toFloatArray);
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "closed",
                    () -> program.function("same").invoke(output));
        }
    }

    @Test
    void closingAnInputDuringTheCallKeepsItsMemory() throws Exception {
        try (Program program = program()) {
            Tensor input = Tensor.of(new float[] {1, 2});
            CompletableFuture<Results> running = program.function("async").invokeAsync(input);
            entered.await();
            input.close();
            signal();
            try (Results results = running.get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(1, 2);
            }
        }
    }

    @Test
    void functionsWithFencesReturnWhenTheirFenceIsReached() throws Exception {
        try (Program program = program()) {
            ProgramFunction function = program.function("async");
            assertThat(function.isAsynchronous()).isTrue();
            assertThat(function.argumentKinds()).containsExactly(ValueKind.REFERENCE);
            CompletableFuture<Results> future = function.invokeAsync((Object) new float[] {3, 4});
            entered.await();
            assertThat(future).isNotDone();
            program.function("one").invoke().close(); // the first call waits for its fence, not for its turn
            signal();
            try (Results results = future.get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(3, 4);
            }
        }
    }

    @Test
    void failedFencesFailTheCallAndFreeItsResults() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> future = program.function("async").invokeAsync((Object) new float[] {3, 4});
            entered.await();
            Fence fence = toSignal.getAndSet(null);
            fence.fail(IreeException.of(StatusCode.DATA_LOSS, "the root cause"));
            fence.release();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(future::get)
                    .withCauseInstanceOf(IreeException.class)
                    .withMessageContaining("the root cause");
        }
    }

    @Test
    void fencesForgottenByTheProgramFailTheCallInsteadOfHanging() {
        try (Program program = program()) {
            assertFails(
                    StatusCode.CANCELLED,
                    "semaphore was closed",
                    () -> program.function("forgetful").invoke());
        }
    }

    @Test
    void slowCallsAreGivenUp() throws Exception {
        try (Program program = program()) {
            assertFails(
                    StatusCode.DEADLINE_EXCEEDED,
                    "'java.wait' took longer than 10 ms",
                    () -> program.function("wait")
                            .call(CallOptions.DEFAULTS.timeout(Duration.ofMillis(10)))
                            .await());
            program.function("one").invoke().close();
        }
    }

    @Test
    void cancelledCallsDoNotRunOrEndSoon() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> running = program.function("wait").invokeAsync();
            entered.await();
            CompletableFuture<Results> waiting = program.function("one").invokeAsync();
            assertThat(waiting.cancel(true)).isTrue();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(waiting::get);
            running.orTimeout(10, TimeUnit.MILLISECONDS);
            assertThatExceptionOfType(ExecutionException.class).isThrownBy(running::get);
            program.function("fail").invokeAsync().exceptionally(e -> null).get();
            assertThat(calls).as("neither completed").hasValue(0);
        }
        awaitEndOfCalls();
        assertThat(closedStates).hasValue(1);
    }

    @Test
    void interruptedCallersGetCancelledAndStayInterrupted() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> running = program.function("wait").invokeAsync();
            entered.await();
            Thread.currentThread().interrupt();
            assertFails(
                    StatusCode.CANCELLED,
                    "interrupted",
                    () -> program.function("one").invoke());
            assertThat(Thread.interrupted()).isTrue();
            go.countDown();
            running.get().close();
        }
    }

    @Test
    void resultsWithoutAReceiverAreFreed() throws Exception {
        try (Program program = program()) {
            for (int i = 0; i < 200; i++) {
                CompletableFuture<Results> future = program.function("same").invokeAsync((Object) new float[] {1, 2});
                if (!future.cancel(true)) {
                    future.get().close();
                }
            }
        } // closeRuntime() checks for leftover bytes
        awaitEndOfCalls();
    }

    // -- leaks

    @Test
    void forgottenResultsAreCountedOnceAndNotFreed() throws Exception {
        try (IreeRuntime own = IreeRuntime.builder().traceLeaks(true).build()) {
            Program program = own.load(ProgramOptions.builder().module(module()).build());
            forget(program);
            program.function("same").invoke((Object) new float[] {1, 2}).close();
            while (own.monitor().forgottenTensors() == 0) {
                System.gc();
                Thread.onSpinWait();
            }
            System.gc();
            assertThat(own.monitor().forgottenTensors()).isEqualTo(1);
            assertThat(own.device().allocator().statistics().bytesLive()).isPositive();
        }
    }

    @Test
    @Timeout(60)
    void aForgottenResultOfASubmittedCallIsCounted() throws Exception {
        try (IreeRuntime own = IreeRuntime.builder().taskWorkers(1).build()) {
            Program program = own.load(ProgramOptions.builder().module(module()).build());
            forgetSubmitted(program);
            while (own.monitor().forgottenTensors() == 0
                    && !Thread.currentThread().isInterrupted()) {
                System.gc();
                Thread.onSpinWait();
            }
            assertThat(own.monitor().forgottenTensors()).isEqualTo(1);
        }
    }

    @Test
    void forgottenResultsAreCountedByProgramAndPlace() {
        try (IreeRuntime own = IreeRuntime.builder().traceLeaks(true).build()) {
            Program program = own.load(
                    ProgramOptions.builder().module(module()).name("echo").build());
            for (int i = 0; i < 3; i++) {
                forget(program);
            }
            while (own.monitor().forgottenTensors() < 3) {
                System.gc();
                Thread.onSpinWait();
            }
            assertThat(own.monitor().leaks().sites()).singleElement().satisfies(site -> {
                assertThat(site.program()).isEqualTo("echo");
                assertThat(site.place()).contains("ProgramCallsTest.forget");
                assertThat(site.count()).isEqualTo(3);
            });
        }
    }

    /** Cancelled calls end on separate threads; a closed program is freed after the last. */
    private void awaitEndOfCalls() {
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private static void forget(Program program) {
        program.function("same").invoke((Object) new float[] {1, 2});
    }

    private static void forgetSubmitted(Program program) throws Exception {
        program.function("same").invokeAsync((Object) new float[] {1, 2}).get();
    }
}
