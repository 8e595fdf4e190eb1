package io.github.iree4j.generation;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The results of a step: for each row the logits after its last token and after proposed tokens, or the logits of some
 * candidates. Reused for later steps; not thread-safe.
 */
final class Logits {
    private static final int MOST_BYTES = Integer.MAX_VALUE - 8; // of an array

    private final boolean everyToken;
    private byte[] memory = new byte[0];
    private int[] kept = new int[0]; // first token of each row whose logits are in memory
    private int[] places = new int[0]; // number of tokens in memory before each row
    private float[] logits = new float[0];
    private long @Nullable [] candidates;
    private int tokensPerRow;
    private int perToken;
    private ElementType type = ElementType.F32;

    Logits() {
        this(false);
    }

    /**
     * Creates logits.
     *
     * @param everyToken whether to keep the logits after all tokens, for comparison
     */
    Logits(boolean everyToken) {
        this.everyToken = everyToken;
    }

    /**
     * Copies results, but no logits that nobody reads: a long prompt has many.
     *
     * @throws IreeException INTERNAL for results of another shape or type than declared
     */
    void read(Step step, Results results) {
        Tensor values = results.tensor(0);
        describe(step, values.elementType(), values.shape());
        if (results.size() > 1) {
            Tensor indices = results.tensor(1);
            if (!indices.shape().equals(values.shape())
                    || !indices.elementType().isInteger()) {
                throw unexpected(step.entry(), indices.elementType(), indices.shape());
            }
            candidates(indices.toLongArray());
        }
        int batch = step.entry().batch();
        int count = 0;
        for (int row = 0; row < batch; row++) {
            kept[row] = everyToken || tokensPerRow == 1 ? 0 : Math.max(0, step.firstChoice(row));
            places[row] = count;
            count += tokensPerRow == 1 ? 1 : step.count(row) - kept[row];
        }
        long size = type.byteSize(perToken);
        MemorySegment target = allocate(count);
        Tensor host = values.onHost();
        if (count == batch * tokensPerRow) {
            host.copyPart(0, target);
            return;
        }
        for (int row = 0; row < batch; row++) {
            int end = row + 1 < batch ? places[row + 1] : count;
            long from = (long) row * tokensPerRow + kept[row];
            host.copyPart(from * size, target.asSlice(places[row] * size, (end - places[row]) * size));
        }
    }

    private MemorySegment allocate(long tokens) {
        long bytes = type.byteSize(tokens * perToken);
        if (bytes > MOST_BYTES) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "the logits of a step have %d bytes, more than %d; use a function for fewer sequences"
                            .formatted(bytes, MOST_BYTES));
        }
        if (memory.length < bytes) {
            memory = new byte[(int) bytes];
        }
        return MemorySegment.ofArray(memory).asSlice(0, bytes);
    }

    /** Prepares for logits after all tokens in rows, and returns the memory to write the logits to. */
    MemorySegment reshape(Step step, ElementType elementType, Shape shape) {
        describe(step, elementType, shape);
        for (int row = 0; row < step.entry().batch(); row++) {
            kept[row] = 0;
            places[row] = row * tokensPerRow;
        }
        return allocate((long) step.entry().batch() * tokensPerRow);
    }

    private void describe(Step step, ElementType elementType, Shape shape) {
        Entry entry = step.entry();
        boolean known = elementType.equals(ElementType.F32)
                || elementType.equals(ElementType.F16)
                || elementType.equals(ElementType.BF16);
        if (shape.rank() != 3
                || shape.dimension(0) != entry.batch()
                || shape.dimension(1) != 1 && shape.dimension(1) != step.tokensPerRow()
                || shape.dimension(2) < 1
                || shape.dimension(2) > MOST_BYTES / Float.BYTES / entry.batch()
                || !known) {
            throw unexpected(entry, elementType, shape);
        }
        type = elementType;
        tokensPerRow = (int) shape.dimension(1);
        perToken = (int) shape.dimension(2);
        candidates = null;
        if (logits.length < perToken) {
            logits = new float[perToken];
        }
        if (kept.length < entry.batch()) {
            kept = new int[entry.batch()];
            places = new int[entry.batch()];
        }
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

    /** Returns the bytes of the logits after a token and of the candidates, for comparison. */
    byte[] evidence(int row, int token) {
        byte[] bytes = bytes(row, token).toArray(ValueLayout.JAVA_BYTE);
        if (candidates == null) {
            return bytes;
        }
        byte[] all = Arrays.copyOf(bytes, bytes.length + perToken * Long.BYTES);
        MemorySegment target = MemorySegment.ofArray(all);
        for (int i = 0; i < perToken; i++) {
            long candidate = candidates[firstCandidate(row, token) + i];
            target.set(ValueLayout.JAVA_LONG_UNALIGNED, bytes.length + (long) i * Long.BYTES, candidate);
        }
        return all;
    }

    private int firstCandidate(int row, int token) {
        return (row * tokensPerRow + Math.min(token, tokensPerRow - 1)) * perToken;
    }

    /** Returns the size of the memory for logits, in bytes. */
    long bytesKept() {
        return memory.length;
    }

    /** Returns the bytes of the logits after a token, for comparison; not copied. */
    MemorySegment bytes(int row, int token) {
        long size = type.byteSize(perToken);
        long place = (long) places[row] + Math.min(token, tokensPerRow - 1) - kept[row];
        return MemorySegment.ofArray(memory).asSlice(place * size, size);
    }

    /**
     * Chooses the token after a token, or {@link Sampler#NONE}.
     *
     * @param row row of the sequence
     * @param token index of the token among the tokens that the step reads
     * @throws IreeException DATA_LOSS when a logit is not a number or plus infinity, or a candidate no token
     */
    int choose(int row, int token, Sampler sampler) {
        check(row, token);
        if (candidates == null) {
            return sampler.choose(logits, perToken);
        }
        int first = firstCandidate(row, token);
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

    /**
     * Checks the logits after a token.
     *
     * @throws IreeException DATA_LOSS when a logit is not a number or plus infinity
     */
    void check(int row, int token) {
        int wrong = firstWrong(row, token);
        if (wrong >= 0) {
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "the logit of token %d is %s; the model or its parameters cannot compute this prompt"
                            .formatted(
                                    candidates == null ? wrong : candidates[firstCandidate(row, token) + wrong],
                                    logits[wrong]));
        }
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
