package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SamplerTest {
    @Test
    void greedyTakesTheLowestTokenOfEqualLogits() {
        Sampler sampler = new Sampler(GenerationRequest.of(1, 0).sampling(SamplingOptions.GREEDY));
        assertThat(sampler.choose(new float[] {-1, 3, 2, 3}, 4)).isEqualTo(1);
        assertThat(sampler.choose(new float[] {-0f, 0f}, 2)).isZero();
        assertThat(new Sampler(GenerationRequest.of(1, 0)
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
        Sampler first = new Sampler(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().temperature(1.3f).seed(42).build()));
        Sampler second = new Sampler(GenerationRequest.of(1, 0)
                .sampling(SamplingOptions.builder().temperature(1.3f).seed(42).build()));
        for (int i = 0; i < 1000; i++) {
            assertThat(first.choose(logits, 5)).isEqualTo(second.choose(logits, 5));
        }
    }

    @Test
    void tokensAreDrawnByTheProbabilitiesOfTheirLogits() {
        float[] logits = {0, (float) Math.log(2), (float) Math.log(5), Float.NEGATIVE_INFINITY};
        Sampler sampler = new Sampler(GenerationRequest.of(1, 0)
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

    @Test
    void filtersKeepTheMostProbableTokens() {
        float[] logits = new float[50];
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) random.nextDouble(-4, 4);
        }
        logits[17] = 5;
        for (int i = 0; i < 1000; i++) {
            assertThat(new Sampler(GenerationRequest.of(1, 0)
                                    .sampling(SamplingOptions.builder()
                                            .temperature(2)
                                            .topK(1)
                                            .seed(i)
                                            .build()))
                            .choose(logits, 50))
                    .isEqualTo(17);
            assertThat(new Sampler(GenerationRequest.of(1, 0)
                                    .sampling(SamplingOptions.builder()
                                            .temperature(2)
                                            .topP(1e-6f)
                                            .seed(i)
                                            .build()))
                            .choose(logits, 50))
                    .isEqualTo(17);
            assertThat(new Sampler(GenerationRequest.of(1, 0)
                                    .sampling(SamplingOptions.builder()
                                            .temperature(2)
                                            .minP(1)
                                            .seed(i)
                                            .build()))
                            .choose(logits, 50))
                    .isEqualTo(17);
            int third = new Sampler(GenerationRequest.of(1, 0)
                            .sampling(SamplingOptions.builder()
                                    .temperature(2)
                                    .topK(3)
                                    .seed(i)
                                    .build()))
                    .choose(logits, 50);
            assertThat(java.util.stream.IntStream.range(0, 50)
                            .filter(other -> logits[other] > logits[third])
                            .count())
                    .isLessThan(3);
        }
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
