package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * How tokens are chosen from logits. The filters apply in the order top-k, top-p, min-p. Immutable.
 *
 * <pre>{@code
 * SamplingOptions.builder().temperature(0.8f).topK(40).topP(0.95f).seed(42).build()
 * }</pre>
 */
public final class SamplingOptions {
    /** The token with the highest logit; of equals the lowest token. */
    public static final SamplingOptions GREEDY = builder().build();

    private final float temperature;
    private final int topK;
    private final float topP;
    private final float minP;
    private final long seed;

    private SamplingOptions(Builder of) {
        this.temperature = of.temperature;
        this.topK = of.topK;
        this.topP = of.topP;
        this.minP = of.minP;
        this.seed = of.seed;
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

    /** Returns a builder for greedy decoding. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder with these options. */
    public Builder toBuilder() {
        return new Builder()
                .temperature(temperature)
                .topK(topK)
                .topP(topP)
                .minP(minP)
                .seed(seed);
    }

    /** Returns the divisor of logits; 0 for greedy decoding. */
    public float temperature() {
        return temperature;
    }

    /** Returns the number of tokens to choose from; 0 for all. */
    public int topK() {
        return topK;
    }

    /** Returns the smallest share of the probability that the tokens to choose from have together; 1 for all. */
    public float topP() {
        return topP;
    }

    /** Returns the smallest share of the highest probability that a token to choose from has; 0 for all. */
    public float minP() {
        return minP;
    }

    /** Returns the seed of the random numbers. */
    public long seed() {
        return seed;
    }

    boolean isGreedy() {
        return temperature == 0;
    }

    /** Builder of options. Not thread-safe. */
    public static final class Builder {
        private float temperature;
        private int topK;
        private float topP = 1;
        private float minP;
        private long seed;

        private Builder() {}

        /**
         * Sets the temperature.
         *
         * @param divisor of logits, from 0 to 100; 0 for the token with the highest logit, of equals the lowest token
         * @return this builder
         */
        public Builder temperature(float divisor) {
            this.temperature = divisor;
            return this;
        }

        /**
         * Restricts the choice to the most probable tokens.
         *
         * @param count number of tokens to choose from; 0 for all
         * @return this builder
         */
        public Builder topK(int count) {
            this.topK = count;
            return this;
        }

        /**
         * Restricts the choice to the most probable tokens.
         *
         * @param share smallest share of the probability that the tokens to choose from have together, greater than 0; 1
         *     for all
         * @return this builder
         */
        public Builder topP(float share) {
            this.topP = share;
            return this;
        }

        /**
         * Restricts the choice to probable tokens.
         *
         * @param share smallest share of the highest probability that a token to choose from has, from 0 to 1; 0 for all
         * @return this builder
         */
        public Builder minP(float share) {
            this.minP = share;
            return this;
        }

        /**
         * Sets the seed, which matters with a temperature above 0.
         *
         * @param number the same seed gives the same tokens, whatever else runs
         * @return this builder
         */
        public Builder seed(long number) {
            this.seed = number;
            return this;
        }

        /**
         * Creates the options.
         *
         * @return the options
         * @throws IreeException INVALID_ARGUMENT for a value out of range, by name
         */
        public SamplingOptions build() {
            return new SamplingOptions(this);
        }
    }
}
