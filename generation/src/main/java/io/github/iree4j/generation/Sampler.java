package io.github.iree4j.generation;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Chooses the tokens of a sequence. A random number is drawn for each token, so the choice depends on logits, seed
 * and position only. Not thread-safe.
 */
final class Sampler {
    private final SamplingOptions options;
    private final SplittableRandom random;

    Sampler(SamplingOptions options) {
        this.options = options;
        this.random = new SplittableRandom(options.seed());
    }

    /**
     * Chooses a token.
     *
     * @param logits of all tokens, or of candidates; finite
     * @param count number of logits
     * @return an index of the logits
     */
    int choose(float[] logits, int count) {
        if (options.isGreedy()) {
            return highest(logits, count);
        }
        double point = random.nextDouble();
        return sample(logits, count, point);
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
