package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The decision to verify proposed tokens, and the proposals. */
class SpeculationTest {
    private static final Entry VERIFY = new Entry("prefill_bs4", true, 4);
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

    private static boolean verifies(Speculation speculation, int sequences, int proposing) {
        return speculation.look(VERIFY, DECODE) && speculation.isWorthwhile(VERIFY, DECODE, sequences, proposing);
    }

    @Test
    void anUnknownTimeIsMeasured() {
        Speculation speculation = new Speculation(4, false);
        assertThat(verifies(speculation, 2, 1)).as("never verified").isTrue();
        speculation.verified(VERIFY, 100, 1, 4, 4);
        assertThat(verifies(speculation, 2, 1)).as("never decoded").isFalse();
        assertThat(speculation.proposedTokens()).isEqualTo(4);
        assertThat(speculation.acceptedTokens()).isEqualTo(4);
    }

    @Test
    void verificationIsWorthwhileIfItComputesMoreTokensInItsTime() {
        Speculation speculation = new Speculation(4, false);
        speculation.decoded(DECODE, 100);
        speculation.verified(VERIFY, 200, 2, 8, 4); // two tokens for each sequence with proposals
        assertThat(verifies(speculation, 2, 2)).as("3 tokens in 200").isTrue();
        assertThat(verifies(speculation, 4, 1)).as("1.5 tokens in 200").isFalse();
    }

    @Test
    void verificationThatDoesNotPayIsTriedAgainMoreAndMoreRarely() {
        Speculation speculation = new Speculation(4, false);
        speculation.decoded(DECODE, 100);
        int trials = 0;
        for (int step = 0; step < 2000; step++) {
            if (verifies(speculation, 1, 1)) {
                trials++;
                speculation.verified(VERIFY, 1000, 1, 4, 0);
            }
        }
        assertThat(trials).isEqualTo(7); // at once, then after 16, 32, 64, … steps
    }

    @Test
    void aSlowTrialDecidesUntilTheNextOnly() {
        Speculation speculation = new Speculation(4, false);
        speculation.decoded(DECODE, 100);
        speculation.verified(VERIFY, 100_000, 1, 4, 3); // a pause of the machine
        int steps = 0;
        while (!verifies(speculation, 1, 1)) {
            speculation.decoded(DECODE, 100);
            steps++;
        }
        assertThat(steps).isLessThan(20);
        speculation.verified(VERIFY, 150, 1, 4, 3);
        assertThat(verifies(speculation, 1, 1)).as("pays").isTrue();
    }

    @Test
    void aSlowDecodeStepDoesNotKeepVerificationForEver() {
        Speculation speculation = new Speculation(4, false);
        speculation.decoded(DECODE, 100_000);
        int steps = 0;
        while (steps < 1000 && verifies(speculation, 1, 1)) {
            speculation.verified(VERIFY, 1000, 1, 4, 0);
            steps++;
        }
        assertThat(steps).as("then a decode step is measured").isLessThan(100);
        speculation.decoded(DECODE, 100);
        assertThat(verifies(speculation, 1, 1)).isFalse();
    }

    @Test
    void laterStepsPayForTheTimeInWhichADraftReadAPrompt() {
        Speculation speculation = new Speculation(4, false);
        speculation.decoded(DECODE, 100);
        speculation.verified(VERIFY, 150, 1, 4, 1);
        assertThat(verifies(speculation, 1, 1)).as("2 tokens in 150").isTrue();
        speculation.drafted(1000);
        speculation.verified(VERIFY, 150, 1, 4, 1);
        assertThat(verifies(speculation, 1, 1)).as("a prompt now and then").isTrue();
        int steps = 0;
        while (steps < 100 && verifies(speculation, 1, 1)) {
            speculation.drafted(1000);
            speculation.verified(VERIFY, 150, 1, 4, 1);
            steps++;
        }
        assertThat(steps).as("a prompt for each step").isLessThan(10);
        for (int i = 0; i < 40; i++) {
            speculation.verified(VERIFY, 150, 1, 4, 1);
        }
        assertThat(verifies(speculation, 1, 1)).as("all is paid").isTrue();
    }

    @Test
    void testsCanVerifyEveryProposal() {
        Speculation speculation = new Speculation(4, true);
        speculation.decoded(DECODE, 1);
        speculation.verified(VERIFY, 1000, 1, 4, 0);
        assertThat(verifies(speculation, 1, 1)).isTrue();
    }
}
