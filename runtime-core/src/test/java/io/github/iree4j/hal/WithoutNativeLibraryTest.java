package io.github.iree4j.hal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files and timers of a process without a native library. */
@Timeout(600)
class WithoutNativeLibraryTest {
    @Test
    void threadsReadAndWriteFiles(@TempDir Path directory) throws Exception {
        byte[] contents = new byte[5_000_000];
        contents[100] = 42;
        Path path = Files.write(directory.resolve("data.bin"), contents);
        Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-Diree.native.library-path=" + directory.resolve("none"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ReadsAFile.class.getName(),
                        path.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(said).contains("thread pool (").contains("none");
        assertThat(said.lines()).contains("42");
        assertThat(process.exitValue()).isZero();
        assertThat(Files.readAllBytes(path)[0]).isEqualTo((byte) 42);
    }
}
