package io.github.iree4j.generation;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A prompt, and how to continue the prompt. Immutable. */
public final class GenerationRequest {
    private final int[] prompt;
    private final int maximumTokens;
    private final Set<Integer> stopTokens;
    private final SamplingOptions sampling;
    private final @Nullable Duration timeout;
    private final @Nullable Deadline deadline; // with its timeout
    private final String tenant;

    private GenerationRequest(
            int[] prompt,
            int maximumTokens,
            Set<Integer> stopTokens,
            SamplingOptions sampling,
            @Nullable Duration timeout,
            @Nullable Deadline deadline,
            String tenant) {
        this.prompt = prompt;
        this.maximumTokens = maximumTokens;
        this.stopTokens = stopTokens;
        this.sampling = sampling;
        this.timeout = timeout;
        this.deadline = deadline;
        this.tenant = tenant;
    }

    /**
     * Creates a request for greedy decoding without stop tokens.
     *
     * @param maximumTokens most tokens to generate, at least 1
     * @param prompt tokens, not empty; copied
     * @return the request
     * @throws IreeException INVALID_ARGUMENT for an empty prompt or a maximum below 1
     */
    public static GenerationRequest of(int maximumTokens, int... prompt) {
        if (prompt.length == 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "the prompt has no tokens; give a token or more");
        }
        if (maximumTokens < 1) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "at most %d tokens are requested; request at least 1".formatted(maximumTokens));
        }
        return new GenerationRequest(prompt.clone(), maximumTokens, Set.of(), SamplingOptions.GREEDY, null, null, "");
    }

    /**
     * Returns a request that also ends after any of these tokens.
     *
     * @param tokens the tokens; a stop token is the last token of the result
     * @return the request
     */
    public GenerationRequest stopAt(Set<Integer> tokens) {
        return new GenerationRequest(prompt, maximumTokens, Set.copyOf(tokens), sampling, timeout, deadline, tenant);
    }

    /**
     * Returns a request with other rules for the choice of tokens.
     *
     * @param options the rules
     * @return the request
     */
    public GenerationRequest sampling(SamplingOptions options) {
        return new GenerationRequest(prompt, maximumTokens, stopTokens, options, timeout, deadline, tenant);
    }

    /**
     * Returns a request that fails with DEADLINE_EXCEEDED after a time, counted from the submission. Replaces a deadline.
     *
     * @param limit the time, checked between steps, and 0.1 s later during a step; null for none
     * @return the request
     */
    public GenerationRequest timeout(@Nullable Duration limit) {
        return new GenerationRequest(prompt, maximumTokens, stopTokens, sampling, limit, null, tenant);
    }

    /**
     * Returns a request that fails with DEADLINE_EXCEEDED at a deadline: time that has passed before the submission
     * counts. Replaces a timeout.
     *
     * @param end the deadline, checked between steps, and 0.1 s later during a step; null for none
     * @return the request
     */
    public GenerationRequest deadline(@Nullable Deadline end) {
        return new GenerationRequest(
                prompt, maximumTokens, stopTokens, sampling, end == null ? null : end.timeout(), end, tenant);
    }

    /**
     * Begins the time of the request.
     *
     * @param nanoTime the clock, unless the time has begun
     * @return the deadline; null for none
     */
    @Nullable
    Deadline begin(LongSupplier nanoTime) {
        return deadline != null || timeout == null ? deadline : Deadline.after(timeout, nanoTime);
    }

    /**
     * Returns a request of a tenant. Tenants take turns: a tenant with many requests does not delay the others. Without a
     * quota ({@link GeneratorOptions.Builder#requestsPerTenant}) a tenant may still use up the number of requests that
     * may wait.
     *
     * @param name any name; empty for the requests without a tenant
     * @return the request
     */
    public GenerationRequest tenant(String name) {
        return new GenerationRequest(prompt, maximumTokens, stopTokens, sampling, timeout, deadline, name);
    }

    /** Returns the tokens of the prompt, a copy. */
    public int[] prompt() {
        return prompt.clone();
    }

    /** Returns the number of tokens of the prompt. */
    public int promptLength() {
        return prompt.length;
    }

    /** Returns the most tokens to generate. */
    public int maximumTokens() {
        return maximumTokens;
    }

    /** Returns the tokens that end the result. */
    public Set<Integer> stopTokens() {
        return stopTokens;
    }

    /** Returns the rules for the choice of tokens. */
    public SamplingOptions sampling() {
        return sampling;
    }

    /** Returns a new sampler for the tokens after the prompt. */
    Sampler sampler() {
        return new Sampler(sampling, stopTokens, prompt);
    }

    /** Returns the time limit, from the submission or from the beginning of the deadline. */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }

    /** Returns the name of the tenant; empty without a tenant. */
    public String tenant() {
        return tenant;
    }

    /** Returns the highest token of the prompt, which programs do not check. */
    int highestToken() {
        return Arrays.stream(prompt).max().orElseThrow();
    }

    /** Returns the lowest token of the prompt. */
    int lowestToken() {
        return Arrays.stream(prompt).min().orElseThrow();
    }

    @Override
    public String toString() {
        return "request of %d tokens for at most %d".formatted(prompt.length, maximumTokens);
    }
}
