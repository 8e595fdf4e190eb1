package io.github.iree4j.generation.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.generation.GenerationRequest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class SamplerTest {
    private static final int ROUNDS = Effort.rounds(800, 10_000);
    private static final long SEED = Effort.seed(SamplerTest.class, ROUNDS + " options", 17);
    private static final int DRAWS = 5_000;

    @Test
    void greedyTakesTheLowestTokenOfEqualLogits() {
        Sampler sampler = Samplers.of(GenerationRequest.of(1, 0).sampling(SamplingOptions.GREEDY));
        assertThat(sampler.choose(new float[] {-1, 3, 2, 3}, 4)).isEqualTo(1);
        assertThat(sampler.choose(new float[] {-0f, 0f}, 2)).isZero();
        assertThat(Samplers.of(GenerationRequest.of(1, 0)
                                .sampling(SamplingOptions.builder()
                                        .temperature(1)
                                        .topK(1)
                                        .build()))
                        .choose(new float[] {-0f, 0f}, 2))
                .isZero();
        assertThat(sampler.choose(new float[] {Float.NEGATIVE_INFINITY, -5}, 2)).isEqualTo(1);
    }

    @Test
    void theSameSeedGivesTheSameTokens() {
        float[] logits = {0.5f, 1, -2, 0.25f, 3};
        Sampler first = Samplers.of(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().temperature(1.3f).seed(42).build()));
        Sampler second = Samplers.of(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().temperature(1.3f).seed(42).build()));
        for (int i = 0; i < 1000; i++) {
            assertThat(first.choose(logits, 5)).isEqualTo(second.choose(logits, 5));
        }
    }

    @Test
    void tokensAreDrawnByTheProbabilitiesOfTheirLogits() {
        float[] logits = {0, (float) Math.log(2), (float) Math.log(5), Float.NEGATIVE_INFINITY};
        Sampler sampler = Samplers.of(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().temperature(1).seed(7).build()));
        int[] counts = new int[4];
        for (int i = 0; i < 80_000; i++) {
            counts[sampler.choose(logits, 4)]++;
        }
        assertThat(counts[0]).isBetween(9_500, 10_500);
        assertThat(counts[1]).isBetween(19_300, 20_700);
        assertThat(counts[2]).isBetween(49_000, 51_000);
        assertThat(counts[3]).isZero();
    }

    /** The probabilities of tokens by the definitions of the options, one after the other, in doubles. */
    private static double[] reference(float[] logits, SamplingOptions options) {
        double[] kept = new double[logits.length];
        List<Integer> order = IntStream.range(0, logits.length)
                .boxed()
                .sorted(Comparator.comparing((Integer token) -> -logits[token]))
                .toList();
        int most = options.topK() == 0 ? logits.length : Math.min(options.topK(), logits.length);
        for (int token : order.subList(0, most)) {
            kept[token] = Math.exp((double) logits[token] / options.temperature());
        }
        normalize(kept);
        double before = 0;
        for (int token : order) {
            double own = kept[token];
            if (before >= options.topP()) { // the tokens before have the share
                kept[token] = 0;
            }
            before += own;
        }
        double highest = kept[order.getFirst()];
        for (int token : order) {
            if (kept[token] < options.minP() * highest) {
                kept[token] = 0;
            }
        }
        normalize(kept);
        return kept;
    }

    private static void normalize(double[] numbers) {
        double sum = Arrays.stream(numbers).sum();
        Arrays.setAll(numbers, i -> numbers[i] / sum);
    }

    /**
     * Draws tokens, and compares their frequencies with the reference: no token without a probability is drawn, each token
     * expected 40 times or more is drawn, and the chi-square statistic is below a bound that chance exceeds once in 10^10
     * cases.
     */
    @Test
    void tokensAreDrawnByTheProbabilitiesOfTheReference() {
        int filtered = 0;
        int shared = 0; // cases in which a share of all tokens would give other tokens
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            float[] logits = new float[random.nextInt(2, 16)];
            for (int i = 0; i < logits.length; i++) {
                logits[i] = (float) random.nextDouble(-1.5, 1.5);
            }
            SamplingOptions.Builder builder = SamplingOptions.builder()
                    .temperature(random.nextBoolean() ? 0.5f : 2)
                    .seed(random.nextLong());
            builder.topK(random.nextBoolean() ? 0 : random.nextInt(1, 17));
            builder.topP(random.nextBoolean() ? 1 : (float) random.nextDouble(0.05, 0.99));
            builder.minP(random.nextBoolean() ? 0 : (float) random.nextDouble(0.02, 0.98));
            SamplingOptions options = builder.build();
            double[] expected = reference(logits, options);
            int[] counts = new int[logits.length];
            Sampler sampler = Samplers.of(GenerationRequest.of(1, 0).sampling(options));
            for (int i = 0; i < DRAWS; i++) {
                counts[sampler.choose(logits, logits.length)]++;
            }
            String what = "round %d, seed %d, temperature %s, top-k %d, top-p %s, min-p %s: expected %s, drawn %s"
                    .formatted(
                            round,
                            SEED,
                            options.temperature(),
                            options.topK(),
                            options.topP(),
                            options.minP(),
                            Arrays.toString(expected),
                            Arrays.toString(counts));
            check(expected, counts, what);
            filtered += Arrays.stream(expected).anyMatch(each -> each == 0) ? 1 : 0;
            long ofAll = support(reference(logits, options.toBuilder().topK(0).build()));
            shared += options.topK() > 0 && Math.min(ofAll, options.topK()) != support(expected) ? 1 : 0;
        }
        assertThat(filtered).as("cases without some tokens").isGreaterThan(ROUNDS / 3);
        assertThat(shared).as("cases in which top-p depends on top-k").isGreaterThan(ROUNDS / 50);
    }

    private static long support(double[] probabilities) {
        return Arrays.stream(probabilities).filter(each -> each > 0).count();
    }

    private static void check(double[] expected, int[] counts, String what) {
        double statistic = 0;
        int cells = 0;
        double rareExpected = 0;
        int rare = 0;
        for (int token = 0; token < counts.length; token++) {
            double mean = DRAWS * expected[token];
            if (mean == 0) {
                assertThat(counts[token]).as("token %d, %s", token, what).isZero();
            } else if (mean < 40) {
                rareExpected += mean;
                rare += counts[token];
            } else {
                assertThat(counts[token]).as("token %d, %s", token, what).isPositive();
                statistic += (counts[token] - mean) * (counts[token] - mean) / mean;
                cells++;
            }
        }
        if (rareExpected >= 40) {
            statistic += (rare - rareExpected) * (rare - rareExpected) / rareExpected;
            cells++;
        }
        double exponent = 10 * Math.log(10); // Laurent and Massart, 2000: the probability is at most e^-exponent
        double bound = cells + 2 * Math.sqrt(cells * exponent) + 2 * exponent;
        assertThat(statistic).as("%s", what).isLessThan(bound);
    }

    /** Logits by hand: probabilities 1/2, 1/4, 1/8 and 1/8 with temperature 1. */
    @Test
    void filtersKeepTheTokenReachingTheShare() {
        float[] logits = {(float) Math.log(1), (float) Math.log(4), (float) Math.log(2), (float) Math.log(1)};
        SamplingOptions.Builder options = SamplingOptions.builder().temperature(1);
        assertThat(drawn(logits, options.topP(0.45f))).containsExactly(1);
        assertThat(drawn(logits, options.topP(0.55f))).containsExactly(1, 2);
        assertThat(drawn(logits, options.topP(0.7f))).containsExactly(1, 2);
        assertThat(drawn(logits, options.topP(0.8f))).containsExactly(0, 1, 2);
        assertThat(drawn(logits, options.topP(0.9f))).containsExactly(0, 1, 2, 3);
        // Of two tokens, the first has two thirds of the probability.
        assertThat(drawn(logits, options.topK(2).topP(0.65f))).containsExactly(1);
        assertThat(drawn(logits, options.topP(0.68f))).containsExactly(1, 2);
        assertThat(drawn(logits, options.topK(0).topP(1).minP(0.26f))).containsExactly(1, 2);
        assertThat(drawn(logits, options.minP(0.24f))).containsExactly(0, 1, 2, 3);
        assertThat(drawn(logits, options.minP(0.51f))).containsExactly(1);
        // The share counts tokens that min-p leaves out.
        assertThat(drawn(logits, options.minP(0.26f).topP(0.7f))).containsExactly(1, 2);
        assertThat(drawn(logits, options.topP(0.6f))).containsExactly(1, 2);
        assertThat(drawn(logits, options.topP(0.45f))).containsExactly(1);
        assertThat(drawn(logits, options.topK(1).topP(1).minP(0))).containsExactly(1);
        assertThat(drawn(logits, options.topK(3)))
                .as("of equals the lowest token")
                .containsExactly(0, 1, 2);
    }

    private static Set<Integer> drawn(float[] logits, SamplingOptions.Builder options) {
        Sampler sampler = Samplers.of(GenerationRequest.of(1, 0).sampling(options.build()));
        Set<Integer> tokens = new TreeSet<>();
        for (int i = 0; i < 500; i++) {
            tokens.add(sampler.choose(logits, logits.length));
        }
        return tokens;
    }

    @Test
    void valuesOutOfRangeAreRejectedByName() {
        assertThatThrownBy(
                        () -> SamplingOptions.builder().temperature(Float.NaN).build())
                .hasMessageContaining("temperature is NaN");
        assertThatThrownBy(() -> SamplingOptions.builder().temperature(-1).build())
                .hasMessageContaining("temperature is -1.0");
        assertThatThrownBy(
                        () -> SamplingOptions.builder().temperature(1).topK(-1).build())
                .hasMessageContaining("top-k is -1");
        assertThatThrownBy(
                        () -> SamplingOptions.builder().temperature(1).topP(0).build())
                .hasMessageContaining("top-p is 0.0");
        assertThatThrownBy(
                        () -> SamplingOptions.builder().temperature(1).minP(2).build())
                .hasMessageContaining("min-p is 2.0");
    }
}
