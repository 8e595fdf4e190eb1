package io.github.iree4j.generation;

import java.util.List;

/** Proposes the next tokens of sequences, for a step to verify. A wrong proposal costs time, and changes no token. */
interface Proposer {
    /** Returns the most tokens that can be proposed for a sequence; 0 for none. Without limit unless overridden. */
    default int most(Sequence sequence) {
        return Integer.MAX_VALUE;
    }

    /** Returns whether a sequence needs pages for its proposed tokens before they are proposed. False unless overridden. */
    default boolean needsPages() {
        return false;
    }

    /**
     * Writes proposed tokens behind the known tokens of sequences.
     *
     * @param sequences the sequences, each with room for its proposed tokens
     * @param most most tokens to propose for each sequence, as far as {@link #most} allows; 0 for none
     */
    Proposals propose(List<Sequence> sequences, int[] most);

    /**
     * Proposals for sequences.
     *
     * @param counts number of tokens proposed for each sequence
     * @param readNanos time for reading tokens that the proposer had not read in earlier rounds, 0 or more
     * @param nanos time for the proposed tokens, 0 or more
     */
    record Proposals(int[] counts, long readNanos, long nanos) {}
}
