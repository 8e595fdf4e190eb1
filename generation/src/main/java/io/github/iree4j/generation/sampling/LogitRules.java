package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Bias and penalties: logits are changed by the options and the tokens so far, in the order bias, repetition, frequency,
 * presence. Not thread-safe.
 */
final class LogitRules {
    private final SamplingOptions options;
    private final int[] prompt;

    // Tokens with penalties, ascending, from the first choice on: a waiting request has none.
    private int @Nullable [] seen;
    private int[] counts = new int[0]; // of generated tokens; 0 for tokens of the prompt only
    private int size;
    private float[] changed = new float[0];

    private LogitRules(SamplingOptions options, int[] prompt) {
        this.options = options;
        this.prompt = prompt;
    }

    /** Returns rules, or null if the options change no logits. */
    static @Nullable LogitRules of(SamplingOptions options, int[] prompt) {
        return options.logitBias().isEmpty() && !options.hasPenalties() ? null : new LogitRules(options, prompt);
    }

    /**
     * Returns changed logits, valid until the next call.
     *
     * @param tokens the tokens of the logits, ascending; null if the indices are the tokens
     * @throws IreeException INVALID_ARGUMENT for a bias of a token that the model does not have
     */
    float[] apply(float[] logits, int @Nullable [] tokens, int count) {
        if (changed.length < count) {
            changed = new float[count];
        }
        System.arraycopy(logits, 0, changed, 0, count);
        options.logitBias().forEach((token, bias) -> {
            if (tokens == null && token >= count) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "token %d has a bias; tokens of the model are from 0 to %d".formatted(token, count - 1));
            }
            int index = index(token, tokens, count);
            if (index >= 0) {
                changed[index] += bias;
            }
        });
        if (options.hasPenalties()) {
            int[] repeated = seen();
            for (int i = 0; i < size; i++) {
                int index = index(repeated[i], tokens, count);
                if (index >= 0) {
                    changed[index] = penalized(changed[index], counts[i]);
                }
            }
        }
        return changed;
    }

    private static int index(int token, int @Nullable [] tokens, int count) {
        if (tokens == null) {
            return token < count ? token : -1;
        }
        return Arrays.binarySearch(tokens, 0, count, token);
    }

    private float penalized(float logit, int generated) {
        float repetition = options.repetitionPenalty();
        float result = logit > 0 ? logit / repetition : logit * repetition;
        if (generated > 0) {
            result -= options.frequencyPenalty() * generated + options.presencePenalty();
        }
        return Math.min(result, Float.MAX_VALUE); // a penalty below 1 may divide beyond
    }

    /** Records a generated token. */
    void accept(int token) {
        if (options.hasPenalties()) {
            int place = Arrays.binarySearch(seen(), 0, size, token);
            if (place < 0) {
                place = -1 - place;
                insert(place, token);
            }
            counts[place]++;
        }
    }

    private int[] seen() {
        if (seen == null) {
            seen = options.repetitionPenalty() == 1
                    ? new int[0]
                    : Arrays.stream(prompt).sorted().distinct().toArray();
            size = seen.length;
            counts = new int[size];
        }
        return seen;
    }

    private void insert(int place, int token) {
        int[] from = seen();
        if (size == from.length) {
            from = Arrays.copyOf(from, Math.max(16, 2 * size));
            counts = Arrays.copyOf(counts, from.length);
        }
        System.arraycopy(from, place, from, place + 1, size - place);
        System.arraycopy(counts, place, counts, place + 1, size - place);
        from[place] = token;
        counts[place] = 0;
        size++;
        seen = from;
    }

    /** Returns the size of the memory for tokens with penalties, in bytes. */
    long bytesKept() {
        return seen == null ? 0 : 2L * Integer.BYTES * seen.length;
    }
}
