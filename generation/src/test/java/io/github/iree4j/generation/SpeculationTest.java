package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The decision to verify proposed tokens, and the proposals. */
@Tag("long")
class SpeculationTest {
    private static final Entry VERIFY = new Entry("prefill_bs4", true, 4);
    private static final int TRIALS = Effort.rounds(400, 4000);
    private static final long SEED = Effort.seed(SpeculationTest.class, TRIALS + " trials", 1);
    private static final Entry DECODE = new Entry("decode_bs4", false, 4);

    private static int propose(int most, int... tokens) {
        int[] room = Arrays.copyOf(tokens, tokens.length + most);
        int count = PromptLookup.propose(room, tokens.length, most);
        int digits = 0;
        for (int i = 0; i < count; i++) {
            digits = digits * 10 + room[tokens.length + i];
        }
        return digits;
    }

    @Test
    void theTokensBehindTheLatestEarlierOccurrenceAreProposed() {
        assertThat(propose(2, 1, 2, 3, 4, 9, 1, 2, 5, 6, 8, 1, 2)).isEqualTo(56);
        assertThat(propose(2, 1, 2, 3, 4, 9, 2, 3, 5, 7, 1, 2, 3))
                .as("three tokens are better than two")
                .isEqualTo(49);
    }

    @Test
    void aPeriodShorterThanTheProposalRepeats() {
        assertThat(propose(5, 7, 1, 2, 1, 2)).isEqualTo(12121);
        assertThat(propose(3, 4, 4, 4)).isEqualTo(444);
    }

    @Test
    void nothingIsProposedWithoutARepetition() {
        assertThat(propose(3, 1, 2, 3, 4)).isZero();
        assertThat(propose(3, 1)).isZero();
        assertThat(propose(3, 1, 1)).isZero();
    }

    /** A program on a clock: how long its steps take, and how many proposed tokens they accept. */
    private static final class Costs {
        private final Speculation speculation = new Speculation(8);
        private final SplittableRandom random;
        private final double noise;
        private double decode = 1e6;
        private double verify;
        private IntSupplier accepted;
        private int verified;
        private int longestPause; // decode steps between two verifying steps
        private int decoded;
        private double nanos;
        private double plainNanos; // for the same tokens

        Costs(double verify, double noise, SplittableRandom random, IntSupplier accepted) {
            this.verify = verify * decode;
            this.noise = noise;
            this.random = random;
            this.accepted = accepted;
        }

        static Costs exact(double verify, int accepted) {
            return new Costs(verify, 0, new SplittableRandom(0), () -> accepted);
        }

        private double time(double mean) {
            return mean * (1 + noise * (2 * random.nextDouble() - 1));
        }

        /** Generates tokens of a sequence. */
        Costs generate(int tokens) {
            for (int left = tokens; left > 0; left--) {
                if (speculation.look(VERIFY, DECODE) && speculation.isWorthwhile(1, 1)) {
                    int count = accepted.getAsInt();
                    double time = time(verify);
                    speculation.verified((long) time, 1, 1, 8, count);
                    nanos += time;
                    plainNanos += (1 + count) * decode;
                    left -= count;
                    verified++;
                    decoded = 0;
                } else {
                    double time = time(decode);
                    speculation.decoded(DECODE, (long) time, 1);
                    nanos += time;
                    plainNanos += decode;
                    longestPause = Math.max(longestPause, ++decoded);
                }
            }
            return this;
        }

        Costs forget() {
            verified = 0;
            longestPause = 0;
            nanos = 0;
            plainNanos = 0;
            return this;
        }

        double slowdown() {
            return nanos / plainNanos;
        }
    }

    private static boolean verifies(Speculation speculation, int sequences, int proposing) {
        return speculation.look(VERIFY, DECODE) && speculation.isWorthwhile(sequences, proposing);
    }

    private static void decode(Speculation speculation, int steps) {
        for (int i = 0; i < steps; i++) {
            assertThat(verifies(speculation, 1, 1)).isFalse();
            speculation.decoded(DECODE, 100, 1);
        }
    }

    @Test
    void unknownTimesAreMeasuredInTurns() {
        Speculation speculation = new Speculation(4);
        decode(speculation, 4);
        for (int i = 0; i < 3; i++) {
            assertThat(verifies(speculation, 1, 1)).isTrue();
            speculation.verified(200, 1, 1, 4, 1);
            decode(speculation, 1);
        }
        assertThat(speculation.proposedTokens()).isEqualTo(12);
        assertThat(speculation.acceptedTokens()).isEqualTo(3);
    }

