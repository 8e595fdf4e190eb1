package io.github.iree4j.generation;

import java.util.List;

/**
 * Proposes the next tokens of a sequence: the tokens after the latest earlier occurrence of the sequence's last tokens.
 * Answers often repeat parts of their prompts, and of themselves.
 *
 * @see <a href="https://github.com/apoorvumang/prompt-lookup-decoding">Prompt lookup decoding, 2023</a>
 */
final class PromptLookup implements Proposer {
    private static final int LONGEST = 3;
    private static final int SHORTEST = 2;
    private static final int FARTHEST = 4096; // tokens to look back, since each step looks for each sequence

    @Override
    public Proposals propose(List<Sequence> sequences, int[] most) {
        int[] counts = new int[most.length];
        for (int i = 0; i < counts.length; i++) {
            Sequence each = sequences.get(i);
            counts[i] = propose(each.tokens(), each.length(), most[i]);
        }
        return new Proposals(counts, 0, 0);
    }

    /**
     * Writes proposed tokens behind the known tokens.
     *
     * @param tokens array with room for {@code length + most} tokens
     * @param length number of known tokens
     * @param most most tokens to propose
     * @return number of proposed tokens; 0 if the last two tokens occur for the first time
     */
    static int propose(int[] tokens, int length, int most) {
        for (int size = Math.min(LONGEST, length - 1); size >= SHORTEST; size--) {
            int farthest = Math.max(size, length - FARTHEST);
            for (int end = length - 1; end >= farthest; end--) {
                if (isSame(tokens, end - size, length - size, size)) {
                    // Tokens behind the known tokens are proposals, too: a period shorter than the proposal repeats.
                    for (int i = 0; i < most; i++) {
                        tokens[length + i] = tokens[end + i];
                    }
                    return most;
                }
            }
        }
        return 0;
    }

    private static boolean isSame(int[] tokens, int one, int other, int count) {
        for (int i = 0; i < count; i++) {
            if (tokens[one + i] != tokens[other + i]) {
                return false;
            }
        }
        return true;
    }
}
