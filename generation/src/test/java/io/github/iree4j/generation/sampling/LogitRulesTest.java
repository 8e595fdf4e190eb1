package io.github.iree4j.generation.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.iree4j.Effort;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class LogitRulesTest {
    private static final int ROUNDS = Effort.rounds(800, 20_000);
    private static final long SEED = Effort.seed(LogitRulesTest.class, ROUNDS + " rounds", 7);

    private static Sampler sampler(SamplingOptions.Builder options, int... prompt) {
        return Samplers.of(GenerationRequest.of(1, prompt).sampling(options.build()));
    }

    @Test
    void frequencyAndPresenceCountGeneratedTokensOnly() {
        Sampler frequency = sampler(SamplingOptions.builder().frequencyPenalty(1), 1, 1, 1);
        float[] logits = {0, 2.5f, 0.25f};
        assertThat(chosen(frequency, logits, 5)).containsExactly(1, 1, 1, 2, 0); // 2.5, 1.5, 0.5, -0.5
        Sampler presence = sampler(SamplingOptions.builder().presencePenalty(2), 1, 1, 1);
        assertThat(chosen(presence, logits, 4)).containsExactly(1, 1, 1, 1); // 0.5 ever after, more than 0.25
    }

    @Test
    void repetitionCountsThePromptAndMovesEachLogitDown() {
        SamplingOptions.Builder options = SamplingOptions.builder().repetitionPenalty(2);
        assertThat(chosen(sampler(options, 1), new float[] {1.5f, 2, 0}, 3)).containsExactly(0, 1, 1); // 1, then 0.75
        assertThat(chosen(sampler(options, 1), new float[] {-1.5f, -1}, 2)).containsExactly(0, 1); // -2, then -3
        assertThat(chosen(sampler(options, 5), new float[] {1.5f, 2}, 1)).containsExactly(1); // no logit of token 5
    }

    @Test
    void aTokenOfThePromptIsRepeatedButNotGenerated() {
        SamplingOptions.Builder options = SamplingOptions.builder()
                .repetitionPenalty(2)
                .presencePenalty(2)
                .frequencyPenalty(2);
        assertThat(chosen(sampler(options, 1), new float[] {1.5f, 4}, 2)).containsExactly(1, 0); // 4 / 2, then less 4
    }

    @Test
    void biasComesBeforePenalties() {
        SamplingOptions.Builder options =
                SamplingOptions.builder().repetitionPenalty(2).logitBias(Map.of(0, 3f));
        assertThat(chosen(sampler(options, 0), new float[] {1, 3}, 1)).containsExactly(1); // (1 + 3) / 2
        assertThat(chosen(sampler(options, 0), new float[] {1, 1.5f}, 1)).containsExactly(0);
    }

    @Test
    void aBiasAboutAllExcludesOrForcesAToken() {
        float[] logits = {10, 20, -5};
        assertThat(chosen(sampler(SamplingOptions.builder().logitBias(Map.of(1, -100f)), 0), logits, 1))
                .containsExactly(0);
        assertThat(chosen(sampler(SamplingOptions.builder().logitBias(Map.of(2, 100f)), 0), logits, 1))
                .containsExactly(2);
        assertThat(logits).containsExactly(10, 20, -5);
    }

    @Test
    void rulesAreOfTokensNotOfCandidates() {
        Sampler sampler = sampler(
                SamplingOptions.builder().logitBias(Map.of(900, 2f, 1, 50f)).presencePenalty(2), 0);
        float[] logits = {3, 2, 1};
        int[] tokens = {7, 900, 901};
        assertThat(sampler.choose(logits, tokens, 3)).isEqualTo(900);
        assertThat(sampler.choose(logits, tokens, 3)).isEqualTo(7);
    }

    @Test
    void aBiasOfATokenMissingInTheModelIsRejected() {
        Sampler sampler = sampler(SamplingOptions.builder().logitBias(Map.of(3, 1f)), 0);
        assertThatThrownBy(() -> sampler.choose(new float[3], 3))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("token 3 has a bias; tokens of the model are from 0 to 2");
    }

    @Test
    void aWaitingRequestKeepsNoTokens() {
        GenerationRequest request = GenerationRequest.of(
                        1, IntStream.range(0, 9_000).map(i -> i / 3).toArray())
                .sampling(SamplingOptions.builder().repetitionPenalty(2).build());
        LogitRules rules = LogitRules.of(request.sampling(), request.prompt());
        assertThat(rules).isNotNull();
        assertThat(rules.bytesKept()).isZero();
        rules.apply(new float[4], null, 4);
        assertThat(rules.bytesKept()).as("3000 tokens and counts").isEqualTo(24_000);
    }

    @Test
    void penaltiesAreOfCountsInAnyOrder() {
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            int tokens = random.nextInt(1, 60);
            int[] prompt = random.ints(random.nextInt(1, 40), 0, 70).toArray();
            SamplingOptions options = SamplingOptions.builder()
                    .repetitionPenalty(random.nextInt(1, 3))
                    .frequencyPenalty(random.nextInt(-2, 3))
                    .presencePenalty(1)
                    .build();
            LogitRules rules = LogitRules.of(options, prompt);
            assertThat(rules).isNotNull();
            Map<Integer, Integer> counts = new HashMap<>();
            if (options.repetitionPenalty() != 1) {
                Arrays.stream(prompt).forEach(each -> counts.put(each, 0));
            }
            for (int step = 0; step < 30; step++) {
                float[] logits = new float[tokens];
                float[] expected = new float[tokens];
                for (int i = 0; i < tokens; i++) {
                    logits[i] = random.nextInt(-9, 10);
                    Integer generated = counts.get(i);
                    float repetition = generated == null ? 1 : options.repetitionPenalty();
                    expected[i] = logits[i] > 0 ? logits[i] / repetition : logits[i] * repetition;
                    if (generated != null && generated > 0) {
                        expected[i] -= options.frequencyPenalty() * generated + options.presencePenalty();
                    }
                }
                assertThat(Arrays.copyOf(rules.apply(logits, null, tokens), tokens))
                        .as("step %d, round %d, seed %d", step, round, SEED)
                        .isEqualTo(expected);
                int token = random.nextInt(tokens);
                rules.accept(token);
                counts.merge(token, 1, Integer::sum);
            }
        }
    }

    @Test
    void logProbabilitiesAreTheLogSoftmaxOfTheModelsLogits() {
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            int count = random.nextInt(1, 40);
            float[] logits = new float[count];
            for (int i = 0; i < count; i++) {
                logits[i] = random.nextInt(12) == 0 ? Float.NEGATIVE_INFINITY : random.nextInt(-40, 40) / 4f;
            }
            logits[random.nextInt(count)] = 1;
            int most = random.nextInt(21);
            Sampler sampler = sampler(
                    SamplingOptions.builder()
                            .temperature(random.nextInt(3))
                            .topK(random.nextInt(4))
                            .frequencyPenalty(1)
                            .logitBias(Map.of(0, 20f))
                            .logProbabilities(most),
                    0);
            int token = sampler.choose(logits, count);
            LogProbabilities found = sampler.logProbabilities();
            double sum = IntStream.range(0, count)
                    .mapToDouble(i -> Math.exp(logits[i]))
                    .sum();
            assertThat(found).as("round %d, seed %d", round, SEED).isNotNull();
            assertThat((double) found.chosen()).isCloseTo(logits[token] - Math.log(sum), within(1e-5));
            int[] expected = IntStream.range(0, count)
                    .boxed()
                    .sorted(Comparator.comparing((Integer i) -> -logits[i]).thenComparing(i -> i))
                    .mapToInt(i -> i)
                    .limit(most)
                    .toArray();
            int[] order = IntStream.range(0, found.size()).map(found::token).toArray();
            assertThat(order).as("round %d, seed %d", round, SEED).containsExactly(expected);
            for (int i = 0; i < order.length; i++) {
                assertThat((double) found.value(i)).isCloseTo(logits[order[i]] - Math.log(sum), within(1e-5));
            }
        }
    }

    @Test
    void withoutARequestThereAreNoLogProbabilities() {
        Sampler sampler = Samplers.of(GenerationRequest.of(1, 0).sampling(SamplingOptions.GREEDY));
        sampler.choose(new float[2], 2);
        assertThat(sampler.logProbabilities()).isNull();
        assertThat(SamplingOptions.GREEDY.logProbabilities()).isEmpty();
        Sampler chosenOnly = Samplers.of(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().logProbabilities(0).build()));
        chosenOnly.choose(new float[2], 2);
        assertThat(chosenOnly.logProbabilities()).hasToString(Float.toString((float) -Math.log(2)));
    }

    @Test
    void excludedTokensHaveMinusInfinity() {
        float[] logits = new float[3];
        Arrays.fill(logits, Float.NEGATIVE_INFINITY);
        for (int temperature = 0; temperature < 2; temperature++) {
            Sampler sampler = Samplers.of(GenerationRequest.of(1, 0)
                    .sampling(SamplingOptions.builder()
                            .temperature(temperature)
                            .logProbabilities(1)
                            .build()));
            assertThat(sampler.choose(logits, 3)).isZero();
            assertThat(sampler.logProbabilities()).hasToString("-Infinity 0=-Infinity");
        }
    }

    @Test
    void valuesOutOfRangeAreRejectedByName() {
        rejected(SamplingOptions.builder().frequencyPenalty(2.5f), "frequency penalty is 2.5, not from -2 to 2");
        rejected(SamplingOptions.builder().presencePenalty(Float.NaN), "presence penalty is NaN, not from -2 to 2");
        rejected(SamplingOptions.builder().repetitionPenalty(0), "repetition penalty is 0.0, not greater than 0");
        rejected(SamplingOptions.builder().logitBias(Map.of(-1, 0f)), "a biased token is -1, not 0 or more");
        rejected(
                SamplingOptions.builder().logitBias(Map.of(4, 101f)), "bias of token 4 is 101.0, not from -100 to 100");
        rejected(SamplingOptions.builder().logProbabilities(21), "number of log probabilities is 21, not from 0 to 20");
        rejected(SamplingOptions.builder().logProbabilities(-1), "number of log probabilities is -1, not from 0 to 20");
        Map<Integer, Float> many = new HashMap<>();
        IntStream.range(0, 1025).forEach(i -> many.put(i, 1f));
        rejected(SamplingOptions.builder().logitBias(many), "number of biased tokens is 1025, not at most 1024");
    }

    @Test
    void aBuilderOfOptionsHasTheirValues() {
        SamplingOptions options = SamplingOptions.builder()
                .temperature(0.5f)
                .topK(2)
                .topP(0.75f)
                .minP(0.25f)
                .seed(3)
                .frequencyPenalty(1)
                .presencePenalty(-1)
                .repetitionPenalty(1.5f)
                .logitBias(Map.of(1, 2f))
                .logProbabilities(4)
                .build();
        assertThat(options.toBuilder().build()).usingRecursiveComparison().isEqualTo(options);
        assertThat(SamplingOptions.GREEDY.toBuilder().build())
                .usingRecursiveComparison()
                .isEqualTo(SamplingOptions.GREEDY);
    }

    private static void rejected(SamplingOptions.Builder options, String message) {
        assertThatThrownBy(options::build).isInstanceOf(IreeException.class).hasMessageContaining(message);
    }

    private static int[] chosen(Sampler sampler, float[] logits, int times) {
        return IntStream.range(0, times)
                .map(_ -> sampler.choose(logits, logits.length))
                .toArray();
    }
}