    @Test
    void verificationIsWorthwhileIfMoreTokensAreComputedInTheTime() {
        Speculation speculation = new Speculation(4);
        decode(speculation, 4);
        for (int i = 0; i < 4; i++) {
            assertThat(verifies(speculation, 2, 2)).isTrue();
            speculation.verified(200, 2, 2, 8, 4); // two tokens for each sequence with proposals
            speculation.look(VERIFY, DECODE);
            speculation.decoded(DECODE, 100, 1);
        }
        assertThat(verifies(speculation, 2, 2)).as("3 tokens in 200").isTrue();
        assertThat(verifies(speculation, 4, 1)).as("1.5 tokens in 200").isFalse();
    }

    @Test
    void whetherVerificationPaysIsUnknownWhileTheSpreadIsWide() {
        Speculation speculation = new Speculation(8);
        decode(speculation, 4);
        for (int accepted : new int[] {0, 8, 0, 0}) { // 3 tokens in 2.5 steps, on average
            while (!verifies(speculation, 1, 1)) {
                speculation.decoded(DECODE, 100, 1);
            }
            speculation.verified(250, 1, 1, 8, accepted);
        }
        speculation.look(VERIFY, DECODE);
        speculation.decoded(DECODE, 100, 1);
        for (int i = 0; i < 2; i++) {
            assertThat(verifies(speculation, 1, 1)).as("earlier gains pay").isTrue();
            speculation.verified(250, 1, 1, 8, 1);
        }
        assertThat(verifies(speculation, 1, 1)).as("it is a decode step's turn").isFalse();
    }

    @Test
    void uselessVerificationLosesASmallPartOfTheTime() {
        for (double verify : new double[] {1.1, 2, 5, 40}) {
            Costs costs = Costs.exact(verify, 0).generate(1000);
            assertThat(costs.slowdown()).as("at first, of %s", verify).isLessThan(1 + 1 / 32.0 + 2 * verify / 1000);
            assertThat(costs.generate(50_000).forget().generate(50_000).slowdown())
                    .as("later")
                    .isLessThan(1 + 1 / 250.0);
            assertThat(costs.speculation.pausedSteps()).as("of 101,000").isGreaterThan(90_000);
        }
    }

