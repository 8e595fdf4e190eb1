package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.Fixtures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** Libraries emitted by {@code iree-compile}, extracted from modules. */
class CompilerOutputTest {
    /** The first ELF file embedded in a module. The section table, at the end, determines the end. */
    private static MemorySegment elf(String module) throws IOException {
        byte[] bytes = Files.readAllBytes(Fixtures.file(module));
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int start = 0;
        while (buffer.getInt(start) != 0x464C457F) {
            start++;
        }
        int end = start + (int) buffer.getLong(start + 40) + 64 * Short.toUnsignedInt(buffer.getShort(start + 60));
        return MemorySegment.ofArray(bytes).asSlice(start, end - start);
    }

    private static void addsFourFloats(String module) throws IOException {
        assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the module is compiled for x86_64");
        try (CpuLibrary library = CpuLibrary.load(module, elf(module), new int[0]);
                Arena arena = Arena.ofConfined()) {
            assertThat(library.exportCount()).isEqualTo(1);
            // 3.11.0 omits names.
            int ordinal = Math.max(0, library.lookup("add_dispatch_0_elementwise_4_f32"));
            assertThat(library.export(ordinal).bindingCount()).isEqualTo(3);
            MemorySegment data = arena.allocate(3 * 64, 64);
            MemorySegment.copy(new float[] {1, 2, 3, 4}, 0, data, ValueLayout.JAVA_FLOAT, 0, 4);
            MemorySegment.copy(new float[] {10, 20, 30, 40}, 0, data, ValueLayout.JAVA_FLOAT, 64, 4);
            DispatchState state = new DispatchState().begin(0, 3).workgroupCount(1, 1, 1);
            for (int i = 0; i < 3; i++) {
                state.binding(i, data, 64L * i, 16);
            }
            library.dispatch(ordinal, state, 0, 1, MemorySegment.NULL, 0);
            assertThat(data.asSlice(128, 16).toArray(ValueLayout.JAVA_FLOAT)).containsExactly(11, 22, 33, 44);
        }
    }

    @Test
    void genericCodeAddsFourFloats() throws IOException {
        addsFourFloats("3.11.0/cpu/add.vmfb");
    }

    @Test
    void codeOfANewerCompilerAddsFourFloats() throws IOException {
        addsFourFloats("3.13.0/cpu/add.vmfb");
    }

    @Test
    void codeForAnotherArchitectureIsRefusedNamingBoth() throws IOException {
        assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the module is compiled for arm_64");
        MemorySegment elf = elf("3.13.0/cpu-arm_64/add.vmfb");
        assertThatThrownBy(() -> CpuLibrary.load("add", elf, new int[0]))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE))
                .hasMessageContaining("compiled for arm_64")
                .hasMessageContaining("this host runs x86_64");
    }

    @Test
    void librariesOfOlderCompilersLoadWithoutParameterCounts() throws IOException {
        assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the module is compiled for x86_64");
        MemorySegment elf = elf("20240226.813/cpu/pipeline.vmfb");
        try (CpuLibrary library = CpuLibrary.load("pipeline", elf, new int[0])) {
            assertThat(library.exportCount()).isPositive();
            assertThat(library.export(0).constantCount()).isEqualTo(-1);
            assertThat(library.export(0).bindingCount()).isEqualTo(-1);
        }
    }
}
