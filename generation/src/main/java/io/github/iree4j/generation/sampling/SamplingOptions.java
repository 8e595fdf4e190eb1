package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * How tokens are chosen from logits. Logits are changed in the order bias, repetition, frequency, presence, temperature;
 * tokens that a constraint excludes are left out; the filters apply in the order top-k, top-p, min-p. Immutable.
 *
 * <pre>{@code
 * SamplingOptions.builder().temperature(0.8f).topK(40).topP(0.95f).seed(42).build()
 * }</pre>
 */
public final class SamplingOptions {
    /** The token with the highest logit; of equals the lowest token. */
    public static final SamplingOptions GREEDY = builder().build();

    private static final int MOST_BIASES = 1024;
    private static final int MOST_LOG_PROBABILITIES = 20;
    private static final int NONE = Integer.MIN_VALUE;

    private final float temperature;
    private final int topK;
    private final float topP;
    private final float minP;
    private final long seed;
    private final float frequencyPenalty;
    private final float presencePenalty;
    private final float repetitionPenalty;
    private final Map<Integer, Float> logitBias;
    private final int logProbabilities;
    private final @Nullable TokenConstraint constraint;

    private SamplingOptions(Builder of) {
        this.temperature = of.temperature;
        this.topK = of.topK;
        this.topP = of.topP;
        this.minP = of.minP;
        this.seed = of.seed;
        this.frequencyPenalty = of.frequencyPenalty;
        this.presencePenalty = of.presencePenalty;
        this.repetitionPenalty = of.repetitionPenalty;
        this.logitBias = Map.copyOf(of.logitBias);
        this.logProbabilities = of.logProbabilities;
        this.constraint = of.constraint;
        check("temperature", temperature, temperature >= 0 && temperature <= 100, "from 0 to 100");
        check("top-k", topK, topK >= 0, "0 or more");
        check("top-p", topP, topP > 0 && topP <= 1, "greater than 0 and at most 1");
        check("min-p", minP, minP >= 0 && minP <= 1, "from 0 to 1");
        check("frequency penalty", frequencyPenalty, Math.abs(frequencyPenalty) <= 2, "from -2 to 2");
        check("presence penalty", presencePenalty, Math.abs(presencePenalty) <= 2, "from -2 to 2");
        check(
                "repetition penalty",
                repetitionPenalty,
                repetitionPenalty > 0 && repetitionPenalty <= 2,
                "greater than 0 and at most 2");
        check("number of biased tokens", logitBias.size(), logitBias.size() <= MOST_BIASES, "at most " + MOST_BIASES);
        logitBias.forEach((token, bias) -> {
            check("a biased token", token, token >= 0, "0 or more");
            check("bias of token " + token, bias, Math.abs(bias) <= 100, "from -100 to 100");
        });
        check(
                "number of log probabilities",
                logProbabilities,
                logProbabilities == NONE || logProbabilities >= 0 && logProbabilities <= MOST_LOG_PROBABILITIES,
                "from 0 to " + MOST_LOG_PROBABILITIES);
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
                .seed(seed)
                .frequencyPenalty(frequencyPenalty)
                .presencePenalty(presencePenalty)
                .repetitionPenalty(repetitionPenalty)
                .logitBias(logitBias)
                .logProbabilities(logProbabilities)
                .constraint(constraint);
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

    /** Returns the amount that a token's logit loses for each time that the token was generated. */
    public float frequencyPenalty() {
        return frequencyPenalty;
    }

    /** Returns the amount that a generated token's logit loses once. */
    public float presencePenalty() {
        return presencePenalty;
    }

    /** Returns the divisor of positive logits, and factor of negative logits, of all tokens so far; 1 for none. */
    public float repetitionPenalty() {
        return repetitionPenalty;
    }

    /** Returns the numbers that are added to the logits of tokens. */
    public Map<Integer, Float> logitBias() {
        return logitBias;
    }

    /**
     * Returns how many of the most probable tokens are reported with each token.
     *
     * @return empty if no log probabilities are reported
     */
    public OptionalInt logProbabilities() {
        return logProbabilities == NONE ? OptionalInt.empty() : OptionalInt.of(logProbabilities);
    }

    /** Returns the constraint of the text, if any. */
    public Optional<TokenConstraint> constraint() {
        return Optional.ofNullable(constraint);
    }

    boolean isGreedy() {
        return temperature == 0;
    }

    boolean hasPenalties() {
        return frequencyPenalty != 0 || presencePenalty != 0 || repetitionPenalty != 1;
    }

    /** Returns an option that needs the logits of more than the most probable token, in words; empty if there is none. */
    public Optional<String> beyondGreedy() {
        if (temperature > 0) {
            return Optional.of("temperature " + temperature);
        }
        if (!logitBias.isEmpty()) {
            return Optional.of("a logit bias");
        }
        if (repetitionPenalty != 1 || frequencyPenalty != 0 || presencePenalty != 0) {
            return Optional.of("a penalty");
        }
        if (constraint != null) {
            return Optional.of("a constraint");
        }
        return logProbabilities().isPresent() ? Optional.of("log probabilities") : Optional.empty();
    }

    /** Builder of options. Not thread-safe. */
    public static final class Builder {
        private float temperature;
        private int topK;
        private float topP = 1;
        private float minP;
        private long seed;
        private float frequencyPenalty;
        private float presencePenalty;
        private float repetitionPenalty = 1;
        private Map<Integer, Float> logitBias = Map.of();
        private int logProbabilities = NONE;
        private @Nullable TokenConstraint constraint;

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
         * Restricts the choice to the most probable tokens that together reach a share of the probability. The token that
         * reaches the share is kept. The whole is the probability of the tokens left by {@link #topK}.
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
         * Restricts the choice to probable tokens. The share of {@link #topP} includes the tokens that are left out.
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
         * Sets the frequency penalty: a token's logit loses the penalty for each time that the token was generated.
         *
         * @param perTime from -2 to 2; 0 for none
         * @return this builder
         */
        public Builder frequencyPenalty(float perTime) {
            this.frequencyPenalty = perTime;
            return this;
        }

        /**
         * Sets the presence penalty: the logit of a generated token loses the penalty, however often the token was
         * generated.
         *
         * @param once from -2 to 2; 0 for none
         * @return this builder
         */
        public Builder presencePenalty(float once) {
            this.presencePenalty = once;
            return this;
        }

        /**
         * Sets the repetition penalty of the tokens of the prompt and of generated tokens: positive logits are divided by
         * the penalty, negative logits are multiplied.
         *
         * @param divisor greater than 0, at most 2; 1 for none
         * @return this builder
         */
        public Builder repetitionPenalty(float divisor) {
            this.repetitionPenalty = divisor;
            return this;
        }

        /**
         * Sets numbers that are added to the logits of tokens. A model that returns candidates only cannot choose another
         * token, whatever the bias.
         *
         * @param byToken at most 1024 numbers from -100 to 100; copied by {@link #build}
         * @return this builder
         */
        public Builder logitBias(Map<Integer, Float> byToken) {
            this.logitBias = byToken;
            return this;
        }

        /**
         * Requests the log probability of each chosen token, and of the most probable tokens.
         *
         * @param most number of the most probable tokens, from 0 to 20
         * @return this builder
         */
        public Builder logProbabilities(int most) {
            this.logProbabilities = most;
            return this;
        }

        /**
         * Constrains the text. Stop tokens are chosen only where the text is complete; where nothing can follow, the
         * generation ends with STOP.
         *
         * @param rule null for any text
         * @return this builder
         */
        public Builder constraint(@Nullable TokenConstraint rule) {
            this.constraint = rule;
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
