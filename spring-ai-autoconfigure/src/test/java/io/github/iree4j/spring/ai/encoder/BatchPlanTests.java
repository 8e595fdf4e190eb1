package io.github.iree4j.spring.ai.encoder;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchPlanTests {

    private static EncoderSettings settings(int maxBatchSize, int maxBatchTokens, List<Integer> padTo) {
        TestSettings settings = new TestSettings();
        settings.maxBatchSize = maxBatchSize;
        settings.maxBatchTokens = maxBatchTokens;
        settings.padTo = padTo;
        return settings.encoder();
    }

    @Test
    void batchesStayWithinTheirLimits() {
        long seed = Long.getLong("iree4j.test.seed", 7);
        System.out.println("random: batches, seed " + seed);
        Random random = new Random(seed);
        EncoderSignature open = new EncoderSignature(
                List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK),
                List.of(),
                0,
                0,
                null,
                List.of(CallShape.ANY));
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
            List<TokenBatch> batches = new BatchPlan(tokens, open, settings(most, mostTokens, padTo)).batches();
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

    /** Compares with all partitions of a few texts. */
    @Test
    void planIsOptimal() {
        long seed = Long.getLong("iree4j.test.seed", 17);
        System.out.println("random: divisions, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            boolean masks = random.nextInt(4) > 0;
            List<CallShape> shapes = new ArrayList<>();
            shapes.add(new CallShape(random.nextInt(4), random.nextBoolean() ? 40 : 0, 1 + random.nextInt(4)));
            for (int i = random.nextInt(6); i > 0; i--) {
                shapes.add(new CallShape(random.nextInt(7), random.nextInt(40), 1 + random.nextInt(2)));
            }
            EncoderSettings settings = settings(1 + random.nextInt(6), 1 + random.nextInt(100), List.of());
            EncoderSignature encoder = new EncoderSignature(
                    masks ? List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK) : List.of(TokenInput.INPUT_IDS),
                    List.of(),
                    0,
                    0,
                    null,
                    shapes);
            List<Tokens> tokens = new ArrayList<>();
            for (int i = random.nextInt(7); i >= 0; i--) {
                int size = 1 + random.nextInt(random.nextBoolean() ? 6 : 40);
                tokens.add(new Tokens(new long[size], new long[size], 0, 0));
            }
            double planned = new BatchPlan(tokens, encoder, settings)
                    .batches().stream()
                            .mapToDouble(batch -> cost(batch.texts(), tokens, encoder, settings))
                            .sum();
            double least = divisions(tokens.size()).stream()
                    .mapToDouble(division -> division.stream()
                            .mapToDouble(texts -> cost(texts, tokens, encoder, settings))
                            .sum())
                    .min()
                    .orElseThrow();
            assertThat(planned).as("round %d", round).isEqualTo(least);
        }
    }

    private static double cost(
            List<Integer> texts, List<Tokens> tokens, EncoderSignature encoder, EncoderSettings settings) {
        IntSummaryStatistics sizes =
                texts.stream().mapToInt(text -> tokens.get(text).size()).summaryStatistics();
        if (!encoder.masks() && sizes.getMin() < sizes.getMax()) {
            return Double.POSITIVE_INFINITY;
        }
        double least = Double.POSITIVE_INFINITY;
        for (CallShape shape : encoder.shapes()) {
            int count = texts.size();
            int length = shape.length() == 0 ? sizes.getMax() : shape.length();
            boolean fits = length >= sizes.getMax()
                    && (shape.rows() > 0
                            ? count <= shape.rows()
                            : count == 1
                                    || count <= settings.maxBatchSize() && count * length <= settings.maxBatchTokens());
            if (fits) {
                int rows = shape.rows() == 0 ? count : shape.rows();
                least = Math.min(least, BatchPlan.CALL + shape.price() * rows * length);
            }
        }
        return least;
    }

    /** All partitions of so many texts. */
    private static List<List<List<Integer>>> divisions(int texts) {
        if (texts == 0) {
            return List.of(List.of());
        }
        List<List<List<Integer>>> all = new ArrayList<>();
        for (List<List<Integer>> rest : divisions(texts - 1)) {
            for (int group = 0; group <= rest.size(); group++) {
                List<List<Integer>> division = new ArrayList<>(rest);
                List<Integer> own = new ArrayList<>(group < rest.size() ? rest.get(group) : List.of());
                own.add(texts - 1);
                if (group < rest.size()) {
                    division.set(group, own);
                } else {
                    division.add(own);
                }
                all.add(division);
            }
        }
        return all;
    }
}
