package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.tools.code.CodeObject;
import io.github.iree4j.tools.code.CodeObject.Argument;
import io.github.iree4j.tools.code.CodeObject.Kernel;
import io.github.iree4j.tools.code.CodeObjectExecutable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CodeObjectExecutableTest {
    private static final Path CODE = Path.of("../sample-app/src/main/iree/amdgpu");

    private static byte[] file(String architecture) throws IOException {
        return Files.readAllBytes(CODE.resolve("digits-" + architecture + ".hsaco"));
    }

    private static CodeObject object(Kernel... kernels) {
        return new CodeObject("amdgcn-amd-amdhsa--gfx90a", List.of(kernels), new byte[0]);
    }

    private static Kernel kernel(String name, List<Integer> workgroup, Argument... arguments) {
        return new Kernel(name, List.of(arguments), 0, 0, 0, workgroup, 64);
    }

    @Test
    void codeForSeveralArchitecturesIsASingleModuleWithTheirKernels() throws IOException {
        List<CodeObject> objects = Stream.of(file("gfx90a"), file("gfx942"), file("gfx1100"))
                .map(CodeObject::read)
                .toList();
        MemorySegment packed = MemorySegment.ofArray(CodeObjectExecutable.of(objects));
        assertThat(GpuCode.formatOf(packed)).isEqualTo("rocm-hsaco-fb");
        assertThat(GpuCode.targets(packed, "rocm-hsaco-fb"))
                .containsExactly("gfx1100 (machine code)", "gfx90a (machine code)", "gfx942 (machine code)");
        GpuExecutableFile file = GpuExecutableFile.read(packed, "rocm-hsaco-fb");
        assertThat(file.modules()).hasSize(1);
        assertThat(file.exports().stream().map(GpuExecutableFile.Export::name))
                .containsExactly("digits_dense_relu", "digits_dense", "digits_softmax");
        GpuExecutableFile.Export dense = file.exports().getFirst();
        assertThat(List.of(dense.blockX(), dense.blockY(), dense.blockZ())).containsExactly(64, 1, 1);
        assertThat(dense.bindingCount()).isEqualTo(4);
        assertThat(dense.constantCount()).isEqualTo(3);
    }

    @Test
    void codeForASingleArchitectureIsThisCodeAlone() throws IOException {
        MemorySegment packed = MemorySegment.ofArray(CodeObjectExecutable.of(List.of(CodeObject.read(file("gfx942")))));
        assertThat(GpuExecutableFile.read(packed, "rocm-hsaco-fb")
                        .modules()
                        .getFirst()
                        .kind())
                .isEqualTo(GpuImage.Kind.ELF);
        assertThat(GpuCode.targets(packed, "rocm-hsaco-fb")).containsExactly("gfx942 (machine code)");
    }

    @Test
    void otherKernelsAreRefused() {
        Argument buffer = new Argument(0, 8, true);
        List<Integer> eight = List.of(8, 1, 1);
        Object[][] cases = {
            {List.of(object()), "for gfx90a has no kernels"},
            {List.of(object(kernel("k", List.of(), buffer))), "kernel 'k' does not say how many threads"},
            {List.of(object(kernel("k", eight, new Argument(0, 4, false), new Argument(8, 8, true)))), "8 bytes at 8"},
            {List.of(object(kernel("k", eight, new Argument(0, 2, false)))), "an argument of 2 bytes at 0"},
            {List.of(object(kernel("k", eight, buffer)), object()), "1 kernels for gfx90a and 0 for gfx90a"},
            {
                List.of(object(kernel("k", eight, buffer)), object(kernel("k", List.of(4, 1, 1), buffer))),
                "kernel 'k' for gfx90a differs from the kernel for gfx90a"
            },
        };
        for (Object[] each : cases) {
            @SuppressWarnings("unchecked")
            List<CodeObject> objects = (List<CodeObject>) each[0];
            assertThatThrownBy(() -> CodeObjectExecutable.of(objects))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining((String) each[1]);
        }
    }

    /** Code that is cut off or changed is read or refused, and nothing else. */
    @Test
    void damagedCodeIsReadOrRefused() throws IOException {
        byte[] whole = file("gfx90a");
        Random random = new Random(42);
        for (int round = 0; round < 3000; round++) {
            byte[] damaged = round % 3 == 0 ? Arrays.copyOf(whole, random.nextInt(whole.length)) : whole.clone();
            for (int i = random.nextInt(4); i >= 0 && damaged.length > 0; i--) {
                int within = random.nextBoolean() ? damaged.length : Math.min(damaged.length, 0xBA8);
                damaged[random.nextInt(within)] = (byte) random.nextInt();
            }
            Throwable thrown = catchThrowable(() -> CodeObject.read(damaged));
            assertThat(thrown == null || thrown instanceof IreeException)
                    .as("round %d: %s", round, thrown)
                    .isTrue();
        }
    }
}
