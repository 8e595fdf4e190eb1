package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The core's own tests run without the optional parts of an application. */
class MissingPartTest {
    @ParameterizedTest
    @CsvSource({
        "vulkan, iree4j-backend-vulkan",
        "vulkan:1, iree4j-backend-vulkan",
        "cuda, iree4j-backend-gpu",
        "cuda://0, iree4j-backend-gpu",
        "hip, iree4j-backend-gpu",
        "rocm:0, iree4j-backend-gpu",
        "cluster://1/local, spring-boot-starter-iree-cluster"
    })
    void deviceWithoutDriverIsRefusedWithTheDependencyToAdd(String device, String artifact) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().device(device).build())
                .withMessageContaining("; add the dependency io.github.iree4j:" + artifact)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    void deviceOfNoPartIsRefusedWithoutADependency() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().device("metal").build())
                .withMessageContaining("there is no driver 'metal'")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("dependency"));
    }

    /** Portable kernels are a form of programs, and no device. */
    @Test
    void deviceNamedLikePortableKernelsIsRefusedWithTheDeviceToUse() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().device("vmvx").build())
                .withMessageEndingWith("; use device 'local', which runs portable kernels");
    }

    @ParameterizedTest
    @CsvSource({"3.13.0/vmvx/simple_mul.vmfb, iree4j-vmvx", "3.13.0/vulkan/simple_mul.vmfb, iree4j-backend-vulkan"})
    void programInNeedOfAPartIsRefusedWithTheDependencyToAdd(String module, String artifact) {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(Fixtures.file(module)).close())
                    .withMessageContaining("; add the dependency io.github.iree4j:" + artifact);
        }
    }

    @Test
    void programWithImportsFromAPartIsRefusedWithTheDependencyToAdd() {
        byte[] module = VmAssembler.assemble("""
                vm.module @inline version 0
                vm.import @vmvx.fill.2d.x32 cconv "0irIIII_v"
                vm.export @main
                vm.func @main() -> () {
                ^bb0:
                  vm.return
                }
                """);
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(ProgramOptions.builder()
                                    .module("inline", module)
                                    .build())
                            .close())
                    .withMessageContaining("; add the dependency io.github.iree4j:iree4j-vmvx");
        }
    }

    /** Programs of 2023 select their code during loading, and miss the code first in a call. */
    @ParameterizedTest
    @CsvSource({
        "20231004.665/vmvx/add.vmfb, vmvx-bytecode-fb, iree4j-vmvx",
        "20231004.665/cuda/add.vmfb, cuda-nvptx-fb, iree4j-backend-gpu",
        "20230404.479/cuda/add.vmfb, cuda-nvptx-fb, iree4j-backend-gpu"
    })
    void callOfAnOldProgramInNeedOfAPartIsRefusedWithTheDependencyToAdd(String module, String format, String artifact) {
        float[] four = {1, 2, 3, 4};
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file(module))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(four, four))
                    .withMessageStartingWith("program wants executables of format " + format)
                    .withMessageContaining("; add the dependency io.github.iree4j:" + artifact)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE));
        }
    }

    @Test
    void callReachingAnOptionalImportFromAPartIsRefusedWithTheDependencyToAdd() {
        byte[] module = VmAssembler.assemble("""
                vm.module @inline version 0
                vm.import optional @vmvx.fill.2d.x32 cconv "0i_v"
                vm.import optional @other.fill cconv "0i_v"
                vm.export @main
                vm.export @foreign
                vm.func @main(%i0: i32) -> () {
                ^bb0:
                  vm.call @vmvx.fill.2d.x32(%i0)
                  vm.return
                }
                vm.func @foreign(%i0: i32) -> () {
                ^bb0:
                  vm.call @other.fill(%i0)
                  vm.return
                }
                """);
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(
                        ProgramOptions.builder().module("inline", module).build())) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("main").invoke(1))
                    .withMessageStartingWith("optional import 'vmvx.fill.2d.x32'")
                    .withMessageEndingWith("; add the dependency io.github.iree4j:iree4j-vmvx");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("foreign").invoke(1))
                    .withMessageStartingWith("optional import 'other.fill'")
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("dependency"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"local", "embedded-elf-x86_64", "hal", "vulkanised"})
    void nothingIsMissingForTargetsOfTheCoreOrOfNobody(String target) {
        assertThat(MissingPart.remedy(List.of(target))).isEmpty();
    }
}
