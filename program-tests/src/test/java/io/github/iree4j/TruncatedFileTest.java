package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kernels of bytecode read files in place; a shortened file fails the call, not the JVM. */
class TruncatedFileTest {
    @TempDir
    private Path directory;

    private static void weigh(Program program) {
        try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4)) {
            program.function("weigh").invoke(x).close();
        }
    }

    @Test
    void kernelOfBytecodeReadingATruncatedFileFailsWithAStatus() throws IOException {
        Path weights = Files.copy(Fixtures.file("weights.irpa"), directory.resolve("weights.irpa"));
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.13.0/vmvx/weights.vmfb"))
                        .parameters("model", weights)
                        .build())) {
            weigh(program);
            Path hidden = Files.move(weights, directory.resolve("hidden")); // where changes are not looked for
            try (FileChannel channel = FileChannel.open(hidden, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            }
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> weigh(program))
                    .withMessageContaining("a mapped file has become shorter while being read")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
        }
    }
}
