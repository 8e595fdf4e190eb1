package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver of HIP has a second name, from earlier releases of IREE. */
class HipNamesTest {
    @ParameterizedTest
    @ValueSource(strings = {"rocm", "rocm:0", "rocm://0"})
    void aDeviceOfRocmIsADeviceOfHip(String uri) {
        assumeTrue(new HipDriverProvider().availability().available(), "no driver of HIP");
        try (IreeRuntime runtime = IreeRuntime.builder().device(uri).build()) {
            assertThat(runtime.device().id()).isEqualTo("hip:0");
        }
    }

    @Test
    void programsFindHipByBothNames(@TempDir Path directory) {
        try (StreamDevice hip =
                        GpuDrivers.fake(directory, GpuKind.HIP, "").driver().open("hip", DeviceOptions.DEFAULTS);
                StreamDevice cuda =
                        GpuDrivers.fake(directory, GpuKind.CUDA, "").driver().open("cuda", DeviceOptions.DEFAULTS)) {
            assertThat(hip.queryI64("hal.device.id", "hip*")).hasValue(1);
            assertThat(hip.queryI64("hal.device.id", "rocm*")).hasValue(1);
            assertThat(cuda.queryI64("hal.device.id", "rocm*")).hasValue(0);
        }
    }
}
