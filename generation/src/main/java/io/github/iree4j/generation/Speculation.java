package io.github.iree4j.generation;

import java.util.HashMap;
import java.util.Map;

/**
 * Decides whether a step verifies proposed tokens, by the times of earlier steps: a verifying step takes longer than a
 * decode step, and computes more tokens for each sequence. Tokens are the same either way. Not thread-safe.
 *
 * <p>An unknown time is measured by a step. Verification that does not pay is tried again after twice as many steps as
 * before, and while verification pays, a decode step is tried now and then. A trial replaces the mean of earlier times:
 * a single slow step decides until the next trial only.
 */
final class Speculation {
    private static final double WEIGHT = 0.125; // of the latest time in the mean
    private static final int SHORTEST_PAUSE = 16;
    private static final int LONGEST_PAUSE = 1024;
    private static final int DECODE_TRIAL = 64; // verifying steps between two decode steps

    private final int proposals;
    private final boolean always;
    private final Map<Entry, Double> decodeNanos = new HashMap<>();
    private final Map<Entry, Verification> verifications = new HashMap<>();
    private double unpaidNanos;
    private long proposedTokens;
    private long acceptedTokens;

    /** Verifying steps of a function. */
    private static final class Verification {
        double nanos;
        double acceptedPerSequence;
        int pause = SHORTEST_PAUSE;
        int left = SHORTEST_PAUSE; // decode steps until the next trial
        boolean trial; // whether the next verifying step is a trial
        int sinceDecode; // verifying steps since the last decode step
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
     * Decides whether proposals are worth looking for, before each decode step. Counts the steps of a pause.
     *
     * @param verify the function of a verifying step
     * @param decode the function of the decode step instead
     */
    boolean look(Entry verify, Entry decode) {
        Verification known = verifications.get(verify);
        if (always || known == null) {
            return true;
        }
        Double plain = decodeNanos.get(decode);
        if (plain == null || known.sinceDecode >= DECODE_TRIAL) {
            return false;
        }
        if (pays(known, plain, 1, 1)) {
            return true;
        }
        known.trial = --known.left <= 0;
        return known.trial;
    }

    /**
     * Returns whether to verify, after {@link #look}.
     *
     * @param sequences number of sequences of the step
     * @param proposing number of sequences with proposed tokens, at least 1
     */
    boolean isWorthwhile(Entry verify, Entry decode, int sequences, int proposing) {
        Verification known = verifications.get(verify);
        Double plain = decodeNanos.get(decode);
        return always || known == null || known.trial || plain != null && pays(known, plain, sequences, proposing);
    }

    private static boolean pays(Verification known, double plain, int sequences, int proposing) {
        return (sequences + proposing * known.acceptedPerSequence) * plain > sequences * known.nanos;
    }

    /** Records the time of a decode step. */
    void decoded(Entry entry, long nanos) {
        boolean trial = false;
        for (Verification each : verifications.values()) {
            trial |= each.sinceDecode >= DECODE_TRIAL;
            each.sinceDecode = 0;
        }
        if (trial) {
            decodeNanos.put(entry, (double) nanos);
        } else {
            decodeNanos.merge(entry, (double) nanos, Speculation::mean);
        }
    }

    /**
     * Records the time in which a draft read prompts, or proposed tokens that no step verifies. Later verifying steps pay
     * for the time, a part each, since later proposals use the same reading.
     */
    void drafted(long nanos) {
        unpaidNanos += nanos;
    }

    /**
     * Records a verifying step.
     *
     * @param stepNanos time of the step, and of its proposals
     * @param proposing number of sequences with proposed tokens, at least 1
     * @param proposed number of proposed tokens
     * @param accepted number of accepted tokens
     */
    void verified(Entry entry, long stepNanos, int proposing, int proposed, int accepted) {
        proposedTokens += proposed;
        acceptedTokens += accepted;
        double paid = WEIGHT * unpaidNanos;
        unpaidNanos -= paid;
        double nanos = stepNanos + paid;
        double each = (double) accepted / proposing;
        Verification known = verifications.get(entry);
        if (known == null) {
            known = new Verification();
            known.trial = true;
            verifications.put(entry, known);
        }
        if (known.trial) {
            known.trial = false;
            known.nanos = nanos;
            known.acceptedPerSequence = each;
            known.left = known.pause;
            known.pause = Math.min(LONGEST_PAUSE, 2 * known.pause);
        } else { // it pays
            known.nanos = mean(known.nanos, nanos);
            known.acceptedPerSequence = mean(known.acceptedPerSequence, each);
            known.pause = SHORTEST_PAUSE;
            known.left = SHORTEST_PAUSE;
        }
        known.sinceDecode++;
    }

    private static double mean(double before, double latest) {
        return before + WEIGHT * (latest - before);
    }
}
