package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bias and penalties: logits are changed by the options and the tokens so far, in the order bias, repetition, frequency,
 * presence. Not thread-safe.
 */
final class LogitRules {
    private final SamplingOptions options;
    private final Map<Integer, Integer> counts = new HashMap<>(); // of generated tokens; 0 for tokens of the prompt
    private float[] changed = new float[0];

    private LogitRules(SamplingOptions options, int[] prompt) {
        this.options = options;
        for (int each : prompt) {
            counts.put(each, 0);
        }
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
            counts.forEach((token, generated) -> {
                int index = index(token, tokens, count);
                if (index >= 0) {
                    changed[index] = penalized(changed[index], generated);
                }
            });
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
            counts.merge(token, 1, Integer::sum);
        }
    }
}
