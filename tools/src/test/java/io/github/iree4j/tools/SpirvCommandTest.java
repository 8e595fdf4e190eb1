package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spirv.SpirvExecutable;
import io.github.iree4j.spirv.SpirvPipeline;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Packs shaders into executables, with bindings by reflection. The sample's tests run them. */
class SpirvCommandTest {
    private static final Path SHADERS = Path.of("../sample-app/src/main/iree/spirv");

    @TempDir
    private Path directory;

    @Test
    void exportsHaveTheBindingsOfTheirShaders() throws IOException {
        Path packed = directory.resolve("digits.spirv-fb");
        CommandLineRun run = CommandLineRun.iree4j(
                "spirv",
                "--output=" + packed,
                SHADERS.resolve("digits_dense.spv").toString(),
                SHADERS.resolve("digits_softmax.spv").toString());
        assertThat(run.status()).as(run.err()).isZero();
        SpirvExecutable executable = SpirvExecutable.read(MemorySegment.ofArray(Files.readAllBytes(packed)));
        assertThat(executable.pipelines())
                .extracting(SpirvPipeline::name)
                .containsExactly("digits_dense", "digits_softmax");
        assertThat(executable.pipelines())
                .extracting(p -> p.layout().bufferCount())
                .containsExactly(4, 2);
        assertThat(executable.pipelines())
                .extracting(p -> p.layout().pushConstantBytes())
                .containsExactly(12, 8);
    }

    @Test
    void namesTheInvalidFile() throws IOException {
        byte[] shader = Files.readAllBytes(SHADERS.resolve("digits_dense.spv"));
        assertFails("text".getBytes(StandardCharsets.UTF_8));
        assertFails(Arrays.copyOf(shader, shader.length - 4));
        CommandLineRun run = CommandLineRun.iree4j("spirv", "-o", directory + "/x", directory + "/none.spv");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("NOT_FOUND").contains("none.spv");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFileWithoutAnEndIsRefused() {
        CommandLineRun run = CommandLineRun.iree4j("spirv", "-o", directory + "/x", "/dev/zero");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("INVALID_ARGUMENT").contains("'/dev/zero' has more than 67108864 bytes");
    }

    private void assertFails(byte[] content) throws IOException {
        Path file = Files.write(directory.resolve("bad.spv"), content);
        CommandLineRun run = CommandLineRun.iree4j("spirv", "-o", directory + "/x", file.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err()).contains("INVALID_ARGUMENT").contains("bad.spv' cannot be packed: ");
    }
}
