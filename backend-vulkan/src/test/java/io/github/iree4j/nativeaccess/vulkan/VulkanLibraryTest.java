package io.github.iree4j.nativeaccess.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Vulkan behaviour without a driver, and the shader of the tests. */
class VulkanLibraryTest {
    static MemorySegment shader() throws IOException {
        try (InputStream file = VulkanLibraryTest.class.getResourceAsStream("/vulkan/shim/scale.spv")) {
            return MemorySegment.ofArray(Objects.requireNonNull(file).readAllBytes());
        }
    }

    @Test
    void aMissingLibraryIsNamed() {
        assertThatThrownBy(() -> VulkanApi.open("libno-such-vulkan.so", false))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE))
                .hasMessageContaining("libno-such-vulkan.so")
                .hasMessageContaining("install the Vulkan loader");
        assertThatThrownBy(() -> VulkanApi.open("libm.so.6", false))
                .hasMessageContaining("'libm.so.6' has no symbol vkGetInstanceProcAddr");
    }

    @Test
    void theShaderInTheRepositoryMatchesItsSource(@TempDir Path directory) throws Exception {
        Path source = directory.resolve("scale.comp");
        try (InputStream file = VulkanLibraryTest.class.getResourceAsStream("/vulkan/shim/scale.comp")) {
            Files.write(source, Objects.requireNonNull(file).readAllBytes());
        }
        Path target = directory.resolve("scale.spv");
        Process compiler;
        try {
            compiler = new ProcessBuilder(
                            "glslangValidator",
                            "-V",
                            "--target-env",
                            "vulkan1.1",
                            "-o",
                            target.toString(),
                            source.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile())
                    .start();
        } catch (IOException e) {
            assumeTrue(false, "glslangValidator is not installed");
            return;
        }
        assertThat(compiler.waitFor()).isZero();
        // Generators store their version in the third word.
        byte[] compiled = Files.readAllBytes(target);
        byte[] kept = shader().toArray(ValueLayout.JAVA_BYTE);
        assertThat(Arrays.copyOfRange(kept, 12, kept.length))
                .isEqualTo(Arrays.copyOfRange(compiled, 12, compiled.length));
    }
}
