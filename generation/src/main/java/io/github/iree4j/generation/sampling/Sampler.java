package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the tokens of a sequence, each token once and in order. A random number is drawn for each token, so the choice
 * depends on logits, options, the tokens so far and the position only. Not thread-safe.
 */
public final class Sampler {
    /** No token: the text is complete, and none of the candidates may follow. */
    public static final int NONE = -1;

    private final SamplingOptions options;
    private final SplittableRandom random;
    private final @Nullable LogitRules rules;
    private final @Nullable ConstraintState constraint;
    private @Nullable LogProbabilities logProbabilities;

    /**
     * Creates a sampler of a new sequence.
     *
     * @param options the rules for the choice
     * @param stopTokens the tokens that end the sequence
     * @param prompt the tokens before the first chosen token; not copied, and not to be modified
     */
    public Sampler(SamplingOptions options, Set<Integer> stopTokens, int[] prompt) {
        this.options = options;
        this.random = new SplittableRandom(options.seed());
        this.rules = LogitRules.of(options, prompt);
        this.constraint = options.constraint()
                .map(each -> new ConstraintState(each, stopTokens))
                .orElse(null);
    }

    /** Chooses the next token, see {@link #choose(float[], int[], int)}, of a model with logits of all tokens. */
    public int choose(float[] logits, int count) {
        return choose(logits, null, count);
    }

    /**
     * Chooses the next token.
     *
     * @param logits less than infinity
     * @param tokens the tokens of the logits, ascending; null if the indices are the tokens
     * @param count number of logits
     * @return the token, or {@link #NONE}
     * @throws IreeException FAILED_PRECONDITION when the constraint allows none of the tokens; INVALID_ARGUMENT for a bias
     *     of a token that the model does not have
     */
    public int choose(float[] logits, int @Nullable [] tokens, int count) {
        float[] ruled = rules == null ? logits : rules.apply(logits, tokens, count);
        int @Nullable [] allowed = constraint == null ? null : constraint.allowed(tokens, count);
        if (allowed != null && allowed.length == 0) {
            return NONE;
        }
        int index = allowed == null ? pick(ruled, count) : pick(ruled, allowed);
        int token = tokens == null ? index : tokens[index];
        if (rules != null) {
            rules.accept(token);
        }
        if (constraint != null) {
            constraint.accept(token);
        }
        if (options.logProbabilities().isPresent()) {
            int most = options.logProbabilities().getAsInt();
            logProbabilities = LogProbabilities.of(logits, tokens, count, index, most);
        }
        return token;
    }

    /** Returns the log probabilities of the token chosen last, if requested. */
    public @Nullable LogProbabilities logProbabilities() {
        return logProbabilities;
    }

    /** Returns whether nothing can follow the text, by the constraint. */
    public boolean isComplete() {
        return constraint != null && constraint.isComplete();
    }

    private int pick(float[] logits, int[] allowed) {
        float[] kept = new float[allowed.length];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = logits[allowed[i]];
        }
        return allowed[pick(kept, kept.length)];
    }

    private int pick(float[] logits, int count) {
        return options.isGreedy() ? highest(logits, count) : sample(logits, count, random.nextDouble());
    }

    /** Returns the index of the highest logit; of equals the lowest index. */
    static int highest(float[] logits, int count) {
        int best = 0;
        for (int i = 1; i < count; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }

    private int sample(float[] logits, int count, double point) {
        // Descending by logit, then ascending by token, in the order of one long per token.
        long[] order = new long[count];
        for (int i = 0; i < count; i++) {
            order[i] = (long) ~ascending(logits[i]) << Integer.SIZE | i;
        }
        Arrays.sort(order);
        int kept = options.topK() == 0 ? count : Math.min(options.topK(), count);
        double[] weights = new double[kept];
        double highest = logits[(int) order[0]];
        if (highest == Double.NEGATIVE_INFINITY) { // equal, and without probabilities
            return (int) order[0];
        }
        double sum = 0;
        for (int i = 0; i < kept; i++) {
            weights[i] = Math.exp((logits[(int) order[i]] - highest) / options.temperature());
            sum += weights[i];
        }
        kept = cut(weights, kept, sum);
        double rest = 0;
        for (int i = 0; i < kept; i++) {
            rest += weights[i];
        }
        double left = point * rest;
        for (int i = 0; i < kept - 1; i++) {
            left -= weights[i];
            if (left < 0) {
                return (int) order[i];
            }
        }
        return (int) order[kept - 1];
    }

    /** Returns how many of the weights, from the highest, remain after top-p and min-p; 1 or more. */
    private int cut(double[] weights, int count, double sum) {
        double reached = 0;
        for (int i = 0; i < count; i++) {
            if (i > 0 && weights[i] < options.minP() * weights[0]) {
                return i;
            }
            reached += weights[i];
            if (reached >= options.topP() * sum) {
                return i + 1;
            }
        }
        return count;
    }

    /** Maps floats to integers in the same order. */
    private static int ascending(float value) {
        int bits = Float.floatToIntBits(value == 0 ? 0f : value); // -0 equals 0
        return bits ^ (bits >> 31 & Integer.MAX_VALUE);
    }
}
