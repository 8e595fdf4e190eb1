package io.github.iree4j.generation;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a step verifies proposed tokens, by the times of earlier steps: a verifying step takes longer than a
 * decode step, and computes more tokens for each sequence. Tokens are the same either way. Not thread-safe.
 *
 * <p>The latest times and numbers of accepted tokens, and their spread, give three answers. Verification that <em>pays</em>
 * is used, with a decode step now and then. While the answer is <em>unknown</em>, verifying and decode steps take turns.
 * Verification that <em>does not pay</em> is tried more and more rarely.
 *
 * <p>Invariant: the verifying steps of a function lose at most 1/32 of the time of the decode steps between them, beyond the
 * time gained before and the loss of two steps. Whatever the answer is, an account enforces the invariant. A verifying step
 * adds the time of the decode steps that it saves, and takes its time. Decode steps repay a debt from 1/32 of their time, and
 * while there is a debt, no step verifies. The account keeps the gains of a few steps only, so that old gains do not hide
 * new losses.
 */
class Speculation { // not final for tests that verify every proposal
    private static final int STEPS = 16; // whose times are known
    private static final double PART = 0.125; // of an earlier time for reading that a verifying step pays
    private static final double SHARE = 1.0 / 32; // of the time of decode steps that repays a debt
    private static final int RAREST = 8; // divides the share, while trials do not pay
    private static final int ERRORS = 2; // standard errors: one of twenty answers is wrong
    private static final int KEPT_GAINS = 8; // steps without accepted tokens that earlier gains allow
    private static final int DECODE_TRIAL = 64; // verifying steps between two decode steps

    private final int proposals;
    private final Map<Entry, Recent> decodeNanos = new HashMap<>();
    private final Map<Entry, Verification> verifications = new HashMap<>();
    private @Nullable Verification looked; // for the step in progress
    private double unpaidNanos;
    private long proposedTokens;
    private long acceptedTokens;
    private long pausedSteps;

    private enum Answer {
        PAYS,
        UNKNOWN,
        DOES_NOT_PAY
    }

    /** Verifying steps of a function. */
    private static final class Verification {
        final Recent nanos = new Recent(STEPS, true);
        final Recent acceptedPerSequence = new Recent(STEPS, false);
        Recent decode; // of the decode step instead
        double account; // nanoseconds; a debt is negative
        int rarity = 1; // divides the share
        int sinceDecode; // verifying steps since the last decode step
        boolean trial; // whether a verifying step is a trial though verification does not pay
        boolean pauses; // whether the step in progress may not verify

        Verification(Recent decode) {
            this.decode = decode;
        }

        /** Answers whether a verifying step computes more tokens in its time than a decode step. */
        Answer answer(int sequences, int proposing) {
            if (!nanos.isKnown() || !decode.isKnown()) {
                return Answer.UNKNOWN;
            }
            double part = (double) proposing / sequences;
            double ratio = nanos.mean() / decode.mean();
            double gain = 1 + part * acceptedPerSequence.mean() - ratio; // in decode steps
            double errors = ERRORS
                    * Math.hypot(
                            part * acceptedPerSequence.error(),
                            ratio * Math.hypot(nanos.error() / nanos.mean(), decode.error() / decode.mean()));
            if (Math.abs(gain) <= errors) {
                return Answer.UNKNOWN;
            }
            return gain > 0 ? Answer.PAYS : Answer.DOES_NOT_PAY;
        }

        /** Returns the time that a verifying step without accepted tokens loses; negative if such a step gains. */
        double loss() {
            return nanos.mean() - decode.mean();
        }

        /** Returns how many verifying steps may follow each other while it is unknown whether they pay: as many as earlier gains pay for. */
        int turn() {
            if (nanos.isEmpty()) {
                return 1;
            }
            return loss() * DECODE_TRIAL <= account ? DECODE_TRIAL : Math.max(1, (int) (account / loss()));
        }
    }

