package io.github.iree4j.generation;

import java.util.List;

/**
 * The sequences and pages of a generator between two steps.
 *
 * @param pages pages of the cache, page 0 included, which is for padding
 * @param pageTokens tokens per page
 * @param keptPages numbers of the pages of earlier sequences that no sequence uses, the page to be used again first
 *     first
 * @param sequences sequences in the order of their beginning, then sequences without pages
 */
public record GeneratorSnapshot(int pages, int pageTokens, List<Integer> keptPages, List<SequenceState> sequences) {

    /** Copies the lists. */
    public GeneratorSnapshot {
        keptPages = List.copyOf(keptPages);
        sequences = List.copyOf(sequences);
    }

    /**
     * A sequence.
     *
     * @param number place in the order of submission, {@link Generation#number()}
     * @param tenant the request's tenant; empty without a tenant
     * @param promptTokens tokens of the prompt
     * @param generatedTokens tokens chosen so far
     * @param maximumTokens most tokens to generate
     * @param computedTokens tokens with keys and values in pages
     * @param sharedPages how many of the first pages other sequences may use, too
     * @param pages numbers of the pages, in the order of tokens; empty when the sequence waits
     */
    public record SequenceState(
            long number,
            String tenant,
            int promptTokens,
            int generatedTokens,
            int maximumTokens,
            int computedTokens,
            int sharedPages,
            List<Integer> pages) {

        /** Copies the list. */
        public SequenceState {
            pages = List.copyOf(pages);
        }
    }
}
