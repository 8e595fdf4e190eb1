package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.tools.code.CodeObject;
import io.github.iree4j.tools.code.CodeObject.Argument;
import io.github.iree4j.tools.code.CodeObject.Kernel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The checked-in code objects for AMD's GPUs are the compiled form of the kernels, and take the program's arguments.
 */
class CodeObjectsTests {
    private static final Path SOURCES = Path.of("src/main/iree");
    private static final Path COMPILED = SOURCES.resolve("amdgpu");
    private static final String REMEDY = "run 'src/main/iree/compile-amdgpu src/main/iree/amdgpu' in sample-app";

    @TempDir
    private Path directory;

    /** Needs no compiler. */
    @Test
    void sourcesAreUnchangedSinceCompilation() throws Exception {
        String[] recorded =
                Files.readString(COMPILED.resolve("sources.sha256")).strip().split(" +", 2);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(SOURCES.resolve(recorded[1])));
        assertThat(HexFormat.of().formatHex(digest))
                .as("%s; %s", recorded[1], REMEDY)
                .isEqualTo(recorded[0]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"gfx90a", "gfx942", "gfx1100"})
    void metadataMatchTheProgramsDispatches(String architecture) throws IOException {
        CodeObject object = CodeObject.read(Files.readAllBytes(file(COMPILED, architecture)));
        assertThat(object.architecture()).isEqualTo(architecture);
        assertThat(object.kernels().stream().map(Kernel::name))
                .containsExactly("digits_dense_relu", "digits_dense", "digits_softmax");
        for (Kernel kernel : object.kernels()) {
            boolean dense = !kernel.name().equals("digits_softmax");
            int buffers = dense ? 4 : 2;
            int constants = dense ? 3 : 2;
            assertThat(kernel.arguments())
                    .containsExactlyElementsOf(IntStream.range(0, buffers + constants)
                            .mapToObj(i -> i < buffers
                                    ? new Argument(8 * i, 8, true)
                                    : new Argument(8 * buffers + 4 * (i - buffers), 4, false))
                            .toList());
            assertThat(kernel.argumentBytes()).as("nothing added by the driver").isEqualTo(8 * buffers + 4 * constants);
            assertThat(kernel.sharedBytes()).isZero();
            assertThat(kernel.privateBytes()).as("no registers are spilled").isZero();
            assertThat(kernel.workgroup()).isEqualTo(List.of(dense ? 64 : 8, 1, 1));
            assertThat(kernel.waveSize()).isEqualTo(architecture.equals("gfx1100") ? 32 : 64);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gfx90a", "gfx942", "gfx1100"})
    void compilationReproducesTheCheckedInCode(String architecture) throws Exception {
        assumeTrue(
                compiler()
                        .equals(Files.readString(COMPILED.resolve("compiler.txt"))
                                .strip()),
                "the compiler of the checked-in code is not installed (Debian: clang-19, lld-19)");
        Process compile = new ProcessBuilder(SOURCES.resolve("compile-amdgpu").toString(), directory.toString())
                .inheritIO()
                .start();
        assertThat(compile.waitFor()).isZero();
        assertThat(file(directory, architecture))
                .as("%s; %s", architecture, REMEDY)
                .hasSameBinaryContentAs(file(COMPILED, architecture));
    }

    private static Path file(Path directory, String architecture) {
        return directory.resolve("digits-" + architecture + ".hsaco");
    }

    /** The first line of the compiler's description of itself; empty if absent, or without a linker. */
    private static String compiler() throws IOException {
        try {
            new ProcessBuilder("ld.lld-19", "--version")
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            Process process = new ProcessBuilder("clang-19", "--version").start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }
}
