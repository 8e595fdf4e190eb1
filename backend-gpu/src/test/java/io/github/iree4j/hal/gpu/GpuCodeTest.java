package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuCodeTest {
    @Test
    void machineCodeNamesItsTarget() {
        MemorySegment cubin = MemorySegment.ofArray(
                GpuExecutables.pack(GpuExecutables.CUDA, List.of(), GpuExecutables.elf(190, 7, 80)));
        assertThat(GpuCode.targets(cubin, "cuda-nvptx-fb")).containsExactly("sm_80 (machine code)");
        assertThat(GpuCode.formatOf(MemorySegment.ofArray(
                        GpuExecutables.packOld("ROCM", "k", new int[] {1, 1, 1}, 0, GpuExecutables.elf(224, 2, 0x3F)))))
                .isEqualTo("rocm-hsaco-fb");
        assertThat(GpuCode.formatOf(MemorySegment.ofArray("text".getBytes(StandardCharsets.US_ASCII))))
                .isNull();
        assertThat(GpuCode.formatOf(MemorySegment.ofArray(new byte[3]))).isNull();
    }
}