    /**
     * Creates a policy.
     *
     * @param proposals most proposed tokens of each sequence; 0 for no verifying steps
     */
    Speculation(int proposals) {
        this.proposals = proposals;
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

    /** Returns the number of decode steps that looked for no proposals, since earlier proposals did not pay. */
    long pausedSteps() {
        return pausedSteps;
    }

    /**
     * Decides whether proposals are worth looking for, before each decode step.
     *
     * @param verify the function of a verifying step
     * @param decode the function of the decode step instead
     */
    boolean look(Entry verify, Entry decode) {
        Recent plain = decodeNanos.computeIfAbsent(decode, _ -> new Recent(STEPS, true));
        Verification known = verifications.computeIfAbsent(verify, _ -> new Verification(plain));
        known.decode = plain;
        looked = known;
        Answer answer = known.answer(1, 1);
        known.trial = answer == Answer.DOES_NOT_PAY;
        known.pauses = known.account < 0;
        return !known.pauses
                && plain.isKnown()
                && known.sinceDecode < (answer == Answer.PAYS ? DECODE_TRIAL : known.turn());
    }

    /**
     * Returns whether to verify, after {@link #look}.
     *
     * @param sequences number of sequences of the step
     * @param proposing number of sequences with proposed tokens, at least 1
     */
    boolean isWorthwhile(int sequences, int proposing) {
        return looked == null || looked.trial || looked.answer(sequences, proposing) != Answer.DOES_NOT_PAY;
    }

    /**
     * Records decode steps.
     *
     * @param nanos mean time of a step
     * @param steps number of steps submitted at once
     */
    void decoded(Entry entry, long nanos, int steps) {
        if (proposals == 0) {
            return;
        }
        Recent known = decodeNanos.computeIfAbsent(entry, _ -> new Recent(STEPS, true));
        Verification instead = looked;
        looked = null;
        if (instead != null) {
            if (instead.sinceDecode >= DECODE_TRIAL && known.isOutside(nanos)) {
                known.clear(); // times have changed, or a pause of the machine: the next decode steps will tell
            }
            instead.sinceDecode = 0;
            if (instead.account < 0) {
                instead.account = Math.min(0, instead.account + SHARE / instead.rarity * nanos * steps);
            }
            pausedSteps += instead.pauses ? steps : 0;
        }
        known.add(nanos);
    }

    /** Records the time in which a draft read prompts. Later proposals pay a part each, since they use the same reading. */
    void drafted(long nanos) {
        unpaidNanos += nanos;
    }

    /** Records the time of proposals that no step verifies. */
    void vain(long nanos) {
        if (looked != null) {
            looked.account -= nanos + payPart();
        }
    }

    private double payPart() {
        double paid = PART * unpaidNanos;
        unpaidNanos -= paid;
        return paid;
    }

    /**
     * Records a verifying step.
     *
     * @param stepNanos time of the step, and of its proposals
     * @param sequences number of sequences of the step
     * @param proposing number of sequences with proposed tokens, at least 1
     * @param proposed number of proposed tokens
     * @param accepted number of accepted tokens
     */
    void verified(long stepNanos, int sequences, int proposing, int proposed, int accepted) {
        proposedTokens += proposed;
        acceptedTokens += accepted;
        Verification known = looked;
        looked = null;
        if (known == null) {
            return;
        }
        double nanos = stepNanos + payPart();
        double each = (double) accepted / proposing;
        double plain = known.decode.mean();
        if (known.trial && (1 + each) * plain <= nanos) {
            known.rarity = Math.min(RAREST, 2 * known.rarity);
            known.account = Math.min(0, known.account); // old gains pay for no trials
        } else {
            known.rarity = 1;
        }
        if (!known.nanos.isEmpty()) { // the first steps of a function are slow
            double saved = (sequences + accepted) * plain / sequences;
            double blamed = Math.min(nanos, known.nanos.highest()); // longer is perhaps a pause of the machine
            double most = KEPT_GAINS * (Math.max(0, known.loss()) + known.nanos.deviation());
            known.account = Math.min(known.account + saved - blamed, most);
        }
        known.nanos.add(nanos);
        known.acceptedPerSequence.add(each);
        known.sinceDecode++;
    }
}
