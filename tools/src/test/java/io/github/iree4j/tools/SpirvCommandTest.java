package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shaders become executables; what a shader takes is read from it. The sample's tests run what comes out. */
class SpirvCommandTest {
    private static final Path SHADERS = Path.of("../sample-app/src/main/iree/spirv");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"digits_dense_relu, 4, 3", "digits_dense, 4, 3", "digits_softmax, 2, 2"})
    void readsFromAShaderWhatItTakes(String name, int bindings, int constants) throws IOException {
        SpirvModule shader = SpirvModule.read(name, Files.readAllBytes(SHADERS.resolve(name + ".spv")));
        assertThat(shader.entryPoint()).isEqualTo(name);
        assertThat(shader.bindings()).isEqualTo(bindings);
        assertThat(shader.constants()).isEqualTo(constants);
    }

    @Test
    void packsShadersBehindTheHeaderOfExecutables() throws IOException {
        Path packed = directory.resolve("digits.spirv-fb");
        CommandLineRun run = CommandLineRun.iree4j(
                "spirv",
                "--output=" + packed,
                SHADERS.resolve("digits_dense.spv").toString(),
                SHADERS.resolve("digits_softmax.spv").toString());
        assertThat(run.status()).as(run.err()).isZero();
        byte[] bytes = Files.readAllBytes(packed);
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(new String(bytes, 0, 4, StandardCharsets.US_ASCII)).isEqualTo("VKE1");
        assertThat(words.getInt(4)).as("version").isZero();
        assertThat(words.getLong(8)).isEqualTo(bytes.length - 64);
        assertThat(new String(bytes, 68, 4, StandardCharsets.US_ASCII)).isEqualTo("VKE1");
        assertThat(new String(bytes, StandardCharsets.ISO_8859_1)).contains("digits_dense\0", "digits_softmax\0");
    }

    @Test
    void saysWhatIsWrongWithAFile() throws IOException {
        byte[] shader = Files.readAllBytes(SHADERS.resolve("digits_dense.spv"));
        assertFails("it is not SPIR-V", "text".getBytes(StandardCharsets.UTF_8));
        byte[] cut = Arrays.copyOf(shader, 4 * 7);
        assertFails("it has 0 entry points", cut);
        ByteBuffer.wrap(cut).order(ByteOrder.LITTLE_ENDIAN).putInt(20, 17);
        assertFails("its instruction at word 5 has 0 words", cut);
        ByteBuffer.wrap(cut).order(ByteOrder.LITTLE_ENDIAN).putInt(20, 1 << 16 | 71);
        assertFails("its instruction at word 5 lacks operands", cut);
        CommandLineRun run = CommandLineRun.iree4j("spirv", "-o", directory + "/x", directory + "/none.spv");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("NOT_FOUND").contains("none.spv");
    }

    private void assertFails(String message, byte[] content) throws IOException {
        Path file = Files.write(directory.resolve("bad.spv"), content);
        CommandLineRun run = CommandLineRun.iree4j("spirv", "-o", directory + "/x", file.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("INVALID_ARGUMENT").contains(message);
    }
}
