package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process ends although streams have work, hang or are full. */
class GpuExitTest {
    @ParameterizedTest
    @CsvSource({"CUDA, end, hang", "CUDA, exit, hang", "HIP, end, go", "HIP, exit, hang", "CUDA, exit, go"})
    void aProcessEndsWithWorkInFlight(GpuKind kind, String how, String hardware, @TempDir Path directory)
            throws Exception {
        FakeGpu library = FakeGpu.in(directory, FakeGpu.Kind.valueOf(kind.name()), "slow=1000");
        if (hardware.equals("hang")) {
            library.hang();
        }
        Path output = directory.resolve("output.txt");
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        GpuExit.class.getName(),
                        kind.name(),
                        library.library(),
                        how)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends").isTrue();
            assertThat(Files.readString(output)).contains("begun").doesNotContain("Exception");
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
