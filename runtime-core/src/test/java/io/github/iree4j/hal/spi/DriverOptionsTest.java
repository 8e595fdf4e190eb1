package io.github.iree4j.hal.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DriverOptionsTest {
    private record Toaster(int slices) implements DriverOptions {}

    @Test
    void aDriverGetsItsOwnAndTheDefaultsWithoutAny() {
        DeviceOptions options = DeviceOptions.builder()
                .with(new Toaster(2))
                .with(new VulkanOptions("off"))
                .build();
        assertThat(options.driver(new Toaster(1))).isEqualTo(new Toaster(2));
        assertThat(options.driver(VulkanOptions.DEFAULT).compiledCode()).isEqualTo("off");
        assertThat(options.driver(CpuOptions.DEFAULT)).isSameAs(CpuOptions.DEFAULT);
        assertThat(options.toBuilder().build()).isEqualTo(options);
    }

    @Test
    void theLastOfATypeReplacesTheOthersAndMayBuildOnThem() {
        DeviceOptions.Builder builder =
                DeviceOptions.builder().with(new Toaster(2)).with(CpuOptions.DEFAULT.withWorkers(3));
        builder.with(new Toaster(builder.driver(new Toaster(0)).slices() + 5));
        DeviceOptions options = builder.build();
        assertThat(options.drivers()).hasSize(2);
        assertThat(options.driver(new Toaster(0)).slices()).isEqualTo(7);
        assertThat(options.driver(CpuOptions.DEFAULT).workers()).isEqualTo(3);
    }

    @Test
    void twoOfATypeAreRefused() {
        assertRefused(
                () -> new DeviceOptions(
                        0,
                        0,
                        Map.of(),
                        SchedulingDomain.ofProcess(),
                        Duration.ZERO,
                        0,
                        Duration.ZERO,
                        Duration.ZERO,
                        1,
                        Set.of(),
                        "",
                        List.of(new Toaster(1), new Toaster(2))),
                "Toaster[slices=1], Toaster[slices=2]");
    }

    @Test
    void whatTheProcessorCannotDoIsNamed() {
        assertRefused(() -> CpuOptions.DEFAULT.withWorkers(65), "'workers' is 65 and must be within [0, 64]");
        assertRefused(() -> CpuOptions.DEFAULT.withWorkers(-1), "'workers' is -1");
        assertRefused(() -> CpuOptions.DEFAULT.withInlineWork(Duration.ofSeconds(2)), "'inlineNanos' is 2000000000");
        assertRefused(
                () -> CpuOptions.DEFAULT.withInlineWork(Duration.ofDays(365_000)), "'inlineWork' is 31536000000 s");
    }

    private static void assertRefused(Runnable call, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call::run)
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }
}
