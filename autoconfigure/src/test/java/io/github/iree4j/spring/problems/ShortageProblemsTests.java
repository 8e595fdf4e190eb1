package io.github.iree4j.spring.problems;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ShortageProblemsTests {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SIZE = 1 << 20;

    private final IreeRuntime runtime = IreeRuntime.builder()
            .device(
                    "local",
                    "local",
                    DeviceOptions.builder()
                            .memoryLimit(2 * SIZE)
                            .memoryHostWait(Duration.ofMillis(1))
                            .build())
            .build();
    private long now;
    private final ShortageProblems problems = new ShortageProblems(runtime, () -> now);

    @AfterEach
    void close() {
        runtime.close();
    }

    private void fail(int bytes) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> {
                    try (Buffer buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, bytes)) {
                        throw new AssertionError(buffer + " fits");
                    }
                })
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
    }

    @Test
    void requestsForMemoryOfOthersAreReportedUntilNoneHasFailedForThePatienceOfTheWatchdog() throws Exception {
        assertThat(problems.find(PATIENCE)).isEmpty();
        try (Tensor kept = runtime.upload(Tensor.of(new float[SIZE / 4]))) {
            assertThat(kept.byteSize()).isEqualTo(SIZE);
            fail(SIZE + SIZE / 2);
            fail(SIZE + SIZE / 2);
            assertThat(runtime.device().allocator().poolStatistics().pools().stream()
                            .mapToLong(PoolStatistics::failures)
                            .sum())
                    .as("each is counted once")
                    .isEqualTo(2);
            MemoryShortage found = (MemoryShortage) problems.find(PATIENCE).getFirst();
            assertThat(found.subject()).isEqualTo("device 'local'");
            assertThat(found.failed()).isEqualTo(2);
            assertThat(found.awaited()).matches(SIZE + SIZE / 2 + " bytes of pool '.+'");
            assertThat(found.held())
                    .isEqualTo("the limit is %d bytes, and the application holds %d bytes", 2 * SIZE, SIZE);
            assertThat(found.openTensors()).isEqualTo(1);
            ProblemFinderTests.assertDocumented(
                    found, "have failed", "since others held the memory", "holds", "tensors were open");
            now += PATIENCE.toNanos();
            fail(SIZE + SIZE / 2);
            now++;
        }
        assertThat(problems.find(PATIENCE)).singleElement().isInstanceOfSatisfying(MemoryShortage.class, again -> {
            assertThat(again.failed()).isEqualTo(3);
            assertThat(again.since()).isEqualTo(PATIENCE.plusNanos(1));
        });
        now += PATIENCE.toNanos() + 1;
        assertThat(problems.find(PATIENCE)).isEmpty();
        assertThat(problems.find(PATIENCE)).isEmpty();
    }

    @Test
    void anImpossibleRequestIsTheFaultOfItsCaller() {
        assertThat(problems.find(PATIENCE)).isEmpty();
        fail(3 * SIZE);
        assertThat(problems.find(PATIENCE)).isEqualTo(List.of());
    }
}
