package io.github.iree4j.cluster.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Clocks are off and disks are full for the processes started by fault tests. */
@EnabledOnOs(OS.LINUX)
class FaultToolsTests {
    @TempDir
    private Path directory;

    private static String run(Map<String, String> environment, List<String> prefix, String... words)
            throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.environment().put("LC_ALL", "C");
        return new String(builder.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    @Test
    void theClockOfAProcessIsOffAsSet() throws IOException {
        SkewedClocks clocks = SkewedClocks.make(directory);
        assumeTrue(clocks != null, "no C compiler");
        for (long seconds : new long[] {0, 86_400, -86_400}) {
            Map<String, String> environment = Objects.requireNonNull(clocks).environment("a");
            clocks.set("a", seconds);
            String seen = run(environment, List.of(), "date", "+%s");
            assertThat(Long.parseLong(seen)).isCloseTo(System.currentTimeMillis() / 1000 + seconds, within(60L));
        }
    }

    @Test
    void nothingFitsOnAFullDiskUntilFreed() throws IOException {
        try (SmallDisks disks = SmallDisks.make(directory, 2)) {
            assumeTrue(disks != null, "no namespaces");
            Path file = Objects.requireNonNull(disks).folder(0).resolve("file");
            String write = "/bin/echo content > '%s' && cat '%s'".formatted(file, file);
            disks.fill(0);
            assertThat(run(Map.of(), disks.prefix(), "sh", "-c", write)).contains("No space left");
            disks.free(0);
            assertThat(run(Map.of(), disks.prefix(), "sh", "-c", write)).isEqualTo("content");
        }
    }
}
