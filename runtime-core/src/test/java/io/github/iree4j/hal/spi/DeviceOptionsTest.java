package io.github.iree4j.hal.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DeviceOptionsTest {
    /** The options of durations. */
    enum Time {
        memoryIdle,
        memoryWait,
        memoryHostWait;

        DeviceOptions set(Duration value) {
            DeviceOptions.Builder builder = DeviceOptions.builder();
            return switch (this) {
                case memoryIdle -> builder.memoryIdle(value).build();
                case memoryWait -> builder.memoryWait(value).build();
                case memoryHostWait -> builder.memoryHostWait(value).build();
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void durationsBeyondNanosecondsAreNamed(Time time) {
        for (Duration impossible : new Duration[] {Duration.ofDays(365L * 300), Duration.ofNanos(-1)}) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> time.set(impossible))
                    .withMessage(
                            "'%s' is %s and must be within [0 s, 9223372036854775807 ns]",
                            time, DurationText.of(impossible))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @ParameterizedTest
    @EnumSource
    void theLongestDurationIsTaken(Time time) {
        assertThatNoException().isThrownBy(() -> time.set(Duration.ofNanos(Long.MAX_VALUE)));
    }
}
