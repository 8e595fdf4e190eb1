package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class TimepointRingTest {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 1);

    private final TimepointRing ring = new TimepointRing();

    private long found(long epoch) {
        NativeTimepoint mark = Objects.requireNonNull(ring.atOrAbove(epoch));
        return mark.epoch();
    }

    @Test
    void theEarliestMarkAtOrAboveImpliesAnEpoch() {
        assertThat(ring.atOrAbove(1)).isNull();
        for (long epoch : new long[] {3, 5, 9}) {
            ring.add("queue", AXIS, epoch, Frontier.producedBy(AXIS, epoch));
        }
        assertThat(found(1)).isEqualTo(3);
        assertThat(found(3)).isEqualTo(3);
        assertThat(found(4)).isEqualTo(5);
        assertThat(found(6)).isEqualTo(9);
        assertThat(ring.atOrAbove(10)).isNull();
    }

    @Test
    void aLateMarkHasItsPlaceAndNoEpochHasTwoMarks() {
        for (long epoch : new long[] {3, 9, 5, 5, 1, 9}) {
            ring.add("queue", AXIS, epoch, Frontier.producedBy(AXIS, epoch));
        }
        assertThat(ring.size()).isEqualTo(4);
        assertThat(found(1)).isEqualTo(1);
        assertThat(found(2)).isEqualTo(3);
        assertThat(found(4)).isEqualTo(5);
        assertThat(found(6)).isEqualTo(9);
        for (long epoch = 10; epoch <= 100; epoch++) {
            ring.add("queue", AXIS, 2 * epoch, Frontier.producedBy(AXIS, 2 * epoch));
        }
        ring.add("queue", AXIS, 70, Frontier.producedBy(AXIS, 70));
        ring.add("queue", AXIS, 151, Frontier.producedBy(AXIS, 151));
        assertThat(ring.size()).isEqualTo(64);
        assertThat(found(1)).as("older than all, and implied by them").isEqualTo(76);
        assertThat(found(150)).isEqualTo(150);
        assertThat(found(151)).isEqualTo(151);
        assertThat(found(152)).isEqualTo(152);
    }

    @Test
    void anEpochOlderThanAllMarksIsImpliedByTheOldest() {
        for (long epoch = 1; epoch <= 200; epoch++) {
            ring.add("queue", AXIS, epoch, Frontier.producedBy(AXIS, epoch));
        }
        assertThat(found(1)).isEqualTo(137);
        assertThat(found(137)).isEqualTo(137);
        assertThat(found(180)).isEqualTo(180);
        assertThat(found(200)).isEqualTo(200);
        assertThat(ring.atOrAbove(201)).isNull();
    }
}
