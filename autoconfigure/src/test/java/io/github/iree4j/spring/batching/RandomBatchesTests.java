package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.ShapeRules;
import io.github.iree4j.Tensor;
import io.github.iree4j.VariantOptions;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random calls of a function with variants: each gets the results, or the status, that it gets without batching,
 * whatever the rules, the batches, and the fate of the other calls.
 */
@Timeout(600)
class RandomBatchesTests {
    private static final long SEED = 20261201;
    private static final int ROUNDS = 150;
    private static final int CALLS = 12;

    private static final List<String> RULES = List.of(
            "[batch length], [batch length] mask -> [batch length], [batch 4]",
            "[batch length!], [batch length] mask -> [batch length], [batch 4]",
            "[batch! length], [batch length] mask -> [batch length], [batch 4]",
            "[batch! length!], [batch length] mask -> [batch length], [batch 4]",
            "[batch length] fill=3, [batch length] mask -> [batch length], [batch 4]");

    private static final List<String> FUNCTIONS = List.of("encode_*", "module.encode*", "encode_4x*", "encode");

    /** A call, and what became of it. */
    private record Made(String text, CompletableFuture<Results> call, String expected, boolean isAbandoned) {}

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final IreeRuntime runtime = IreeRuntime.create();
    private int answered;
    private int refused;
    private int batches;

    @Test
    void eachCallIsAnsweredAsWithoutBatching() {
        System.out.printf("seed %d%n", SEED);
        for (int round = 0; round < ROUNDS; round++) {
            String rules = RULES.get(random.nextInt(RULES.size()));
            String functions = FUNCTIONS.get(random.nextInt(FUNCTIONS.size()));
            try (Program program = runtime.load(ProgramOptions.builder()
                    .module(TestModules.fixture("3.13.0/cpu/variants.vmfb"))
                    .parameters("model", TestModules.fixture("scale_weights.irpa"))
                    .variants(VariantOptions.of("sentences", ShapeRules.parse(rules))
                            .functions(functions))
                    .build())) {
                round("seed %d, round %d, %s by %s".formatted(SEED, round, rules, functions), program);
            }
            assertThat(runtime.monitor().leaks().openTensors())
                    .as("open tensors")
                    .isZero();
        }
        runtime.close();
        System.out.printf("%d calls answered, %d refused, %d batches%n", answered, refused, batches);
        assertThat(answered).isGreaterThan(ROUNDS);
        assertThat(refused).isGreaterThan(ROUNDS);
        assertThat(batches).isGreaterThan(ROUNDS);
    }

    private void round(String where, Program program) {
        ProgramFunction function = program.function("sentences");
        LoadedProgram loaded = new LoadedProgram(ProgramSource.of("rows", "rows.vmfb"), List.of(program));
        ManualTimer timer = new ManualTimer();
        int most = 3 + random.nextInt(7);
        BatchingOptions options = BatchingOptions.DEFAULTS
                .maxSize(most)
                .buckets(random.nextBoolean() ? List.of() : List.of(1 + random.nextInt(most), most))
                .maxDelay(Duration.ofMillis(1 + random.nextInt(3)))
                .maxInFlight(1 + random.nextInt(3));
        DynamicBatching batching = new DynamicBatching(
                Map.of("rows", options), timer, (_, _, count, _, _, _) -> batches += count > 1 ? 1 : 0);
        List<Made> all = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            @Nullable Object[] inputs = inputs();
            String text = "%s, max %d, buckets %s, call %d of %s"
                    .formatted(where, most, options.buckets(), i, Arrays.deepToString(inputs));
            String expected = outcome(RowsProgram.callHere(request(loaded, function, inputs)));
            CompletableFuture<Results> call =
                    batching.intercept(request(loaded, function, inputs), RowsProgram::callHere);
            boolean isAbandoned = random.nextInt(8) == 0 && call.cancel(true);
            all.add(new Made(text, call, expected, isAbandoned));
            if (random.nextInt(8) == 0) {
                timer.advance(Duration.ofMillis(random.nextInt(2)).toNanos());
            }
        }
        timer.advance(Duration.ofMillis(4).toNanos());
        for (Made each : all) {
            assertThat(each.call).as(each.text).isDone();
            if (!each.isAbandoned) {
                assertThat(outcome(each.call)).as(each.text).isEqualTo(each.expected);
            }
        }
        batching.close();
        assertThat(batching.queueCount()).as(where).isZero();
        assertThat(timer.planned()).as(where).isZero();
    }

    private InvocationRequest request(LoadedProgram loaded, ProgramFunction function, @Nullable Object[] inputs) {
        return new InvocationRequest(
                loaded, function, Arrays.asList(inputs), CallOptions.DEFAULTS.priority(random.nextInt(2)), false);
    }

    private @Nullable Object[] inputs() {
        int rows = random.nextInt(8) == 0 ? random.nextInt(6) : 1 + random.nextInt(2);
        int length = random.nextInt(6) == 0 ? random.nextInt(10) : 4 + 4 * random.nextInt(2) - random.nextInt(2);
        float[] words = new float[rows * length];
        int[] mask = new int[rows * length];
        for (int i = 0; i < words.length; i++) {
            words[i] = random.nextInt(16) / 4f;
            mask[i] = random.nextInt(4) == 0 ? 0 : 1;
        }
        Tensor x = Tensor.of(words, rows, length);
        return switch (random.nextInt(6)) {
            case 0 -> new @Nullable Object[] {x};
            case 1 -> new @Nullable Object[] {x, null};
            case 2 -> new @Nullable Object[] {x, Tensor.of(new int[rows * (length + 1)], rows, length + 1)};
            case 3 -> new @Nullable Object[] {rows * length == 0 ? x : nested(words, rows, length)};
            default -> new @Nullable Object[] {x, Tensor.of(mask, rows, length)};
        };
    }

    private static float[][] nested(float[] words, int rows, int length) {
        float[][] nested = new float[rows][];
        for (int i = 0; i < rows; i++) {
            nested[i] = Arrays.copyOfRange(words, i * length, (i + 1) * length);
        }
        return nested;
    }

    /** Closes the results. */
    private String outcome(CompletableFuture<Results> call) {
        try (Results results = call.join()) {
            answered++;
            return results.tensor(0).shape()
                    + Arrays.toString(results.tensor(0).toFloatArray())
                    + results.tensor(1).shape()
                    + Arrays.toString(results.tensor(1).toFloatArray());
        } catch (RuntimeException e) {
            refused++;
            return ((IreeException) call.exceptionNow()).code().toString();
        }
    }
}
