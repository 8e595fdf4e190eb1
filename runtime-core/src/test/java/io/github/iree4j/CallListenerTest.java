package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.monitor.PendingCall;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CallListenerTest {
    private record Begun(long call, long caller, Thread thread) {}

    private final List<Begun> begun = new CopyOnWriteArrayList<>();
    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
    private final Calling calling = new Calling();
    private final Program program = runtime.load(ProgramOptions.builder()
            .module(JavaModule.of(calling))
            .callListener((call, caller) -> begun.add(new Begun(call, caller, Thread.currentThread())))
            .build());

    /** A function with a call of another program of the same runtime. */
    @IreeModule("calling")
    static final class Calling {
        private @Nullable ProgramFunction other;
        private long number;

        @Export("outer")
        int outer(int value) {
            number = Objects.requireNonNull(MemoryHolder.current()).number();
            try (Results results = Objects.requireNonNull(other).invoke(value)) {
                return results.intValue(0);
            }
        }

        @Export("twice")
        int twice(int value) {
            return 2 * value;
        }
    }

    @AfterEach
    void close() {
        program.close();
        runtime.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallAndItsNestedCallAreReportedWithTheirNumbers(boolean asynchronous) {
        try (Program second = runtime.load(ProgramOptions.builder()
                .module(JavaModule.of(new Calling()))
                .callListener((call, caller) -> begun.add(new Begun(call, caller, Thread.currentThread())))
                .build())) {
            calling.other = second.function("twice");
            ProgramFunction outer = program.function("outer");
            (asynchronous ? outer.invokeAsync(4).join() : outer.invoke(4)).close();
            assertThat(begun).hasSize(2);
            assertThat(begun.getFirst()).isEqualTo(new Begun(calling.number, 0, Thread.currentThread()));
            assertThat(begun.getLast().caller()).isEqualTo(calling.number);
            assertThat(begun.getLast().call()).isGreaterThan(calling.number);
        }
    }

    @Test
    void theNumberOfAWaitingCallIsItsIdForCancellation() {
        try (Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(1)) {
            CompletableFuture<Results> call = program.function("twice").call(CallOptions.DEFAULTS.after(never), 4);
            long number = begun.getFirst().call();
            assertThat(program.monitor().pendingCalls(2))
                    .extracting(PendingCall::id)
                    .containsExactly(number);
            assertThat(program.monitor().cancelCall(number)).isTrue();
            assertThatExceptionOfType(CompletionException.class).isThrownBy(call::join);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aThrowingListenerFailsTheCallAndKeepsNothing(boolean asynchronous) {
        try (Program hostile = runtime.load(ProgramOptions.builder()
                .module(JavaModule.of(new Calling()))
                .callListener((call, caller) -> {
                    throw new IllegalStateException("on purpose");
                })
                .build())) {
            ProgramFunction twice = hostile.function("twice");
            assertThatExceptionOfType(Exception.class)
                    .isThrownBy(() -> (asynchronous ? twice.invokeAsync(4).join() : twice.invoke(4)).close())
                    .withStackTraceContaining("on purpose");
            assertThat(hostile.monitor().pendingCalls(2)).isEmpty();
        }
        assertThat(runtime.programs()).containsExactly(program);
    }
}
