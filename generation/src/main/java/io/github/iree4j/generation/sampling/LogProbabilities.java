package io.github.iree4j.generation.sampling;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Natural logarithms of the probabilities that the model gave to a chosen token and to the most probable tokens: the
 * log-softmax of the model's logits, before bias, penalties, constraint, temperature and filters. Of a model that
 * returns candidates, the candidates have all of the probability. Immutable.
 */
public final class LogProbabilities {
    private final float chosen;
    private final int[] tokens; // descending by value, of equals ascending by token
    private final float[] values;

    private LogProbabilities(float chosen, int[] tokens, float[] values) {
        this.chosen = chosen;
        this.tokens = tokens;
        this.values = values;
    }

    /**
     * Computes log probabilities, adding in the order of the logits.
     *
     * @param logits of all tokens, or of candidates; less than infinity
     * @param candidates the tokens of the logits, ascending; null if the indices are the tokens
     * @param count number of logits
     * @param chosen index of the chosen token
     * @param most number of the most probable tokens
     */
    static LogProbabilities of(float[] logits, int @Nullable [] candidates, int count, int chosen, int most) {
        int[] order = new int[Math.min(most, count)];
        int known = 0;
        double highest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            highest = Math.max(highest, logits[i]);
            int at = known < order.length ? known++ : known;
            while (at > 0 && logits[i] > logits[order[at - 1]]) {
                if (at < order.length) {
                    order[at] = order[at - 1];
                }
                at--;
            }
            if (at < order.length) {
                order[at] = i;
            }
        }
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Math.exp(logits[i] - highest);
        }
        double rest = highest + Math.log(sum);
        int[] tokens = new int[order.length];
        float[] values = new float[order.length];
        for (int i = 0; i < order.length; i++) {
            tokens[i] = candidates == null ? order[i] : candidates[order[i]];
            values[i] = value(logits[order[i]], rest);
        }
        return new LogProbabilities(value(logits[chosen], rest), tokens, values);
    }

    private static float value(float logit, double rest) {
        return logit == Float.NEGATIVE_INFINITY ? logit : (float) (logit - rest);
    }

    /**
     * Returns the value of the chosen token.
     *
     * @return 0 or less; minus infinity for a token that the model excludes
     */
    public float chosen() {
        return chosen;
    }

    /** Returns how many of the most probable tokens are known, at most as many as requested. */
    public int size() {
        return tokens.length;
    }

    /**
     * Returns one of the most probable tokens.
     *
     * @param rank 0 for the most probable token; of equals, the lowest token is first
     * @return the token
     */
    public int token(int rank) {
        return tokens[Objects.checkIndex(rank, tokens.length)];
    }

    /**
     * Returns the value of one of the most probable tokens.
     *
     * @param rank 0 for the most probable token
     * @return 0 or less; minus infinity for a token that the model excludes
     */
    public float value(int rank) {
        return values[Objects.checkIndex(rank, values.length)];
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder().append(chosen);
        for (int i = 0; i < tokens.length; i++) {
            text.append(' ').append(tokens[i]).append('=').append(values[i]);
        }
        return text.toString();
    }
}
