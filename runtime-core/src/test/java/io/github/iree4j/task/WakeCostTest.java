package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cost of waking a worker, as far as measured. */
@Timeout(60)
class WakeCostTest {
    @Test
    void costFollowsTheWakeUps() {
        WakeCost cost = new WakeCost(null, true);
        for (int i = 0; i < 100; i++) {
            cost.took(60_000);
        }
        assertThat(cost.nanos()).isBetween(55_000L, 65_000L);
        for (int i = 0; i < 100; i++) {
            cost.took(4_000);
        }
        assertThat(cost.nanos()).isBetween(4_000L, 5_000L);
    }

    @Test
    void aDelayedWorkerCountsLittle() {
        WakeCost cost = new WakeCost(null, true);
        for (int i = 0; i < 100; i++) {
            cost.took(10_000);
        }
        cost.took(1_000_000_000);
        assertThat(cost.nanos()).isLessThan(15_000);
    }

    @Test
    void costIsNeverTakenForMoreThanHalfAMillisecond() {
        WakeCost cost = new WakeCost(null, true);
        for (int i = 0; i < 100; i++) {
            cost.took(Long.MAX_VALUE);
        }
        assertThat(cost.nanos()).isEqualTo(500_000);
    }

    @Test
    void aGivenCostIsKept() {
        try (ProcessExecutor executor =
                ProcessExecutor.builder(1).wakeCost(Duration.ofNanos(7_000)).build()) {
            assertThat(executor.wakeNanos()).isEqualTo(7_000);
        }
        WakeCost cost = new WakeCost(Duration.ofNanos(7_000), true);
        cost.took(100_000);
        assertThat(cost.nanos()).isEqualTo(7_000);
        assertThat(new WakeCost(Duration.ZERO, true).nanos()).isEqualTo(1);
    }

    @Test
    void steppedWorkersAreNotMeasured() {
        WakeCost cost = new WakeCost(null, false);
        WakeCost other = new WakeCost(null, false);
        cost.took(100_000);
        long before = other.nanos(); // knowledge of the process may come at any time, once
        assertThat(cost.nanos()).isIn(before, other.nanos());
    }
}
