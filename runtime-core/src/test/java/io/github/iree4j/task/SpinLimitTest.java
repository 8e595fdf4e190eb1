package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How long idle workers spin. */
class SpinLimitTest {
    private static final long LONGEST = 16 * Tuning.LEAST_SPIN_NANOS;

    private final SpinLimit spin = new SpinLimit(LONGEST);

    @Test
    void unsuccessfulSpinsBecomeShorterButDoNotEnd() {
        assertThat(spin.nanos(false)).isEqualTo(LONGEST);
        spin.inVain();
        assertThat(spin.nanos(false)).isEqualTo(LONGEST / 2);
        for (int i = 0; i < 10; i++) {
            spin.inVain();
        }
        assertThat(spin.nanos(false)).isEqualTo(Tuning.LEAST_SPIN_NANOS);
    }

    @Test
    void successfulSpinsBecomeLongerUpToTheLimit() {
        spin.inVain();
        spin.inVain();
        spin.paid();
        assertThat(spin.nanos(false)).isEqualTo(LONGEST / 2);
        spin.paid();
        spin.paid();
        assertThat(spin.nanos(false)).isEqualTo(LONGEST);
    }

    @Test
    void shortSleepMakesTheNextSpinLonger() {
        spin.inVain();
        spin.slept(LONGEST + 1);
        assertThat(spin.nanos(false)).isEqualTo(LONGEST / 2);
        spin.slept(LONGEST - 1);
        assertThat(spin.nanos(false)).isEqualTo(LONGEST);
    }

    @Test
    void spinsForTheFullLimitWhileMoreWorkersAreWanted() {
        spin.inVain();
        assertThat(spin.nanos(true)).isEqualTo(LONGEST);
        assertThat(spin.nanos(false)).isEqualTo(LONGEST / 2);
    }

    @Test
    void withoutALimitThereIsNoSpin() {
        SpinLimit none = new SpinLimit(0);
        none.paid();
        none.inVain();
        none.slept(0);
        assertThat(none.nanos(true)).isZero();
    }
}
