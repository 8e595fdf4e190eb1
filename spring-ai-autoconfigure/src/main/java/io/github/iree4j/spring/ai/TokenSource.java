package io.github.iree4j.spring.ai;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.generation.Generator;
import io.github.iree4j.generation.sampling.LogProbabilities;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.observation.conventions.AiOperationType;

/** Continues prompts. Thread-safe. */
interface TokenSource extends AutoCloseable {

    /**
     * Prepares the source, if its program is loaded.
     *
     * @param size one more than the highest token of prompts
     * @throws IreeException if prompts cannot be continued
     */
    void check(int size);

    /**
     * Waits until the source can be used without waiting, as long as its program stays loaded.
     *
     * @param deadline of the wait; null for none
     * @throws IreeException if prompts cannot be continued; DEADLINE_EXCEEDED at the deadline
     */
    default void load(@Nullable Deadline deadline) {}

    /**
     * Returns the most tokens of a prompt and the answer together.
     *
     * @throws IreeException if prompts cannot be continued
     */
    int maximumTokens();

    /**
     * Submits a request, and returns at once.
     *
     * @param request the request
     * @param operation the operation in meters
     * @throws IreeException if the request is rejected
     */
    Tokens submit(GenerationRequest request, AiOperationType operation);

    /** Returns the generator in use; empty before the first use, and of a source without a generator. */
    default Optional<Generator> generator() {
        return Optional.empty();
    }

    /** Adds a listener of the generations submitted from now on. */
    default void listen(GenerationListener listener) {}

    @Override
    void close();

    /** The tokens of an answer. {@link #cancel} is thread-safe. */
    interface Tokens {

        /**
         * Waits until {@link #next} returns without waiting, but not longer than a limit.
         *
         * @param limit the longest wait
         * @return whether {@link #next} returns, or throws, without waiting
         */
        boolean await(Duration limit) throws InterruptedException;

        /**
         * Waits for the next token.
         *
         * @return empty after the last token
         * @throws IreeException the failure of the request
         */
        OptionalInt next() throws InterruptedException;

        /** Returns why the answer ended; after the last token. */
        FinishReason reason();

        /** Returns how many tokens of the prompt were known from other requests. */
        int sharedTokens();

        /** Returns the log probabilities of a token returned before, from 0; only if requested. */
        LogProbabilities logProbabilities(int index);

        /** Ends the request, if it has not ended. */
        void cancel();
    }
}
