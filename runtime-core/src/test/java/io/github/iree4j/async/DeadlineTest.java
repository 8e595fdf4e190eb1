package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DeadlineTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - SECOND.toNanos() / 2); // overflows on the way

    private Deadline after(Duration timeout) {
        return Deadline.after(timeout, clock::get);
    }

    @Test
    void deadlinePassesAfterItsTimeoutEvenWhenTheClockOverflows() {
        Deadline deadline = after(SECOND);
        clock.addAndGet(SECOND.toNanos() - 1);
        assertThat(deadline.hasPassed()).isFalse();
        assertThat(deadline.left()).isEqualTo(Duration.ofNanos(1));
        assertThat(deadline).hasToString("1 ns left of 1 s");
        clock.incrementAndGet();
        assertThat(deadline.hasPassed()).isTrue();
        clock.addAndGet(SECOND.toNanos());
        assertThat(deadline.hasPassed()).isTrue();
        assertThat(deadline.left()).isZero();
        assertThat(deadline.timeout()).isEqualTo(SECOND);
    }

    @Test
    void timeoutsOfAnyLengthArePossible() {
        assertThat(after(Duration.ofSeconds(-1)).hasPassed()).isTrue();
        assertThat(after(Duration.ZERO).hasPassed()).isTrue();
        Deadline endless = after(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(endless.hasPassed()).isFalse();
        clock.addAndGet(Duration.ofDays(36_500).toNanos());
        assertThat(endless.hasPassed()).isFalse();
        assertThat(Deadline.earliest(endless, after(SECOND)).timeout()).isEqualTo(SECOND);
    }

    @Test
    void earlierDeadlineWinsWhateverItsTimeout() {
        Deadline first = after(SECOND.multipliedBy(3));
        clock.addAndGet(SECOND.toNanos() * 2);
        Deadline second = after(SECOND.multipliedBy(2)); // a second after the first
        assertThat(Deadline.earliest(first, second)).isSameAs(first);
        assertThat(Deadline.earliest(second, first)).isSameAs(first);
        assertThat(Deadline.earliest(null, first)).isSameAs(first);
        assertThat(Deadline.earliest(first, null)).isSameAs(first);
        assertThat(Deadline.earliest(null, null)).isNull();
    }
}
