package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The checked-in SPIR-V is the compiled form of the shaders. */
class ShadersTests {
    private static final Path SOURCES = Path.of("src/main/iree");
    private static final Path COMPILED = SOURCES.resolve("spirv");
    private static final String REMEDY = "run 'src/main/iree/compile-shaders src/main/iree/spirv' in sample-app";

    @TempDir
    private Path directory;

    /** Needs no compiler. */
    @Test
    void sourcesAreUnchangedSinceCompilation() throws Exception {
        List<String> recorded = Files.readAllLines(COMPILED.resolve("sources.sha256"));
        assertThat(recorded).isNotEmpty().allSatisfy(line -> {
            String[] parts = line.split(" +", 2);
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(SOURCES.resolve(parts[1])));
            assertThat(HexFormat.of().formatHex(digest))
                    .as("%s; %s", parts[1], REMEDY)
                    .isEqualTo(parts[0]);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"digits_dense_relu", "digits_dense", "digits_softmax"})
    void compilationReproducesTheCheckedInShaders(String shader) throws Exception {
        assumeTrue(hasCompiler(), "glslangValidator is not installed (Debian: glslang-tools)");
        Process compile = new ProcessBuilder(SOURCES.resolve("compile-shaders").toString(), directory.toString())
                .inheritIO()
                .start();
        assertThat(compile.waitFor()).isZero();
        ByteBuffer made = read(directory.resolve(shader + ".spv"));
        ByteBuffer checkedIn = read(COMPILED.resolve(shader + ".spv"));
        // The generator's version is in word 2; another generator may encode the same shader differently.
        assumeTrue(
                made.getInt(8) == checkedIn.getInt(8),
                () -> "glslangValidator here is version %d, the checked-in SPIR-V was made by version %d"
                        .formatted(made.getInt(8) & 0xffff, checkedIn.getInt(8) & 0xffff));
        assertThat(made).as("%s.spv; %s", shader, REMEDY).isEqualTo(checkedIn);
    }

    private static boolean hasCompiler() throws InterruptedException {
        try {
            return new ProcessBuilder("glslangValidator", "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private static ByteBuffer read(Path file) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    }
}
