package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.ai.document.MetadataMode;

class TokenBatchTests {

    private static EmbeddingSettings settings(int maxBatchSize, int maxBatchTokens, List<Integer> padTo) {
        return new EmbeddingSettings(
                "encoder",
                null,
                List.of(),
                TokenType.I64,
                0,
                null,
                true,
                null,
                null,
                true,
                1,
                1,
                maxBatchSize,
                maxBatchTokens,
                padTo,
                0,
                null,
                MetadataMode.NONE,
                TextPrefixes.NONE);
    }

    @Test
    void batchesKeepWithinTheirLimitsWhateverComes() {
        long seed = Long.getLong("iree4j.test.seed", 7);
        System.out.println("random: batches, seed " + seed);
        Random random = new Random(seed);
        EncoderSignature open = new EncoderSignature(
                List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK), List.of(), 0, 0, Pooling.MEAN, 3);
        for (int round = 0; round < 300; round++) {
            int most = 1 + random.nextInt(8);
            int mostTokens = 1 + random.nextInt(64);
            List<Integer> padTo = random.nextBoolean() ? List.of(4, 8, 16) : List.of();
            int texts = 1 + random.nextInt(30);
            List<Tokens> tokens = new ArrayList<>();
            for (int i = 0; i < texts; i++) {
                int size = 1 + random.nextInt(20);
                tokens.add(new Tokens(new long[size], new long[size], 0, 0));
            }
            List<TokenBatch> batches = TokenBatch.plan(tokens, open, settings(most, mostTokens, padTo));
            assertThat(batches.stream().flatMap(batch -> batch.texts().stream()))
                    .as("each text is in one batch")
                    .containsExactlyInAnyOrderElementsOf(
                            IntStream.range(0, texts).boxed().toList());
            for (TokenBatch batch : batches) {
                assertThat(batch.rows()).isEqualTo(batch.texts().size()).isBetween(1, most);
                assertThat(batch.rows() == 1 || batch.rows() * batch.length() <= mostTokens)
                        .isTrue();
                int longest = batch.texts().stream()
                        .mapToInt(text -> tokens.get(text).size())
                        .max()
                        .orElseThrow();
                assertThat(batch.length())
                        .isEqualTo(padTo.stream()
                                .filter(each -> each >= longest)
                                .findFirst()
                                .orElse(longest));
            }
        }
    }
}
