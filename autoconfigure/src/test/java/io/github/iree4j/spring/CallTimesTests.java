package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Figures are of calls, as many as there were, and of the last minute. */
class CallTimesTests {

    private final AtomicLong clock = new AtomicLong();
    private final CallTimes times = new CallTimes(clock::get);

    private void call(long millis) {
        long begun = clock.get();
        clock.addAndGet(Duration.ofMillis(millis).toNanos());
        times.ended(begun, false);
    }

    @Test
    void withoutCallsThereAreNoFigures() {
        assertThat(times.durations()).isEqualTo(new CallDurations(0, 0, 0, null, null, null));
    }

    @Test
    void ofFewCallsThereIsTheSlowestAndNoPercentile() {
        call(5);
        call(1);
        call(9);
        assertThat(times.durations())
                .isEqualTo(new CallDurations(3, 0, 3, Duration.ofMillis(5), null, Duration.ofMillis(9)));
    }

    @Test
    void ofAHundredCallsTheFiguresAreTheNearestRanks() {
        for (int i = 1; i <= 100; i++) {
            call(i);
        }
        assertThat(times.durations())
                .isEqualTo(new CallDurations(
                        100, 0, 100, Duration.ofMillis(50), Duration.ofMillis(99), Duration.ofMillis(100)));
    }

    @Test
    void callsOfLongAgoCountAndAreNotMeasured() {
        call(5);
        clock.addAndGet(Duration.ofSeconds(60).toNanos());
        assertThat(times.durations().measured()).isEqualTo(1);
        clock.addAndGet(1);
        assertThat(times.durations()).isEqualTo(new CallDurations(1, 0, 0, null, null, null));
    }

    @Test
    void ofManyCallsTheLatestAreMeasured() {
        call(1000);
        for (int i = 0; i < 1024; i++) {
            call(1);
        }
        assertThat(times.durations().ended()).isEqualTo(1025);
        assertThat(times.durations().measured()).isEqualTo(1024);
        assertThat(times.durations().slowest()).isEqualTo(Duration.ofMillis(1));
    }

    @Test
    void refusedCallsAreCountedAndShortenNoFigure() {
        call(5);
        for (int i = 0; i < 2000; i++) {
            times.ended(clock.get(), true);
        }
        call(7);
        assertThat(times.durations())
                .isEqualTo(new CallDurations(2002, 2000, 2, Duration.ofMillis(5), null, Duration.ofMillis(7)));
    }
}
