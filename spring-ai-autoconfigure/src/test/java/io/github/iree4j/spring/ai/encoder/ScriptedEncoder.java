package io.github.iree4j.spring.ai.encoder;

import io.github.iree4j.ShapeRules;
import io.github.iree4j.Tensor;
import io.github.iree4j.VariantOptions;
import io.github.iree4j.spring.test.FakePrograms;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * A program whose vector of a token is {@code [its id, its position, its type + 1]}, and garbage for padding. It
 * records the shapes and the tokens of its calls.
 */
final class ScriptedEncoder {

    static final int DIMENSIONS = 3;

    /** Of its variants. */
    static final String RULES = "[batch length], [batch length] mask, [batch length] -> [batch length 3]";

    private final List<String> shapes = new ArrayList<>();
    private final List<List<Long>> rows = new ArrayList<>();

    /** Registers {@code encoder.main} with ids, mask and types, all of the given dimensions. */
    ScriptedEncoder program(FakePrograms programs, String dimensions) {
        String argument = "tensor<%sxi64>".formatted(dimensions);
        programs.program(
                "encoder",
                encoder -> encoder.function(
                                "main",
                                "(%%input_ids: %s, %%attention_mask: %s, %%token_type_ids: %s) -> tensor<?x?x3xf32>"
                                        .formatted(argument, argument, argument))
                        .answers(inputs -> List.of(
                                encode((Tensor) inputs.get(0), (Tensor) inputs.get(1), (Tensor) inputs.get(2)))));
        return this;
    }

    /** Registers {@code encoder.encode}, with a variant for each of the given shapes, such as {@code 4x?}. */
    ScriptedEncoder variants(FakePrograms programs, Collection<String> dimensions) {
        programs.program("encoder", encoder -> {
            int index = 0;
            for (String each : dimensions) {
                String argument = "tensor<%sxi64>".formatted(each);
                encoder.function(
                                "encode_" + index++,
                                "(%%input_ids: %s, %%attention_mask: %s, %%token_type_ids: %s) -> tensor<%sx3xf32>"
                                        .formatted(argument, argument, argument, each))
                        .answers(inputs -> List.of(
                                encode((Tensor) inputs.get(0), (Tensor) inputs.get(1), (Tensor) inputs.get(2))));
            }
            encoder.variants(
                    VariantOptions.of("encode", ShapeRules.parse(RULES)).functions("encode_*"));
        });
        return this;
    }

    Tensor encode(Tensor ids, Tensor mask, Tensor types) {
        long[] shape = ids.shape().dimensions();
        note(ids);
        long[] numbers = ids.toLongArray();
        long[] masks = mask.toLongArray();
        long[] kinds = types.toLongArray();
        float[] vectors = new float[numbers.length * DIMENSIONS];
        for (int i = 0; i < numbers.length; i++) {
            boolean padding = masks[i] == 0;
            vectors[i * DIMENSIONS] = padding ? 1e6f : numbers[i];
            vectors[i * DIMENSIONS + 1] = padding ? 1e6f : i % shape[1];
            vectors[i * DIMENSIONS + 2] = padding ? 1e6f : kinds[i] + 1;
        }
        return Tensor.of(vectors, shape[0], shape[1], DIMENSIONS);
    }

    private synchronized void note(Tensor ids) {
        long[] shape = ids.shape().dimensions();
        shapes.add(shape[0] + "x" + shape[1]);
        long[] all = ids.toLongArray();
        for (int row = 0; row < shape[0]; row++) {
            rows.add(Arrays.stream(all, (int) (row * shape[1]), (int) ((row + 1) * shape[1]))
                    .boxed()
                    .toList());
        }
    }

    /** Rows by tokens of each call, in order. */
    synchronized List<String> shapes() {
        return List.copyOf(shapes);
    }

    /** All rows of all calls, in order. */
    synchronized List<List<Long>> rows() {
        return List.copyOf(rows);
    }
}
