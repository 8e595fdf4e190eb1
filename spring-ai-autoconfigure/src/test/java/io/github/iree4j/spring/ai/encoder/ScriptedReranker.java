package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.Tensor;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.test.FakePrograms;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A program whose score of a pair is the number of tokens of the text that the query has too, less a hundredth for each
 * other token of the text. The program fails for a pair that does not begin with [CLS], and records the shapes of the
 * calls.
 */
final class ScriptedReranker {

    private final List<String> shapes = new ArrayList<>();

    /** Registers {@code encoder.main} with ids, mask and types, all of the given dimensions, and a result such as {@code ?x1}. */
    ScriptedReranker program(FakePrograms programs, String dimensions, String result) {
        String argument = "tensor<%sxi64>".formatted(dimensions);
        programs.program(
                "encoder",
                encoder -> encoder.function(
                                "main",
                                "(%%input_ids: %s, %%attention_mask: %s, %%token_type_ids: %s) -> tensor<%sxf32>"
                                        .formatted(argument, argument, argument, result))
                        .answers(inputs -> List.of(score(
                                (Tensor) inputs.get(0),
                                (Tensor) inputs.get(1),
                                (Tensor) inputs.get(2),
                                result.endsWith("x1")))));
        return this;
    }

    private Tensor score(Tensor ids, Tensor mask, Tensor types, boolean column) {
        int rows = (int) ids.shape().dimension(0);
        int length = (int) ids.shape().dimension(1);
        note(rows + "x" + length);
        long[] all = ids.toLongArray();
        long[] masks = mask.toLongArray();
        long[] kinds = types.toLongArray();
        float[] scores = new float[rows];
        for (int row = 0; row < rows; row++) {
            scores[row] = score(all, masks, kinds, row * length, (row + 1) * length);
        }
        return column ? Tensor.of(scores, rows, 1) : Tensor.of(scores, rows);
    }

    private static float score(long[] ids, long[] masks, long[] types, int from, int to) {
        Set<Long> query = new HashSet<>();
        float score = 0;
        for (int i = from; i < to; i++) {
            boolean special = ids[i] == TestTokenizers.CLS || ids[i] == TestTokenizers.SEP;
            if (masks[i] == 0 || special) {
                continue;
            }
            if (types[i] == 0) {
                query.add(ids[i]);
            } else {
                score += query.contains(ids[i]) ? 1 : -0.01f;
            }
        }
        if (ids[from] != TestTokenizers.CLS) {
            throw new IllegalStateException("a pair starts with token " + ids[from]);
        }
        return score;
    }

    private synchronized void note(String shape) {
        shapes.add(shape);
    }

    /** Rows by tokens of each call, in order. */
    synchronized List<String> shapes() {
        return List.copyOf(shapes);
    }
}
