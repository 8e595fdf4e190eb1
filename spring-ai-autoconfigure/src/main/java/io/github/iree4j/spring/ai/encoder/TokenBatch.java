package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import java.util.List;

/**
 * Texts of a call, padded on the right.
 *
 * @param texts indices of the texts in the request
 * @param rows number of rows of the tensors, at least one per text; extra rows repeat the last text
 * @param length number of tokens of each row, padding included
 */
record TokenBatch(List<Integer> texts, int rows, int length) {

    /** Creates an argument of the program, to be closed by the caller. */
    Tensor tensor(TokenInput input, ElementType type, List<Tokens> tokens, long paddingId) {
        long[] values = new long[Math.multiplyExact(rows, length)];
        for (int row = 0; row < rows; row++) {
            fill(values, row * length, input, tokens.get(text(row)), paddingId);
        }
        return Tensor.of(type, values, rows, length);
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
