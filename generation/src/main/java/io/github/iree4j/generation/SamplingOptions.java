package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * How tokens are chosen from logits. The filters apply in the order top-k, top-p, min-p.
 *
 * @param temperature 0 for the token with the highest logit, of equals the lowest token; otherwise the divisor of logits,
 *     greater than 0
 * @param topK number of tokens to choose from; 0 for all
 * @param topP smallest share of the probability that the tokens to choose from have together; 1 for all
 * @param minP smallest share of the highest probability that a token to choose from has; 0 for all
 * @param seed the same seed gives the same tokens, whatever else runs
 */
public record SamplingOptions(float temperature, int topK, float topP, float minP, long seed) {
    /** The token with the highest logit; of equals the lowest token. */
    public static final SamplingOptions GREEDY = new SamplingOptions(0, 0, 1, 0, 0);

    /** Checks the ranges. */
    public SamplingOptions {
        check("temperature", temperature, temperature >= 0 && temperature <= 100, "from 0 to 100");
        check("top-k", topK, topK >= 0, "0 or more");
        check("top-p", topP, topP > 0 && topP <= 1, "greater than 0 and at most 1");
        check("min-p", minP, minP >= 0 && minP <= 1, "from 0 to 1");
    }

    private static void check(String name, Number value, boolean valid, String range) {
        if (!valid) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "%s is %s, not %s".formatted(name, value, range));
        }
    }

    boolean isGreedy() {
        return temperature == 0;
    }
}
