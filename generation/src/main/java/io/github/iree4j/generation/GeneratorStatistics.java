package io.github.iree4j.generation;

/**
 * The state of a generator between two steps, and its counters since the start.
 *
 * @param pages pages of the cache, without page 0
 * @param freePages pages without contents
 * @param keptPages pages of earlier prompts and answers that no sequence uses, free when needed
 * @param running sequences with pages
 * @param waiting sequences without pages
 * @param prefillSteps steps that read prompts, or generated tokens again
 * @param decodeSteps steps that read the last token of each sequence, and proposed tokens
 * @param promptTokens tokens of prompts, when a sequence begins for the first time
 * @param sharedTokens tokens of these prompts whose pages were kept or in use
 * @param generatedTokens tokens chosen
 * @param preemptions sequences that lost their pages to a sequence that began earlier
 * @param proposedTokens tokens proposed by look-up or by a draft, and read by a step
 * @param acceptedTokens proposed tokens that were the tokens chosen
 * @param pausedSteps decode steps without a search for proposals, since proposals did not pay
 * @param restoredPages pages copied back from the memory of the host
 */
public record GeneratorStatistics(
        int pages,
        int freePages,
        int keptPages,
        int running,
        int waiting,
        long prefillSteps,
        long decodeSteps,
        long promptTokens,
        long sharedTokens,
        long generatedTokens,
        long preemptions,
        long proposedTokens,
        long acceptedTokens,
        long pausedSteps,
        long restoredPages) {}
