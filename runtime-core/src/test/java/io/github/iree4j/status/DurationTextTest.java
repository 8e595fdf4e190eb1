package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class DurationTextTest {
    @Test
    void limitsAreExactInTheLargestUnit() {
        assertThat(DurationText.of(Duration.ZERO)).isEqualTo("0 s");
        assertThat(DurationText.of(Duration.ofMinutes(10))).isEqualTo("600 s");
        assertThat(DurationText.of(Duration.ofMillis(8))).isEqualTo("8 ms");
        assertThat(DurationText.of(Duration.ofMillis(1_500))).isEqualTo("1500 ms");
        assertThat(DurationText.of(Duration.ofNanos(1_500_001_000))).isEqualTo("1500001 us");
        assertThat(DurationText.of(Duration.ofNanos(1))).isEqualTo("1 ns");
        assertThat(DurationText.of(Duration.ofMillis(-1_500))).isEqualTo("-1500 ms");
        assertThat(DurationText.of(ChronoUnit.FOREVER.getDuration())).isEqualTo("9223372036854775807999999999 ns");
    }

    @Test
    void measuredTimesAreRoundedToATenthOfASecond() {
        assertThat(DurationText.rounded(Duration.ofNanos(8_512_345_678L))).isEqualTo("8.5 s");
        assertThat(DurationText.rounded(Duration.ofMillis(59_990))).isEqualTo("60 s");
        assertThat(DurationText.rounded(Duration.ofMillis(49))).isEqualTo("0 s");
    }
}
