package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.ShapeRules;
import io.github.iree4j.VariantOptions;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Calls of a function whose rows are an exact axis, or that has no axis of rows, are made by themselves. The program has
 * functions for 1 and for 4 rows.
 */
class ExactRowsTests {
    private static final Duration DELAY = Duration.ofMillis(10);

    private final IreeRuntime runtime = IreeRuntime.create();
    private final ManualTimer timer = new ManualTimer();
    private final List<Integer> batches = new ArrayList<>();
    private final DynamicBatching batching = new DynamicBatching(
            Map.of("rows", BatchingOptions.DEFAULTS.maxSize(32).maxDelay(DELAY).buckets(List.of(4))),
            timer,
            (model, function, count, rows, padded, nanos) -> batches.add(rows));

    @AfterEach
    void close() {
        batching.close();
        assertThat(runtime.monitor().leaks().openTensors()).as("open tensors").isZero();
        runtime.close();
    }

    private CompletableFuture<Results> call(Program program, float word) {
        LoadedProgram loaded = new LoadedProgram(ProgramSource.of("rows", "rows.vmfb"), List.of(program));
        return batching.intercept(
                new InvocationRequest(
                        loaded,
                        program.function("sentences"),
                        Arrays.asList((Object) new float[][] {{word, word, word}}),
                        CallOptions.DEFAULTS,
                        false),
                RowsProgram::callHere);
    }

    @ParameterizedTest
    @CsvSource({
        "encode_*,'[batch! length], [batch length] mask -> [batch length], [batch 4]'",
        "encode_1x*,'[_ length], [_ length] mask -> [_ length], [_ 4]'"
    })
    void callsAreNotMergedAlongAnExactAxis(String functions, String rules) {
        Program program = runtime.load(ProgramOptions.builder()
                .module(TestModules.fixture("3.13.0/cpu/variants.vmfb"))
                .parameters("model", TestModules.fixture("scale_weights.irpa"))
                .variants(
                        VariantOptions.of("sentences", ShapeRules.parse(rules)).functions(functions))
                .build());
        List<CompletableFuture<Results>> calls = List.of(call(program, 1), call(program, 2), call(program, 3));
        timer.advance(DELAY.toNanos());
        for (int i = 0; i < 3; i++) {
            assertThat(calls.get(i)).isCompleted();
            try (Results results = calls.get(i).join()) {
                assertThat(results.tensor(0).toFloatArray()).containsOnly(4 * (i + 1));
            }
        }
        assertThat(batches).isEmpty();
    }
}
