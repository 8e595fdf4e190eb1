package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.mock.env.MockEnvironment;

/** The parts of stopping take no longer than a phase may. */
class StopTimesTests {

    @ParameterizedTest
    @ValueSource(strings = {"100ms", "1s", "5s", "30s", "10m"})
    void theSumIsAPhase(String phase) {
        MockEnvironment environment =
                new MockEnvironment().withProperty("spring.lifecycle.timeout-per-shutdown-phase", phase);
        for (Duration drain : new Duration[] {Duration.ZERO, Duration.ofSeconds(20), Duration.ofHours(1)}) {
            StopTimes times = StopTimes.of(environment).within(drain);
            assertThat(times.draining()).isLessThanOrEqualTo(drain);
            assertThat(times.serving().plus(times.cancelling().multipliedBy(2)).plus(times.closing()))
                    .isLessThanOrEqualTo(org.springframework.boot.convert.DurationStyle.detectAndParse(phase));
        }
    }
}
