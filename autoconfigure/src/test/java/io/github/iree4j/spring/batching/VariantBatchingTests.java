package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.ShapeRules;
import io.github.iree4j.VariantOptions;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Batches of a function for 1 and 4 rows of 4 and of 8 words, with a manual clock. */
@Timeout(900)
class VariantBatchingTests {

    private static final Duration DELAY = Duration.ofMillis(10);

    private final IreeRuntime runtime = IreeRuntime.create();
    private final AtomicBoolean listenerFails = new AtomicBoolean(); // once
    private final Program program = runtime.load(ProgramOptions.builder()
            .module(TestModules.fixture("3.13.0/cpu/variants.vmfb"))
            .parameters("model", TestModules.fixture("scale_weights.irpa"))
            .variants(VariantOptions.of(
                            "sentences",
                            ShapeRules.parse("[batch length], [batch length] mask -> [batch length], [batch 4]"))
                    .functions("encode_*"))
            .variantListener(new VariantListener() {
                @Override
                public void called(String consumer, String function, String variant, long elements, long padding) {}

                @Override
                public void aligned(String consumer, String function, long padding) {
                    if (listenerFails.getAndSet(false)) {
                        throw new IllegalStateException("no meter");
                    }
                }
            })
            .build());
    private final LoadedProgram loaded = new LoadedProgram(ProgramSource.of("rows", "rows.vmfb"), List.of(program));
    private final ManualTimer timer = new ManualTimer();
    private final List<String> batches = new ArrayList<>();
    private final DynamicBatching batching = new DynamicBatching(
            Map.of(
                    "rows",
                    BatchingOptions.DEFAULTS
                            .maxSize(32)
                            .maxDelay(DELAY)
                            .maxWaiting(64)
                            .maxInFlight(64)),
            timer,
            (model, function, count, rows, padded, nanos) -> batches.add(count + " calls of " + rows + " rows"));

    @AfterEach
    void nothingIsLeft() {
        batching.close();
        assertThat(runtime.monitor().leaks().openTensors()).as("open tensors").isZero();
        assertThat(batching.queueCount()).as("queues").isZero();
        assertThat(timer.planned()).as("timers").isZero();
        program.close();
        runtime.close();
    }

    private CompletableFuture<Results> call(float[][] words) {
        return batching.intercept(
                new InvocationRequest(
                        loaded,
                        program.function("sentences"),
                        Arrays.asList((Object) words),
                        CallOptions.DEFAULTS,
                        false),
                request -> {
                    try {
                        return CompletableFuture.completedFuture(
                                request.function().invoke(request.inputs().toArray()));
                    } catch (IreeException e) {
                        return CompletableFuture.failedFuture(e);
                    }
                });
    }

    private static float[][] words(int rows, int length, float word) {
        float[][] words = new float[rows][length];
        for (float[] row : words) {
            Arrays.fill(row, word);
        }
        return words;
    }

    private static void check(CompletableFuture<Results> call, int rows, int length, float word) {
        assertThat(call).isCompleted();
        try (Results results = call.join()) {
            assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(rows, length));
            assertThat(results.tensor(0).toFloatArray()).containsOnly(word + length * word);
            assertThat(results.tensor(1).toFloatArray()).hasSize(4 * rows).containsOnly(2 * length * word);
        }
    }

    @Test
    void batchIsFullAtTheLargestVariantOfItsLength() {
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(call(words(1, 1 + i, i)));
        }
        for (int i = 0; i < 4; i++) {
            check(calls.get(i), 1, 1 + i, i);
        }
        assertThat(batches).containsExactly("4 calls of 4 rows");
    }

    @Test
    void dueBatchIsSplitIfASplitAvoidsPadding() {
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            calls.add(call(words(1, 3, 1 + i)));
        }
        CompletableFuture<Results> longer = call(words(3, 7, 9));
        timer.advance(DELAY.toNanos());
        check(calls.get(0), 1, 3, 1);
        check(calls.get(1), 1, 3, 2);
        check(longer, 3, 7, 9);
        assertThat(batches)
                .as("two rows by the function for one rather than for four; what comes in one call stays together")
                .containsExactlyInAnyOrder("1 calls of 1 rows", "1 calls of 1 rows", "1 calls of 3 rows");
    }

    @Test
    void callOfNoVariantFailsAlone() {
        CompletableFuture<Results> tooLong = call(words(1, 9, 1));
        assertThat(tooLong).isCompletedExceptionally();
        assertThat(((IreeException) tooLong.exceptionNow()).code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void exceptionsOfAListenerFailOneCallAndNoOtherOfItsBatch() {
        listenerFails.set(true);
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(call(words(1, 3, i)));
        }
        assertThat(calls.getFirst()).isCompletedExceptionally();
        assertThat(calls.getFirst().exceptionNow())
                .hasMessage("call failed: java.lang.IllegalStateException: no meter");
        for (int i = 1; i < 4; i++) {
            check(calls.get(i), 1, 3, i);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "2,1", "3,3", "4,4", "5,4", "7,4", "8,4", "9,4", "11,4", "12,12", "13,13", "15,15", "16,16"})
    void rowsAreSplitIfASplitSavesMoreThanAQuarter(int waiting, int taken) {
        assertThat(RowSizes.of(List.of(1L, 4L, 16L)).next(waiting)).isEqualTo(taken);
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3", "4,4", "5,5", "8,8", "11,11", "13,13", "16,16"})
    void rowsArePaddedWhereSplittingSavesLittle(int waiting, int taken) {
        assertThat(RowSizes.of(List.of(4L, 10L, 16L)).next(waiting)).isEqualTo(taken);
    }

    @Test
    void dynamicFunctionTakesAnyNumberOfRows() {
        assertThat(RowSizes.of(List.of(4L, Long.MAX_VALUE)).next(7)).isEqualTo(7);
        assertThat(RowSizes.ANY.next(7)).isEqualTo(7);
    }
}
