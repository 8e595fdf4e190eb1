package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.vm.NativeModule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Programs with the same archive share the mapping; the operating system reports the number of mappings. */
@EnabledOnOs(OS.LINUX)
class SharedArchivesTest {
    @TempDir
    private Path directory;

    private static long mappings(Path file) throws IOException {
        String name = file.toRealPath().toString();
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.endsWith(name)).count();
        }
    }

    private Path archive() throws IOException {
        return Files.copy(Fixtures.file("scale_weights_zero.irpa"), directory.resolve("weights.irpa"));
    }

    private static float[] scaled(Program program) {
        try (Results results = program.function("scale").invoke((Object) new float[] {1, 2, 3, 4})) {
            return results.tensor(0).toFloatArray();
        }
    }

    @Test
    void programsWithTheSameArchiveMapItOnceUntilTheLastIsClosed() throws IOException {
        Path archive = archive();
        ProgramOptions options = ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/scale.vmfb"))
                .parameters("model", archive)
                .build();
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThat(mappings(archive)).isZero();
            try (Program first = runtime.load(options)) {
                try (Program second = runtime.load(options)) {
                    assertThat(mappings(archive)).isEqualTo(1);
                    assertThat(scaled(first)).containsExactly(0, 0, 0, 0);
                    assertThat(scaled(second)).containsExactly(0, 0, 0, 0);
                }
                assertThat(mappings(archive)).as("while one is open").isEqualTo(1);
                assertThat(scaled(first)).containsExactly(0, 0, 0, 0);
            }
            assertThat(mappings(archive)).as("after the last was closed").isZero();
        }
    }

    @Test
    void programsLoadedAtOnceMapTheirArchiveOnce() throws Exception {
        Path archive = archive();
        ProgramOptions options = ProgramOptions.builder()
                .module(NativeModule.builder("java", 1, Object::new)
                        .function("one", "0v_i", (_, c) -> c.returnI32(1))
                        .build())
                .parameters("model", archive)
                .build();
        try (IreeRuntime runtime = IreeRuntime.create()) {
            for (int round = 0; round < 20; round++) {
                CountDownLatch go = new CountDownLatch(1);
                List<FutureTask<Program>> loads = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    FutureTask<Program> load = new FutureTask<>(() -> {
                        go.await();
                        return runtime.load(options);
                    });
                    Thread.ofPlatform().start(load);
                    loads.add(load);
                }
                go.countDown();
                List<Program> programs = new ArrayList<>();
                for (FutureTask<Program> load : loads) {
                    programs.add(load.get());
                }
                assertThat(mappings(archive)).isEqualTo(1);
                programs.forEach(Program::close);
                assertThat(mappings(archive)).isZero();
            }
        }
    }
}
