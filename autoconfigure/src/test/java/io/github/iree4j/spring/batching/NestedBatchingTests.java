package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.vm.NativeModule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of a batched program made by a function in Java, in the call of another program. */
@Timeout(300)
class NestedBatchingTests {
    private static final long LIMIT = 1 << 20;

    /** Long enough for a nested call in a wait for the outer call to be late. */
    private final IreeRuntime runtime = IreeRuntime.builder()
            .device(
                    "local",
                    "local://",
                    DeviceOptions.builder()
                            .memoryLimit(LIMIT)
                            .memoryWait(Duration.ofMinutes(4))
                            .memoryHostWait(Duration.ofMillis(100))
                            .build())
            .build();

    private final RowsProgram rows = new RowsProgram(runtime);
    private final ManualTimer timer = new ManualTimer();
    private final List<@Nullable MemoryHolder> holders = new ArrayList<>(); // the origins of calls
    private final InvocationChain chain = request -> {
        holders.add(MemoryHolder.current());
        return RowsProgram.call(request);
    };

    @AfterEach
    void nothingIsLeft() {
        rows.close();
        assertThat(runtime.monitor().leaks().openTensors()).as("open tensors").isZero();
        assertThat(timer.planned()).as("timers").isZero();
        runtime.close();
    }

    private static DynamicBatching batching(BatchTimer timer) {
        return new DynamicBatching(
                Map.of(
                        "rows",
                        BatchingOptions.DEFAULTS
                                .maxSize(4)
                                .maxDelay(Duration.ofMillis(10))
                                .maxWaiting(1 << 20)
                                .maxInFlight(4)),
                timer,
                BatchListener.NONE);
    }

    /** Calls a function in Java with a tensor. */
    private void within(Tensor input, Runnable function) {
        try (Program outer = runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("outer", 1, Object::new)
                        .function("main", "0r_v", (_, _) -> function.run())
                        .build())
                .build())) {
            outer.function("main").invoke(input).close();
        }
    }

    private static float[] result(CompletableFuture<Results> call) {
        assertThat(call).isCompleted();
        try (Results results = call.join()) {
            return results.tensor(0).toFloatArray();
        }
    }

    @Test
    void aNestedCallIsNotMergedWithCallsOfStrangers() {
        try (DynamicBatching batching = batching(timer)) {
            CompletableFuture<Results> stranger =
                    batching.intercept(rows.request("twice", false, 1, 2, 3, 4, 5, 6), chain);
            within(Tensor.of(new float[4]), () -> {
                MemoryHolder outer = MemoryHolder.current();
                CompletableFuture<Results> nested = batching.intercept(rows.request("twice", true, 7, 8), chain);
                assertThat(result(nested)).containsExactly(14, 16);
                assertThat(holders).containsExactly(outer);
            });
            assertThat(stranger)
                    .as("waits for others, and then for memory held by itself")
                    .isNotDone();
            timer.advance(TimeUnit.MILLISECONDS.toNanos(10));
            assertThat(result(join(stranger))).containsExactly(2, 4, 6, 8, 10, 12);
            assertThat(holders).hasSize(2).endsWith((MemoryHolder) null);
        }
    }

    private static CompletableFuture<Results> join(CompletableFuture<Results> call) {
        call.join();
        return call;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNestedCallKeepsTheRowsOfItsFunction(boolean blocking) {
        try (DynamicBatching batching = batching(timer)) {
            within(Tensor.of(new float[4]), () -> {
                CompletableFuture<Results> nested = batching.intercept(rows.request("four", blocking, 7, 8), chain);
                assertThat(nested).succeedsWithin(Duration.ofSeconds(20));
                assertThat(result(nested)).containsExactly(14, 16);
            });
            assertThat(batching.queueCount()).isZero();
        }
    }

    /** The need of a first call is a guess too large beside the memory of the outer call; the real need fits. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNestedCallDoesNotWaitForMemoryOfItsOuterCall(boolean blocking) {
        try (DynamicBatching batching = batching(BatchTimer.system())) {
            float[] row = new float[RowsProgram.WIDE];
            within(Tensor.of(new float[(int) LIMIT / 16]), () -> {
                CompletableFuture<Results> nested = batching.intercept(rows.request("wide", blocking, row), chain);
                assertThat(nested).succeedsWithin(Duration.ofSeconds(20));
                result(nested);
            });
        }
    }
}
