package io.github.iree4j.hal.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DriverOptionsTest {
    private record Toaster(int slices) implements DriverOptions {}

    @Test
    void aDriverGetsItsOwnOptionsAndTheDefaultsWithoutAny() {
        DeviceOptions options = DeviceOptions.builder()
                .with(new Toaster(2))
                .with(VulkanOptions.DEFAULTS.compiledCode("off"))
                .build();
        assertThat(options.driver(new Toaster(1))).isEqualTo(new Toaster(2));
        assertThat(options.driver(VulkanOptions.DEFAULTS).compiledCode()).isEqualTo("off");
        assertThat(options.driver(CpuOptions.DEFAULTS)).isSameAs(CpuOptions.DEFAULTS);
        assertThat(options.toBuilder().build()).usingRecursiveComparison().isEqualTo(options);
    }

    @Test
    void theLastOptionsOfATypeReplaceTheOthersAndMayBuildOnThem() {
        DeviceOptions.Builder builder =
                DeviceOptions.builder().with(new Toaster(2)).with(CpuOptions.DEFAULTS.workers(3));
        builder.with(new Toaster(builder.driver(new Toaster(0)).slices() + 5));
        DeviceOptions options = builder.build();
        assertThat(options.driver(new Toaster(0)).slices()).isEqualTo(7);
        assertThat(options.driver(CpuOptions.DEFAULTS).workers()).isEqualTo(3);
    }

    @Test
    void missingAbilitiesOfTheProcessorAreNamed() {
        assertRefused(() -> CpuOptions.DEFAULTS.workers(65), "'workers' is 65 and must be within [0, 64]");
        assertRefused(() -> CpuOptions.DEFAULTS.workers(-1), "'workers' is -1");
        assertRefused(
                () -> CpuOptions.DEFAULTS.inlineWork(Duration.ofSeconds(2)),
                "'inlineWork' is 2 s and must be within [0 s, 1 s]");
        assertRefused(() -> CpuOptions.DEFAULTS.inlineWork(Duration.ofDays(365_000)), "'inlineWork' is 31536000000 s");
    }

    private static void assertRefused(Runnable call, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call::run)
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }
}
