package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.gpu.GpuCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HsacoCommandTest {
    private static final Path CODE = Path.of("../sample-app/src/main/iree/amdgpu");

    @TempDir
    private Path directory;

    private static String code(String architecture) {
        return CODE.resolve("digits-" + architecture + ".hsaco").toString();
    }

    @Test
    void codeForSeveralArchitecturesIsPacked() throws IOException {
        Path packed = directory.resolve("kernels.hsaco-fb");
        CommandLineRun run = CommandLineRun.iree4j("hsaco", "--output=" + packed, code("gfx90a"), code("gfx1100"));
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(GpuCode.targets(MemorySegment.ofArray(Files.readAllBytes(packed)), "rocm-hsaco-fb"))
                .containsExactly("gfx1100 (machine code)", "gfx90a (machine code)");
    }

    @Test
    void invalidFilesAreNamed() throws IOException {
        Path cut = Files.write(
                directory.resolve("cut.hsaco"), Arrays.copyOf(Files.readAllBytes(Path.of(code("gfx90a"))), 300));
        CommandLineRun refused = CommandLineRun.iree4j("hsaco", "-o", directory + "/x", cut.toString());
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("cut.hsaco' cannot be packed: ", "the file is cut off after 300 bytes");
        CommandLineRun none = CommandLineRun.iree4j("hsaco", "-o", directory + "/x", directory + "/none.hsaco");
        assertThat(none.status()).isEqualTo(1);
        assertThat(none.err()).contains("NOT_FOUND").contains("none.hsaco");
    }
}
