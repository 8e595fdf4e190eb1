package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.gpu.GpuExecutableFile.Export;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class GpuKernelsTest {
    /** Drivers take as many parameters as the text declares, from any place named. */
    @Test
    void executablesDeclareTheParametersOfTheText() {
        for (String identifier : new String[] {GpuExecutables.CUDA, GpuExecutables.HIP}) {
            GpuExecutableFile file = read(identifier);
            String text = text(file);
            assertThat(file.exports()).hasSize(6);
            for (Export export : file.exports()) {
                String declared = Pattern.compile("\\.entry " + export.name() + "\\((.*)\\)")
                        .matcher(text)
                        .results()
                        .findFirst()
                        .orElseThrow()
                        .group(1);
                assertThat(declared.split("\\.u64", -1)).as(declared).hasSize(1 + export.bindingCount());
                assertThat(declared.split("\\.u32", -1)).as(declared).hasSize(1 + export.constantCount());
            }
        }
    }

    @Test
    void specialisationConstantsAreWrittenOut() {
        assertThat(text(read(GpuExecutables.CUDA))).contains("mov.u32 %r1, -1;");
        assertThat(text(read(GpuExecutables.CUDA, 77)))
                .contains("mov.u32 %r1, 77;")
                .doesNotContain("-1;");
    }

    private static GpuExecutableFile read(String identifier, int... constants) {
        return GpuExecutableFile.read(
                MemorySegment.ofArray(GpuKernels.pack(identifier, constants)),
                identifier.equals(GpuExecutables.CUDA) ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP);
    }

    private static String text(GpuExecutableFile file) {
        return new String(file.modules().getFirst().bytes().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }
}
