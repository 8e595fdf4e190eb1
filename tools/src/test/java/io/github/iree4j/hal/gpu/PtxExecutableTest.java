package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.tools.code.PtxExecutable;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PtxExecutableTest {
    private static final String PTX = """
            .version 6.3
            .target sm_75
            .address_size 64
            // .entry none() { } is a comment
            .visible .entry first(
                .param .u64 a, .param .u64 .ptr .global .align 16 b, // two buffers
                .param .u32 n)
            .reqntid 64, 2
            { ret; }
            /* .entry of(
               .param .u8 another) */
            .visible .entry second()
            .reqntid 8
            { ret; }
            """;

    @Test
    void entriesBecomeExportsWithTheirParametersAndBlocks() {
        MemorySegment packed = MemorySegment.ofArray(PtxExecutable.of(List.of(PTX, PTX.replace("sm_75", "sm_90a"))));
        assertThat(GpuCode.formatOf(packed)).isEqualTo("cuda-nvptx-fb");
        GpuExecutableFile file = GpuExecutableFile.read(packed, "cuda-nvptx-fb");
        assertThat(file.exports().stream().map(GpuExecutableFile.Export::name))
                .containsExactly("first", "second", "first", "second");
        assertThat(file.exports().stream().map(GpuExecutableFile.Export::module))
                .containsExactly(0, 0, 1, 1);
        GpuExecutableFile.Export first = file.exports().getFirst();
        assertThat(List.of(first.blockX(), first.blockY(), first.blockZ())).containsExactly(64, 2, 1);
        assertThat(first.bindingCount()).isEqualTo(2);
        assertThat(first.constantCount()).isEqualTo(1);
        assertThat(file.exports().get(1).bindingCount()).isZero();
        assertThat(GpuCode.targets(packed, "cuda-nvptx-fb"))
                .containsExactly("sm_75 and newer (PTX)", "sm_90a only (PTX)");
    }

    @ParameterizedTest
    @CsvSource({
        "'.version 6.3\n.target sm_75', has no .entry",
        "'.entry k(.param .u64 a) { ret; }', add '.reqntid",
        "'.entry k(.param .u32 n, .param .u64 a) .reqntid 1 { ret; }', buffers (.u64) come first",
        "'.entry k(.param .align 8 .b8 a[16]) .reqntid 1 { ret; }', has the parameter '.param .align 8 .b8 a[16]'"
    })
    void otherEntriesAreRefused(String ptx, String message) {
        assertThatThrownBy(() -> PtxExecutable.of(List.of(ptx)))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message);
    }

    @Test
    void tooManyBuffersAreRefused() {
        String many = ".param .u64 a,".repeat(65);
        assertThatThrownBy(() -> PtxExecutable.of(
                        List.of(".entry k(%s) .reqntid 1 { ret; }".formatted(many.substring(0, many.length() - 1)))))
                .hasMessageContaining("kernel 'k' has 65 buffers, the limit is 64");
    }
}