    /** The tokens gained are worth the time of the step, on average: times and gains are as random as the seed says. */
    @Test
    void verificationCostingItsSavingsLosesAtMostItsShare() {
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            int most = random.nextInt(1, 9);
            int run = random.nextInt(1, 20); // right and wrong proposals come in runs
            double right = random.nextDouble();
            int[] state = new int[2];
            IntSupplier accepted = () -> {
                if (state[0]-- <= 0) {
                    state[0] = random.nextInt(run);
                    state[1] = random.nextDouble() < right ? most : 0;
                }
                return state[1];
            };
            double noise = random.nextDouble() / 2;
            Costs costs = new Costs(1 + right * most, noise, random, accepted).generate(20_000);
            assertThat(costs.slowdown())
                    .as("trial %d, seed %d: %d of %s, in runs of %d, noise %s", trial, SEED, most, right, run, noise)
                    .isLessThan(1 + 1 / 32.0);
        }
    }

    @Test
    void clearlyPayingVerificationIsUsed() {
        for (int trial = 0; trial < TRIALS; trial++) {
            SplittableRandom random = new SplittableRandom(SEED + trial);
            double noise = random.nextDouble() / 2;
            Costs costs = new Costs(2, noise, random, () -> random.nextInt(9)).generate(20_000);
            assertThat(costs.slowdown())
                    .as("5 tokens in 2, trial %d, seed %d, noise %s", trial, SEED, noise)
                    .isLessThan(1.1 * 2 / 5);
        }
    }

    @Test
    void payingVerificationIsUsedAtOnce() {
        assertThat(Costs.exact(2, 4).generate(60).verified).as("of 12 steps").isGreaterThan(8);
    }

    @Test
    void changesOfCostsAreFollowed() {
        Costs costs = Costs.exact(2, 4).generate(10_000);
        costs.accepted = () -> 0;
        costs.forget().generate(500);
        assertThat(costs.verified).as("earlier gains hide no losses").isLessThan(24);

        costs.generate(50_000);
        costs.accepted = () -> 4;
        costs.forget().generate(10_000);
        assertThat(costs.longestPause).isLessThan(300);
        assertThat(costs.verified).as("of 2000").isGreaterThan(1900);

        costs.decode /= 3; // the device has less to do beside
        costs.forget().generate(1000);
        assertThat(costs.slowdown()).as("5 tokens in 6").isLessThan(1.15);
        costs.forget().generate(20_000);
        assertThat(costs.slowdown()).isLessThan(1 + 1 / 32.0);
    }

    @Test
    void timesOfLongAgoDoNotHidePayingVerification() {
        Costs costs = Costs.exact(5, 0).generate(50_000);
        costs.verify = 2 * costs.decode;
        int[] count = new int[1];
        costs.accepted = () -> count[0]++ % 2 * 4;
        assertThat(costs.forget().generate(10_000).slowdown())
                .as("3 tokens in 2")
                .isLessThan(0.8);
    }

    /** Parts of an answer repeat the prompt, and others do not: gains of a part do not pay for the losses of the next. */
    @Test
    void partsOfTheTextWithoutRightProposalsAreNoticed() {
        SplittableRandom random = new SplittableRandom(SEED);
        Costs costs = Costs.exact(2, 0);
        int[] state = new int[2];
        costs.accepted = () -> state[1];
        while (state[0]++ < 2000) {
            state[1] = random.nextInt(2) * 8;
            costs.generate(random.nextInt(4, 30));
        }
        assertThat(costs.slowdown()).isLessThan(0.87);
    }

    @Test
    void aPauseOfTheMachineDuringAVerifyingStepChangesNothing() {
        Costs costs = Costs.exact(2, 4).generate(1000);
        while (!verifies(costs.speculation, 1, 1)) {
            costs.speculation.decoded(DECODE, (long) costs.decode, 1);
        }
        costs.speculation.verified((long) (1000 * costs.decode), 1, 1, 8, 4);
        assertThat(costs.forget().generate(100).verified).as("of 20").isGreaterThan(18);
    }

    @Test
    void aPauseOfTheMachineDuringTheFirstVerifyingStepDelaysTheNextByADecodeStep() {
        Speculation speculation = new Speculation(8);
        decode(speculation, 4);
        assertThat(verifies(speculation, 1, 1)).isTrue();
        speculation.verified(100_000, 1, 1, 8, 4);
        decode(speculation, 1);
        assertThat(verifies(speculation, 1, 1)).isTrue();
    }

    @Test
    void aPauseOfTheMachineDuringADecodeStepDoesNotKeepVerification() {
        Costs costs = Costs.exact(10, 0).generate(100).forget();
        costs.speculation.decoded(DECODE, 1_000_000_000, 1);
        costs.generate(1000);
        assertThat(costs.verified).isLessThan(5);
    }

    @Test
    void decodeStepsAreMeasuredWhileVerificationPays() {
        Costs costs = Costs.exact(2, 4).generate(20_000).forget();
        costs.generate(1000);
        assertThat(costs.longestPause).isEqualTo(1);
    }

    @Test
    void laterStepsPayForTheTimeOfAReadPrompt() {
        Costs costs = Costs.exact(1.5, 1).generate(1000).forget();
        costs.speculation.drafted(10_000_000);
        costs.generate(400);
        assertThat(costs.verified).as("a prompt now and then").isGreaterThan(100);
        costs.forget();
        IntSupplier accepted = costs.accepted;
        costs.accepted = () -> {
            costs.speculation.drafted(10_000_000);
            return 1;
        };
        costs.generate(400);
        assertThat(costs.verified).as("a prompt for each step").isLessThan(20);
        costs.accepted = accepted;
        costs.generate(20_000).forget().generate(1000);
        assertThat(costs.slowdown()).as("all is paid").isLessThan(0.8);
    }

    @Test
    void unverifiedProposalsAreSoughtRarely() {
        Speculation speculation = new Speculation(4);
        decode(speculation, 4);
        int looks = 0;
        for (int i = 0; i < 1000; i++) {
            if (speculation.look(VERIFY, DECODE)) {
                looks++;
                speculation.vain(100);
            }
            speculation.decoded(DECODE, 100, 1);
        }
        assertThat(looks).isBetween(25, 35);
        assertThat(speculation.pausedSteps()).isEqualTo(1000 - looks);
    }

    @Test
    void stepsWithoutProposalsPayForNoLaterLosses() {
        Costs costs = Costs.exact(5, 0);
        for (int i = 0; i < 100_000; i++) {
            costs.speculation.look(VERIFY, DECODE); // and no token is proposed
            costs.speculation.decoded(DECODE, 1_000_000, 1);
        }
        assertThat(costs.generate(100).verified).isLessThanOrEqualTo(2);
    }
}
