package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How far the text of a sequence is in the automaton of a constraint. Not thread-safe. */
final class ConstraintState {
    private final TokenConstraint constraint;
    private final int[] stopTokens; // ascending
    private int state = ByteAutomaton.START;
    private int length;

    ConstraintState(TokenConstraint constraint, Set<Integer> stopTokens) {
        this.constraint = constraint;
        this.stopTokens = stopTokens.stream().mapToInt(each -> each).sorted().toArray();
    }

    /**
     * Returns the indices of the tokens that may follow, ascending: tokens whose text may follow, and where the text is
     * complete, the stop tokens. Nothing if the text is complete, and each token excluded.
     *
     * @param tokens the tokens, ascending; null if the indices are the tokens
     * @param count number of tokens
     * @throws IreeException FAILED_PRECONDITION when no token may follow a text that is not complete
     */
    int[] allowed(int @Nullable [] tokens, int count) {
        long[] following = constraint.following(state);
        boolean complete = constraint.automaton().isAccepting(state);
        int[] allowed = new int[count];
        int found = 0;
        for (int i = 0; i < count; i++) {
            int token = tokens == null ? i : tokens[i];
            if (isStop(token) ? complete : contains(following, token)) {
                allowed[found++] = i;
            }
        }
        if (found == 0 && (!complete || length == 0)) { // an answer has a token
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    (tokens == null
                                    ? "none of the model's %d tokens continues the text of the constraint after %d tokens; the vocabulary lacks characters that the constraint needs"
                                    : "none of the model's %d candidates continues the text of the constraint after %d tokens; use a module that returns the logits of all tokens, or a larger top_k")
                            .formatted(count, length));
        }
        return Arrays.copyOf(allowed, found);
    }

    private boolean isStop(int token) {
        return stopTokens.length > 0 && Arrays.binarySearch(stopTokens, token) >= 0;
    }

    private static boolean contains(long[] set, int token) {
        return token / Long.SIZE < set.length && (set[token / Long.SIZE] & 1L << token) != 0;
    }

    /** Continues with a token. */
    void accept(int token) {
        length++;
        if (!isStop(token)) {
            state = constraint.automaton().next(state, constraint.vocabulary().text(token));
        }
    }

    /** Returns whether the text is complete, and nothing but a stop token can follow. */
    boolean isComplete() {
        if (!constraint.automaton().isAccepting(state)) {
            return false;
        }
        long[] following = constraint.following(state);
        for (int i = 0; i < following.length; i++) {
            for (long left = following[i]; left != 0; left &= left - 1) {
                if (!isStop(i * Long.SIZE + Long.numberOfTrailingZeros(left))) {
                    return false;
                }
            }
        }
        return true;
    }
}
