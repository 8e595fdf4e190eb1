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
    void read(Step step, Results results) {
        Tensor values = results.tensor(0);
        reshape(step, values.elementType(), values.shape());
        if (results.size() > 1) {
            Tensor indices = results.tensor(1);
            if (!indices.shape().equals(values.shape())
                    || !indices.elementType().isInteger()) {
                throw unexpected(step.entry(), indices.elementType(), indices.shape());
            }
            candidates(indices.toLongArray());
        }
        values.copyTo(MemorySegment.ofArray(memory));
    }

    /** Prepares for logits of all tokens in rows, and returns the memory to write the logits to. */
    MemorySegment reshape(Step step, ElementType elementType, Shape shape) {
        Entry entry = step.entry();
        boolean known = elementType.equals(ElementType.F32)
                || elementType.equals(ElementType.F16)
                || elementType.equals(ElementType.BF16);
        if (shape.rank() != 3
                || shape.dimension(0) != entry.batch()
                || shape.dimension(1) != 1 && shape.dimension(1) != step.tokensPerRow()
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

    /** Sets the tokens of the logits, in any order; without candidates, a logit's index is the token. */
    void candidates(long... tokens) {
        candidates = tokens;
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
     * @throws IreeException DATA_LOSS when a logit is not a number or plus infinity, or a candidate no token
     */
    int choose(int row, int token, Sampler sampler) {
        int wrong = firstWrong(row, token);
        if (wrong >= 0) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "the logit of token %d is %s; the model or its parameters cannot compute this prompt"
                            .formatted(wrong, logits[wrong]));
        }
        if (candidates == null) {
            return sampler.choose(logits, perToken);
        }
        int first = (int) offset(row, token) * perToken;
        long[] order = new long[perToken]; // by token, as logits of all tokens are
        for (int i = 0; i < perToken; i++) {
            long candidate = candidates[first + i];
            if (candidate < 0 || candidate > Integer.MAX_VALUE) {
                throw IreeException.of(
                        StatusCode.DATA_LOSS, "the model's candidate %d is no token".formatted(candidate));
            }
            order[i] = candidate << Integer.SIZE | i;
        }
        Arrays.sort(order);
        float[] sorted = new float[perToken];
        int[] tokens = new int[perToken];
        for (int i = 0; i < perToken; i++) {
            sorted[i] = logits[(int) order[i]];
            tokens[i] = (int) (order[i] >>> Integer.SIZE);
        }
        return sampler.choose(sorted, tokens, perToken);
    }

    /** Returns whether all logits after a token are numbers below infinity. */
    boolean isFinite(int row, int token) {
        return firstWrong(row, token) < 0;
    }

    /** Decodes the logits after a token. Returns the index of the first that is not a number or plus infinity, or -1. */
    private int firstWrong(int row, int token) {
        decode(bytes(row, token));
        for (int i = 0; i < perToken; i++) {
            if (!(logits[i] < Float.POSITIVE_INFINITY)) { // not a number, too
                return i;
            }
        }
        return -1;
    }

    private void decode(MemorySegment bytes) {
        if (type.equals(ElementType.F32)) {
            MemorySegment.copy(bytes, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, logits, 0, perToken);
        } else if (type.equals(ElementType.F16)) {
            for (int i = 0; i < perToken; i++) {
                logits[i] = Float.float16ToFloat(half(bytes, i));
            }
        } else {
            for (int i = 0; i < perToken; i++) {
                logits[i] = Float.intBitsToFloat(half(bytes, i) << Short.SIZE);
            }
        }
    }

    private static short half(MemorySegment bytes, int index) {
        return bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, (long) index * Short.BYTES);
    }
}
