package io.github.iree4j.generation;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a step verifies proposed tokens, by the times of earlier steps: a verifying step takes longer than a
 * decode step, and computes more tokens for each sequence. Tokens are the same either way. Not thread-safe.
 *
 * <p>An unknown time is measured by a step. Verification that does not pay is tried again after twice as many steps as
 * before.
 */
final class Speculation {
    private static final double WEIGHT = 0.125; // of the latest time in the mean
    private static final int SHORTEST_PAUSE = 16;
    private static final int LONGEST_PAUSE = 4096;

    private final int proposals;
    private final boolean always;
    private final Map<Entry, Double> decodeNanos = new HashMap<>();
    private final Map<Entry, Trial> trials = new HashMap<>();
    private long proposedTokens;
    private long acceptedTokens;

    /** Verifying steps of a function. */
    private static final class Trial {
        double nanos;
        double acceptedPerSequence;
        int pause = SHORTEST_PAUSE;
        int left = SHORTEST_PAUSE; // decode steps until the next trial
    }

    /**
     * Creates a policy.
     *
     * @param proposals most proposed tokens of each sequence; 0 for no verifying steps
     * @param always whether every proposal is verified, for tests
     */
    Speculation(int proposals, boolean always) {
        this.proposals = proposals;
        this.always = always;
    }

    /** Returns the most tokens to propose for a sequence. */
    int proposals() {
        return proposals;
    }

    long proposedTokens() {
        return proposedTokens;
    }

    long acceptedTokens() {
        return acceptedTokens;
    }

    /**
     * Returns whether to verify.
     *
     * @param verify the function of the verifying step
     * @param decode the function of the decode step instead
     * @param sequences number of sequences of the step
     * @param proposing number of sequences with proposed tokens, at least 1
     */
    boolean isWorthwhile(Entry verify, Entry decode, int sequences, int proposing) {
        Double plain = decodeNanos.get(decode);
        Trial trial = trials.get(verify);
        if (always || trial == null) {
            return true;
        }
        if (plain == null) {
            return false;
        }
        double gained = sequences + proposing * trial.acceptedPerSequence;
        if (gained * plain > sequences * trial.nanos) {
            trial.pause = SHORTEST_PAUSE;
            trial.left = SHORTEST_PAUSE;
            return true;
        }
        if (--trial.left > 0) {
            return false;
        }
        trial.pause = Math.min(LONGEST_PAUSE, 2 * trial.pause);
        trial.left = trial.pause;
        return true;
    }

    /** Records the time of a decode step. */
    void decoded(Entry entry, long nanos) {
        decodeNanos.merge(entry, (double) nanos, Speculation::mean);
    }

    /**
     * Records a verifying step.
     *
     * @param proposing number of sequences with proposed tokens, at least 1
     * @param proposed number of proposed tokens
     * @param accepted number of accepted tokens
     */
    void verified(Entry entry, long nanos, int proposing, int proposed, int accepted) {
        proposedTokens += proposed;
        acceptedTokens += accepted;
        double each = (double) accepted / proposing;
        @Nullable Trial trial = trials.get(entry);
        if (trial == null) {
            trial = new Trial();
            trial.nanos = nanos;
            trial.acceptedPerSequence = each;
            trials.put(entry, trial);
        } else {
            trial.nanos = mean(trial.nanos, (double) nanos);
            trial.acceptedPerSequence = mean(trial.acceptedPerSequence, each);
        }
    }

    private static double mean(double before, double latest) {
        return before + WEIGHT * (latest - before);
    }
}
