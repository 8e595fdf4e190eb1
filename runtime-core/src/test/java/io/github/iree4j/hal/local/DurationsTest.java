package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The durations of workgroups of executables, as far as measured. */
class DurationsTest {
    private final LocalExecutable code = new LocalExecutable("test", new TaskQueueFixture.Kernel());

    @BeforeEach
    void runOnce() {
        code.took(0, 1, 1, 50_000_000);
        run(LocalExecutable.NEW_RUNS);
    }

    private void run(int times) {
        for (int i = 0; i < times; i++) {
            code.ran(0);
        }
    }

    @Test
    void aSingleRunIsNoEvidence() {
        LocalExecutable other = new LocalExecutable("test", new TaskQueueFixture.Kernel());
        for (int i = 0; i < LocalExecutable.NEW_RUNS; i++) {
            assertThat(other.nanos(0, 1, 1)).isZero();
            assertThat(other.isShort(0, 1, 1)).isFalse();
            other.took(0, 1, 1, 100);
            other.ran(0);
        }
        assertThat(other.nanos(0, 1, 1)).isEqualTo(100);
        assertThat(other.isShort(0, 1, 1)).isTrue();
    }

    @Test
    void afterASurpriseNothingIsKnownForManyRuns() {
        code.took(0, 1, 1, 100);
        code.took(0, 1, 1, 8_000_000_000L);
        run(LocalExecutable.DOUBTED_RUNS - 1);
        assertThat(code.nanos(0, 1, 1)).isZero();
        assertThat(code.isShort(0, 1, 1)).isFalse();
        run(1);
        assertThat(code.nanos(0, 1, 1)).isBetween(100, 200);
    }

    @Test
    void workLongEachTimeIsKnown() {
        for (int i = 0; i < 30; i++) {
            code.took(0, 1, 1, 120_000_000);
            assertThat(code.nanos(0, 1, 1)).isBetween(50_000_000, 120_000_000);
        }
        assertThat(code.nanos(0, 1, 1)).isGreaterThan(115_000_000);
    }

    @Test
    void theFirstRunCountsUntilTheNext() {
        assertThat(code.isShort(0, 1, 1)).isFalse();
        assertThat(code.nanos(0, 1, 1)).isEqualTo(50_000_000);
        code.took(0, 1, 1, 100);
        assertThat(code.nanos(0, 1, 1)).isEqualTo(100);
    }

    @Test
    void alternatingShapesHaveSeparateDurations() {
        for (int i = 0; i < 100; i++) {
            code.took(0, 1, 1, 100_000);
            code.took(0, 64, 64, 6_400);
        }
        assertThat(code.nanos(0, 1, 1)).isEqualTo(100_000);
        assertThat(code.nanos(0, 64, 64)).isEqualTo(6_400);
        assertThat(code.nanos(0, 64, 1)).isEqualTo(100);
    }

    @Test
    void aDelayedRunIsForgottenWithTheNext() {
        code.took(0, 8, 8, 800_000_000);
        code.took(0, 8, 8, 8_000);
        assertThat(code.nanos(0, 8, 8)).isEqualTo(8_000);
    }

    @Test
    void longWorkIsMeasuredEachTime() {
        code.took(0, 8, 8, 800);
        assertThat(code.isShort(0, 8, 8)).isTrue();
        code.took(0, 9, 9, 9_000_000);
        assertThat(code.isShort(0, 9, 1)).isFalse();
    }

    @Test
    void aFirstEstimateDoesNotStick() {
        code.took(0, 8, 8, 8_000_000);
        for (int i = 0; i < 60; i++) {
            code.took(0, 8, 8, 8_000);
        }
        assertThat(code.nanos(0, 8, 8)).isBetween(8_000, 8_100);
        for (int i = 0; i < 60; i++) {
            code.took(0, 8, 8, 8_000_000);
        }
        assertThat(code.nanos(0, 8, 8)).isBetween(4_000_000, 8_000_000);
    }

    @Test
    void unmeasuredWorkIsUnknown() {
        LocalExecutable other = new LocalExecutable("test", new TaskQueueFixture.Kernel());
        assertThat(other.isShort(0, 8, 8)).isFalse();
        assertThat(other.nanos(0, 8, 8)).isZero();
        code.took(0, 8, 2, 200);
        assertThat(code.isShort(0, 8, 8)).isTrue();
        assertThat(code.isShort(0, 9, 9)).isFalse();
        assertThat(code.nanos(0, 9, 9)).as("as other dispatches of the export").isEqualTo(900);
        assertThat(code.isShort(0, 0, 0)).isFalse();
    }

    @Test
    void dispatchesOfAnyNumberOfWorkgroupsAreMeasured() {
        code.took(0, 1L << 40, 4, 4_000);
        assertThat(code.nanos(0, 1L << 40, 1)).isEqualTo(1_000);
        assertThat(code.nanos(0, 1L << 40, 1L << 40)).isEqualTo(Integer.MAX_VALUE);
        code.took(0, 0xFFFF_FFFFL, 1, 3_000);
        assertThat(code.nanos(0, 0xFFFF_FFFFL, 1)).isEqualTo(3_000);
    }
}
