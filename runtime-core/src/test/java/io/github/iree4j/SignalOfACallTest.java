package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The fence of a call has a single outcome, known to the call until then. */
@Timeout(300)
class SignalOfACallTest {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Fence inputs = runtime.createFence("inputs");
    private final Fence done = runtime.createFence("done");
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final CyclicBarrier failing = new CyclicBarrier(2);
    private volatile Runnable beforeRefusal = () -> {};

    @AfterEach
    void nothingIsLeft() {
        go.countDown();
        inputs.close();
        done.close();
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    private Program program() {
        return runtime.load(ProgramOptions.builder()
                .name("p")
                .module(NativeModule.builder("m", 1, Object::new)
                        .function("later", "0rrr_r", (s, c) -> later(c))
                        .attribute("iree.abi.declaration", "async func @later(%x: tensor<1xi32>) -> (tensor<1xi32>)")
                        .attribute("iree.abi.model", "coarse-fences")
                        .function("two", "0i_i", (s, c) -> c.returnI32(2 * c.i32()))
                        .function("fail", "0v_v", (s, c) -> fail())
                        .function("refuse", "0v_v", (s, c) -> {
                            beforeRefusal.run();
                            throw IreeException.of(StatusCode.DATA_LOSS, "the root cause");
                        })
                        .build())
                .build());
    }

    /** Writes 7 once the first fence is reached. */
    private void later(VmCall call) {
        BufferView x = call.required(BufferView.class);
        Buffer buffer = x.buffer();
        runtime.device()
                .queue(0)
                .hostCall(
                        call.ref(Fence.class),
                        call.required(Fence.class),
                        () -> buffer.map(MemoryAccess.WRITE, 0, 4).set(ValueLayout.JAVA_INT, 0, 7),
                        0);
        x.retain();
        call.returnRef(x);
    }

    private void fail() {
        try {
            failing.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
        throw IreeException.of(StatusCode.DATA_LOSS, "the root cause");
    }

    /** Stays in a continuation of a future until {@link #go}. */
    private void stay(IreeFuture<?> call) {
        call.whenComplete((_, _) -> {
            entered.countDown();
            await(go);
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Tensor zero() {
        try (Tensor tensor = Tensor.of(new int[] {0}, 1)) {
            return runtime.upload(tensor);
        }
    }

    /** Code of the caller runs between the completion of the future and the signal. */
    @Test
    void aProgramClosedDuringTheCallersCodeHasSignalledTheFence() {
        Program program = program();
        Submission<Results> call = program.function("two").submit(CallOptions.DEFAULTS.after(inputs), 21);
        stay(call.results());
        inputs.signal();
        await(entered);
        program.close();
        assertThat(call.fence().query()).isEqualTo(StatusCode.OK);
        assertThat(runtime.programs()).isEmpty();
        go.countDown();
        call.await().close();
    }

    @Test
    void aProgramClosedDuringTheCallersCodeHasFailedTheFence() throws Exception {
        Program program = program();
        Submission<Results> call = program.function("fail").submit(CallOptions.DEFAULTS.after(inputs));
        stay(call.results());
        inputs.signal();
        failing.await();
        await(entered);
        program.close();
        assertThat(call.fence().query()).isEqualTo(StatusCode.DATA_LOSS);
        go.countDown();
    }

    /** The call comes after a call in its turn, so the continuation is there before the results. */
    @Test
    void aContinuationClosingTheProgramDoesNotWaitForItsOwnCall() throws Exception {
        Program program = program();
        try (Tensor x = zero()) {
            program.function("fail").submit(CallOptions.DEFAULTS);
            Submission<Results> call = program.function("later").submit(CallOptions.DEFAULTS.after(inputs), x);
            CompletableFuture<Boolean> isFreed = closing(program, call.results());
            assertThat(isFreed).isNotDone();
            failing.await();
            assertThat(isFreed.get()).isTrue();
            assertThat(call.fence().failure().orElseThrow()).hasMessageContaining("closed");
            call.results().join().close();
        }
    }

    /** END-5: the outcome is delivered on another thread. */
    @Test
    void aClosedProgramHasDeliveredTheOutcomesOfItsCalls() {
        for (int i = 0; i < Effort.rounds(400); i++) {
            Program program = program();
            Submission<Results> call = program.function("two").submit(CallOptions.DEFAULTS.after(inputs), 21);
            program.close();
            assertThat(call.results()).isCompletedExceptionally();
        }
    }

    /** Completes with whether the program is freed once a continuation of the call has closed the program. */
    private CompletableFuture<Boolean> closing(Program program, IreeFuture<?> call) {
        CompletableFuture<Boolean> isFreed = new CompletableFuture<>();
        call.whenComplete((_, _) -> {
            program.close();
            isFreed.complete(runtime.programs().isEmpty());
        });
        return isFreed;
    }

    /** A way of ending a call before the inputs are there. */
    enum Abandoning {
        BY_CANCEL,
        BY_FAILURE,
        BY_NUMBER,
        BY_DEADLINE
    }

    @ParameterizedTest
    @EnumSource
    void aContinuationClosingTheProgramDoesNotWaitForItsAbandonedCall(Abandoning way) throws Exception {
        Program program = program();
        CallOptions options = CallOptions.DEFAULTS.after(inputs);
        if (way == Abandoning.BY_DEADLINE) {
            options = options.timeout(Duration.ofMillis(1));
        }
        Submission<Results> call = program.function("two").submit(options, 21);
        CompletableFuture<Boolean> isFreed = closing(program, call.results());
        switch (way) {
            case BY_CANCEL -> call.results().cancel(true);
            case BY_FAILURE -> call.results().completeExceptionally(new IllegalStateException("enough"));
            case BY_NUMBER ->
                program.monitor()
                        .cancelCall(program.monitor().pendingCalls(1).getFirst().id());
            case BY_DEADLINE -> {}
        }
        assertThat(isFreed.get()).isTrue();
        assertThat(call.fence().failure()).isPresent();
    }

    @Test
    void aNullFailureIsRefusedAndEndsNothing() {
        try (Program program = program()) {
            Submission<Results> call = program.function("two").submit(CallOptions.DEFAULTS.after(inputs), 21);
            assertThatNullPointerException().isThrownBy(() -> call.results().completeExceptionally(null));
            inputs.signal();
            call.await().close();
        }
    }

    @Test
    void aCallWithResultsAndAnUnsignalledFenceIsNotCancelled() {
        try (Program program = program()) {
            Submission<Results> call = program.function("two").submit(CallOptions.DEFAULTS.after(inputs), 21);
            stay(call.results());
            inputs.signal();
            await(entered);
            PendingCall ended = program.monitor().pendingCalls(2).getFirst();
            assertThat(ended.state()).isEqualTo(PendingCall.State.BEFORE_RESULTS);
            assertThat(program.monitor().cancelCall(ended.id())).isFalse();
            assertThat(call.fence().query()).isEqualTo(StatusCode.DEFERRED);
            go.countDown();
            call.await().close();
        }
    }

    @Test
    void aCallIsCancelledUntilItsWorkHasBegun() {
        try (Program program = program();
                Tensor x = zero()) {
            Submission<Results> call = program.function("later").submit(CallOptions.DEFAULTS.after(inputs), x);
            call.results().join().close();
            long number = program.monitor().pendingCalls(2).getFirst().id();
            assertThat(program.monitor().cancelCall(number, "no longer needed")).isTrue();
            assertThat(call.fence().failure().orElseThrow()).hasMessageContaining("no longer needed");
        }
    }

    @Test
    void aCallCancelledBeforeItsFailureHasASingleFailure() {
        try (Program program = program()) {
            Submission<Results> call = program.function("refuse").submit(CallOptions.DEFAULTS.after(inputs));
            long number = program.monitor().pendingCalls(1).getFirst().id();
            beforeRefusal = () -> program.monitor().cancelCall(number, "no longer needed");
            inputs.signal();
            String failure = messageOf(call.results());
            assertThat(failure).contains("no longer needed");
            assertThat(messageOf(call.fence())).isEqualTo(failure);
        }
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aCallFailingDuringItsEndHasASingleFailure(boolean closes) throws Exception {
        List<String> differing = new ArrayList<>();
        Program program = program();
        for (int i = 0; i < Effort.rounds(500); i++) {
            Submission<Results> call = program.function("fail").submit(CallOptions.DEFAULTS);
            long number = program.monitor().pendingCalls(1).getFirst().id();
            failing.await();
            if (closes) {
                program.close();
                program = program();
            } else {
                program.monitor().cancelCall(number);
            }
            String failure = messageOf(call.results());
            String ofFence = messageOf(call.fence());
            if (!failure.equals(ofFence)) {
                differing.add(failure + " | " + ofFence);
            }
        }
        program.close();
        assertThat(differing).isEmpty();
    }

    private static String messageOf(IreeFuture<?> failed) {
        try {
            failed.await();
            return "none";
        } catch (IreeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static String messageOf(Fence failed) {
        try {
            failed.await();
            return "none";
        } catch (IreeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void aRefusedSubmissionHasFailedItsFence() {
        AtomicReference<Fence> made = new AtomicReference<>();
        assertThatIllegalStateException()
                .isThrownBy(() -> Submission.of("p.two", CallOptions.DEFAULTS, options -> {
                    made.set(options.signal().orElseThrow());
                    throw new IllegalStateException("refused");
                }));
        assertThat(made.get().failure().orElseThrow()).hasMessageContaining("refused");
    }

    /** A single result for two components. */
    record Two(Tensor first, Tensor second) {}

    @Test
    void unsuitableResultsLeaveTheFenceToTheWork() {
        try (Program program = program();
                Tensor x = zero()) {
            Submission<Two> call = ResultType.of(Two.class)
                    .read(program.function("later").submit(CallOptions.DEFAULTS.after(inputs), x));
            assertThat(messageOf(call.results())).contains("'p.later' has 1 result, and 'Two' takes 2");
            assertThat(call.fence().query()).isEqualTo(StatusCode.DEFERRED);
            inputs.signal();
            call.fence().await();
        }
    }

    @Test
    void elementsAreCopiedOnceTheFenceIsReached() {
        try (Program program = program();
                Tensor x = zero()) {
            IreeFuture<int[]> copied = ResultType.of(int[].class)
                    .read(
                            program.function("later")
                                    .call(CallOptions.DEFAULTS.after(inputs).signal(done), x),
                            done);
            assertThat(copied).isNotDone();
            inputs.signal();
            assertThat(copied.await()).containsExactly(7);
        }
    }

    @Test
    void resultsWithoutAReceiverAreClosedAheadOfTheFence() {
        try (Program program = program();
                Tensor x = zero()) {
            IreeFuture<Results> call = program.function("later")
                    .call(CallOptions.DEFAULTS.after(inputs).signal(done), x);
            Results results = call.join();
            ResultType.of(int[].class).read(call, done).cancel(true);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> results.get(0))
                    .withMessageContaining("closed");
        }
    }
}
