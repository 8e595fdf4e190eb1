package io.github.iree4j.generation;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The results of a step: for each row and token the logits of the next token, or of some candidates. Row, token and
 * logit are in the order of memory. Reused for later steps; not thread-safe.
 */
final class Logits {
    private byte[] memory = new byte[0];
    private float[] logits = new float[0];
    private long @Nullable [] candidates;
    private int tokensPerRow;
    private int perToken;
    private ElementType type = ElementType.F32;

    /**
     * Copies results.
     *
     * @throws IreeException INTERNAL for results of another shape or type than declared
     */
    void read(Entry entry, Results results) {
        Tensor values = results.tensor(0);
        reshape(entry, values.elementType(), values.shape());
        candidates = results.size() == 1 ? null : candidates(entry, results.tensor(1), values.shape());
        values.copyTo(MemorySegment.ofArray(memory));
    }

    /** Prepares for logits of all tokens in rows, and returns the memory to write the logits to. */
    MemorySegment reshape(Entry entry, ElementType elementType, Shape shape) {
        boolean known = elementType.equals(ElementType.F32)
                || elementType.equals(ElementType.F16)
                || elementType.equals(ElementType.BF16);
        if (shape.rank() != 3
                || shape.dimension(0) != entry.batch()
                || shape.dimension(1) < 1
                || shape.dimension(2) < 1
                || shape.elementCount() * elementType.byteSize(1) > Integer.MAX_VALUE
                || !known) {
            throw unexpected(entry, elementType, shape);
        }
        type = elementType;
        tokensPerRow = (int) shape.dimension(1);
        perToken = (int) shape.dimension(2);
        candidates = null;
        int bytes = (int) type.byteSize(shape.elementCount());
        if (memory.length < bytes) {
            memory = new byte[bytes];
        }
        if (logits.length < perToken) {
            logits = new float[perToken];
        }
        return MemorySegment.ofArray(memory).asSlice(0, bytes);
    }

    private static long[] candidates(Entry entry, Tensor indices, Shape shape) {
        if (!indices.shape().equals(shape) || !indices.elementType().isInteger()) {
            throw unexpected(entry, indices.elementType(), indices.shape());
        }
        return indices.toLongArray();
    }

    private static IreeException unexpected(Entry entry, ElementType type, Shape shape) {
        return IreeException.of(
                StatusCode.INTERNAL, "'%s' returned %s instead of logits".formatted(entry, shape.format(type)));
    }

    /** Returns the number of tokens with logits in each row: 1, or as many as the step reads. */
    int tokensPerRow() {
        return tokensPerRow;
    }

    /** Returns the bytes of the logits after a token, for comparison; not copied. */
    MemorySegment bytes(int row, int token) {
        long size = type.byteSize(perToken);
        return MemorySegment.ofArray(memory).asSlice(offset(row, token) * size, size);
    }

    private long offset(int row, int token) {
        return (long) row * tokensPerRow + Math.min(token, tokensPerRow - 1);
    }

    /**
     * Chooses the token after a token.
     *
     * @param row row of the sequence
     * @param token index of the token among the tokens that the step reads
     * @throws IreeException DATA_LOSS when a logit is not a number, or plus infinity
     */
    int choose(int row, int token, Sampler sampler) {
        MemorySegment bytes = bytes(row, token);
        for (int i = 0; i < perToken; i++) {
            logits[i] = logit(bytes, i);
            if (Float.isNaN(logits[i]) || logits[i] == Float.POSITIVE_INFINITY) {
                throw IreeException.of(
                        StatusCode.DATA_LOSS,
                        "the logit of token %d is %s; the model or its parameters cannot compute this prompt"
                                .formatted(i, logits[i]));
            }
        }
        if (candidates == null) {
            return sampler.choose(logits, perToken);
        }
        long[] known = Arrays.copyOfRange(
                candidates, (int) offset(row, token) * perToken, ((int) offset(row, token) + 1) * perToken);
        long[] order = new long[perToken]; // by token, as logits of all tokens are
        for (int i = 0; i < perToken; i++) {
            order[i] = known[i] << Integer.SIZE | i;
        }
        Arrays.sort(order);
        float[] sorted = new float[perToken];
        for (int i = 0; i < perToken; i++) {
            sorted[i] = logits[(int) order[i]];
        }
        return Math.toIntExact(known[(int) order[sampler.choose(sorted, perToken)]]);
    }

    private float logit(MemorySegment bytes, int index) {
        if (type.equals(ElementType.F32)) {
            return bytes.get(ValueLayout.JAVA_FLOAT_UNALIGNED, (long) index * Float.BYTES);
        }
        short half = bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, (long) index * Short.BYTES);
        return type.equals(ElementType.F16) ? Float.float16ToFloat(half) : Float.intBitsToFloat(half << Short.SIZE);
    }
}
