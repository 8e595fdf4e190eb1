package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Compiled programs with faulting kernels: the call fails, the next one succeeds. */
@Timeout(900)
class FaultyProgramsTest {
    private final IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();

    @BeforeEach
    void isOfThisMachine() {
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the modules are compiled for x86_64");
    }

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    private static String quotient(Program program, int divisor) {
        int[] divisors = {3, 5, -7, 2, 3, divisor};
        try (Results results = program.function("ints").invoke(new int[] {1, -2, 100, 7, -128, 127}, divisors)) {
            return results.tensor(2).toString();
        }
    }

    @Test
    void aDivisionByZeroFailsItsCallOnly() {
        try (Program program = runtime.load(Fixtures.file("3.13.0/cpu/int_i32.vmfb"))) {
            for (int i = 1; i <= 20; i++) {
                assertThat(quotient(program, i)).isEqualTo("6xi32=0 0 -14 3 -42 " + 127 / i);
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> quotient(program, 0))
                        .withMessageContaining("divided an integer by zero")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
            }
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "on Windows a mapped file can be neither replaced nor shortened")
    void aMappedModuleWithAShortenedFileFailsItsCalls(@TempDir Path directory) throws Exception {
        Path module = Files.copy(Fixtures.file("3.13.0/cpu/sort_constant.vmfb"), directory.resolve("module.vmfb"));
        try (Program program =
                runtime.load(ProgramOptions.builder().mappedModule(module).build())) {
            program.function("sort").invoke().close();
            try (FileChannel file = FileChannel.open(hidden(module), StandardOpenOption.WRITE)) {
                file.truncate(0);
            }
            for (int i = 0; i < 5; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("sort").invoke().close())
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
            }
        }
    }

    /** Moves a file in use out of sight of the calls' checks, like a file that changes in mid-call. */
    private static Path hidden(Path file) throws IOException {
        Path other = Files.createDirectory(file.resolveSibling("hidden"));
        return Files.move(file, other.resolve(file.getFileName()));
    }

    private static float[] weighed(Program program) {
        try (Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
                Results results = program.function("weigh").invoke(x)) {
            return results.tensor(0).toFloatArray();
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "on Windows a mapped file can be neither replaced nor shortened")
    void parametersInAShortenedFileFailTheCall(@TempDir Path directory) throws Exception {
        Path archive = directory.resolve("of-a-long-path-whose-end-the-message-must-not-lose.irpa");
        Files.copy(Fixtures.file("weights.irpa"), archive);
        try (Program program = runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu/weights.vmfb"))
                .parameters("model", archive)
                .build())) {
            float[] right = weighed(program);
            Path hidden = hidden(archive);
            try (FileChannel file = FileChannel.open(hidden, StandardOpenOption.WRITE)) {
                file.truncate(0);
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> weighed(program))
                        .withMessageContaining("a part of a file that has become shorter")
                        .withMessageContaining("must-not-lose.irpa'")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
            }
            Files.write(hidden, Files.readAllBytes(Fixtures.file("weights.irpa")));
            assertThat(weighed(program)).containsExactly(right);
        }
    }
}
