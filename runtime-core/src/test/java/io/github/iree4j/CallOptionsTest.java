package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls with a priority and for a limited time, and declarations of arguments. */
@Timeout(300)
class CallOptionsTest {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Timeline timeline = runtime.createTimeline();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final List<Integer> order = new CopyOnWriteArrayList<>();
    private final Program program = runtime.load(ProgramOptions.builder()
            .module(NativeModule.builder("host", 1, Object::new)
                    .function("stay", "0v_v", (s, c) -> stay())
                    .function("note", "0i_v", (s, c) -> order.add(c.i32()))
                    .function("typed", "0rIr_rf", (s, c) -> {})
                    .attribute(
                            "iree.abi.declaration",
                            "sync func @typed(%x: tensor<?x4xf32>, %n: i64, %b: !hal.buffer) -> (%y: tensor<f16>, %z: f32)")
                    .function("bare", "0ir_v", (s, c) -> {})
                    .build())
            .build());

    @AfterEach
    void nothingIsLeft() {
        go.countDown();
        timeline.close();
        runtime.close();
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private void stay() {
        entered.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw IreeException.of(StatusCode.CANCELLED, "interrupted", e);
        }
    }

    private CompletableFuture<Results> call(CallOptions options, String function, Object... inputs) {
        return program.function(function).call(options, inputs);
    }

    @Test
    void callsOfHigherPriorityGetTheTurnFirst() throws Exception {
        CompletableFuture<Results> first = call(CallOptions.DEFAULTS, "stay");
        entered.await();
        List<CompletableFuture<Results>> all = List.of(
                call(CallOptions.DEFAULTS.priority(-1), "note", 1),
                call(CallOptions.DEFAULTS, "note", 2),
                call(CallOptions.DEFAULTS.priority(5), "note", 3),
                call(CallOptions.DEFAULTS, "note", 4),
                call(CallOptions.DEFAULTS.priority(5), "note", 5));
        go.countDown();
        first.get().close();
        for (CompletableFuture<Results> each : all) {
            each.get().close();
        }
        assertThat(order).containsExactly(3, 5, 2, 4, 1);
    }

    @Test
    void slowCallsFailWithTheirFence() throws Exception {
        CallOptions options = CallOptions.DEFAULTS.signal(timeline.at(1)).timeout(Duration.ofMillis(20));
        CompletableFuture<Results> late = call(options, "stay");
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(late::get)
                .havingCause()
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED))
                .withMessageContaining("'host.stay'")
                .withMessageContaining("20 ms");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> timeline.await(1))
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @Test
    void timeRunsWhileTheFenceIsWaitedFor() {
        try (Fence never = timeline.at(1);
                Timeline other = runtime.createTimeline()) {
            CallOptions options =
                    CallOptions.DEFAULTS.after(never).signal(other.at(1)).timeout(Duration.ofMillis(20));
            CompletableFuture<Results> late = call(options, "note", 1);
            assertThatExceptionOfType(ExecutionException.class).isThrownBy(late::get);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> other.await(1))
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            never.signal();
        }
        assertThat(order).as("calls that ran").isEmpty();
    }

    @Test
    void timelyCallsAreNotTouched() throws Exception {
        call(CallOptions.DEFAULTS.timeout(Duration.ofDays(400_000)), "note", 1)
                .get()
                .close();
        assertThat(order).containsExactly(1);
    }

    @Test
    void aNegativeTimeoutIsRefused() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> CallOptions.DEFAULTS.timeout(Duration.ofMillis(-1)))
                .withMessageContaining("-1 ms");
    }

    @Test
    void declaredTypesCanBeAskedFor() {
        ProgramFunction typed = program.function("typed");
        assertThat(typed.arguments())
                .containsExactly(
                        ValueDeclaration.known("x", "tensor<?x4xf32>", ElementType.F32, List.of(-1L, 4L)),
                        ValueDeclaration.known("n", "i64", ElementType.I64, List.of()),
                        new ValueDeclaration("b", "!hal.buffer", Optional.empty(), Optional.empty()));
        assertThat(typed.results())
                .containsExactly(
                        ValueDeclaration.known("y", "tensor<f16>", ElementType.F16, List.of()),
                        ValueDeclaration.known("z", "f32", ElementType.F32, List.of()));
        assertThat(typed.arguments().stream().map(ValueDeclaration::isTensor)).containsExactly(true, false, false);
    }

    @Test
    void withoutADeclarationKindsAreAsKnown() {
        assertThat(Objects.requireNonNull(program.function("bare").arguments()))
                .containsExactly(
                        ValueDeclaration.known("", "i32", ElementType.I32, List.of()),
                        new ValueDeclaration("", "!vm.ref<?>", Optional.empty(), Optional.empty()));
    }
}
