package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cost of waking a worker, as far as measured. */
@Timeout(60)
class WakeCostTest {
    private final AtomicLong now = new AtomicLong();

    @Test
    void costFollowsTheWakeUps() {
        WakeCost cost = new WakeCost(null, true, now::get);
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
        WakeCost cost = new WakeCost(null, true, now::get);
        for (int i = 0; i < 100; i++) {
            cost.took(10_000);
        }
        cost.took(1_000_000_000);
        assertThat(cost.nanos()).isLessThan(15_000);
    }

    @Test
    void oneLateWakeUpInFourLeavesTheCostNearTheMedian() {
        WakeCost cost = new WakeCost(null, true, now::get);
        for (int i = 0; i < 1_000; i++) {
            cost.took(i % 4 == 0 ? 2_000_000 : 45_000);
        }
        assertThat(cost.nanos()).isBetween(45_000L, 90_000L);
    }

    @Test
    void aCostIsInDoubtWhenNoWakeUpHasCorrectedItForTenSeconds() {
        WakeCost cost = new WakeCost(null, true, now::get);
        for (int i = 0; i < 100; i++) {
            cost.took(400_000);
        }
        now.addAndGet(10_000_000_000L);
        assertThat(cost.isBelow(200_000)).isFalse();
        now.incrementAndGet();
        assertThat(cost.isBelow(90_000)).as("less than a quarter of the cost").isFalse();
        assertThat(cost.isBelow(200_000)).isTrue();
        cost.took(50_000);
        assertThat(cost.nanos()).isEqualTo(50_000);
        assertThat(cost.isBelow(40_000)).as("just measured").isFalse();
    }

    @Test
    void aLateWakeUpAfterTenSecondsCountsNoMoreThanOthers() {
        WakeCost cost = new WakeCost(null, true, now::get);
        for (int i = 0; i < 100; i++) {
            cost.took(40_000);
        }
        long known = cost.nanos();
        now.addAndGet(11_000_000_000L);
        cost.took(5_000_000);
        assertThat(cost.nanos()).isBetween(known, known + known / 8);
    }

    @Test
    void aGivenCostIsNeverInDoubt() {
        WakeCost cost = new WakeCost(Duration.ofNanos(400_000), true, now::get);
        now.addAndGet(Duration.ofHours(1).toNanos());
        assertThat(cost.isBelow(200_000)).isFalse();
    }

    @Test
    void costIsNeverTakenForMoreThanHalfAMillisecond() {
        WakeCost cost = new WakeCost(null, true, now::get);
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
        WakeCost cost = new WakeCost(Duration.ofNanos(7_000), true, now::get);
        cost.took(100_000);
        assertThat(cost.nanos()).isEqualTo(7_000);
        assertThat(new WakeCost(Duration.ZERO, true, now::get).nanos()).isEqualTo(1);
    }

    @Test
    void steppedWorkersAreNotMeasured() {
        WakeCost cost = new WakeCost(null, false, now::get);
        WakeCost other = new WakeCost(null, false, now::get);
        cost.took(100_000);
        long before = other.nanos(); // knowledge of the process may come at any time, once
        assertThat(cost.nanos()).isIn(before, other.nanos());
    }
}
