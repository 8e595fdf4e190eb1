package io.github.iree4j.generation;

import io.github.iree4j.generation.sampling.LogProbabilities;
import java.util.List;

/**
 * The tokens generated for a request.
 *
 * @param tokens the tokens, without the prompt; a stop token included
 * @param reason why generation ended
 * @param sharedTokens tokens of the prompt whose keys and values were in the cache
 * @param logProbabilities the log probabilities of each token; empty unless requested
 */
public record GenerationResult(
        List<Integer> tokens, FinishReason reason, int sharedTokens, List<LogProbabilities> logProbabilities) {
    /** Why generation ended. */
    public enum FinishReason {
        /** The last token is a stop token, or nothing can follow by the constraint. */
        STOP,
        /** The maximum of the request is reached. */
        LENGTH
    }

    /** Copies the lists. */
    public GenerationResult {
        tokens = List.copyOf(tokens);
        logProbabilities = List.copyOf(logProbabilities);
    }
}
