package io.github.iree4j.spring.ai;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Texts that go through the program together, padded on their right.
 *
 * @param texts their indices in the request
 * @param rows how many rows the tensors have, at least one for each text; those beyond repeat the last text
 * @param length tokens of each row, padding included
 */
record TokenBatch(List<Integer> texts, int rows, int length) {

    /**
     * Divides a request. Texts of about the same length go together, so that little is padded.
     *
     * @param tokens those of each text, at least one
     * @param encoder what the program takes
     * @param settings limits of a call
     * @return batches with each text in one of them
     */
    static List<TokenBatch> plan(List<Tokens> tokens, EncoderSignature encoder, EmbeddingSettings settings) {
        List<Integer> byLength = IntStream.range(0, tokens.size())
                .boxed()
                .sorted(Comparator.comparingInt(text -> tokens.get(text).size()))
                .toList();
        int most = encoder.rows() > 0 ? encoder.rows() : settings.maxBatchSize();
        List<TokenBatch> batches = new ArrayList<>();
        for (int from = 0; from < byLength.size(); ) {
            int length = 0;
            int to = from;
            while (to < byLength.size() && to - from < most) {
                int size = tokens.get(byLength.get(to)).size();
                int padded = encoder.length() > 0 ? encoder.length() : padded(size, encoder, settings);
                boolean fits = to == from
                        || (long) padded * (to - from + 1) <= settings.maxBatchTokens()
                                && (encoder.masks() || padded == length);
                if (!fits) {
                    break;
                }
                length = padded;
                to++;
            }
            batches.add(new TokenBatch(
                    byLength.subList(from, to), encoder.rows() > 0 ? encoder.rows() : to - from, length));
            from = to;
        }
        return batches;
    }

    private static int padded(int size, EncoderSignature encoder, EmbeddingSettings settings) {
        return encoder.masks()
                ? settings.padTo().stream()
                        .filter(each -> each >= size)
                        .findFirst()
                        .orElse(size)
                : size;
    }

    /** One argument of the program; the caller closes it. */
    Tensor tensor(TokenInput input, ElementType type, List<Tokens> tokens, long paddingId) {
        long[] values = new long[Math.multiplyExact(rows, length)];
        for (int row = 0; row < rows; row++) {
            fill(values, row * length, input, tokens.get(text(row)), paddingId);
        }
        return Tensor.ofLongs(type, values, rows, length);
    }

    private int text(int row) {
        return texts.get(Math.min(row, texts.size() - 1));
    }

    private void fill(long[] values, int start, TokenInput input, Tokens tokens, long paddingId) {
        for (int i = 0; i < length; i++) {
            boolean padding = i >= tokens.size();
            values[start + i] = switch (input) {
                case INPUT_IDS -> padding ? paddingId : tokens.ids()[i];
                case ATTENTION_MASK -> padding ? 0 : 1;
                case TOKEN_TYPE_IDS -> padding ? 0 : tokens.typeIds()[i];
                case POSITION_IDS -> i;
            };
        }
    }
}
