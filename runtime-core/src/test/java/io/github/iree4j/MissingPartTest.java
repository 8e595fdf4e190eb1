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

/** The core's own tests run without the parts that an application may leave out. */
class MissingPartTest {
    @ParameterizedTest
    @CsvSource({
        "vulkan, iree4j-backend-vulkan",
        "vulkan:1, iree4j-backend-vulkan",
        "cuda, iree4j-backend-gpu",
        "cuda://0, iree4j-backend-gpu",
        "hip, iree4j-backend-gpu"
    })
    void deviceWithoutDriverIsRefusedWithTheDependencyToAdd(String device, String artifact) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().device(device).build())
                .withMessageContaining("; add the dependency io.github.iree4j:" + artifact)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    void deviceThatNoPartServesIsRefusedWithoutADependency() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().device("metal").build())
                .withMessageContaining("there is no driver 'metal'")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("dependency"));
    }

    @ParameterizedTest
    @CsvSource({"3.13.0/vmvx/simple_mul.vmfb, iree4j-vmvx", "3.13.0/vulkan/simple_mul.vmfb, iree4j-backend-vulkan"})
    void programThatNeedsAPartIsRefusedWithTheDependencyToAdd(String module, String artifact) {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(Fixtures.file(module)).close())
                    .withMessageContaining("; add the dependency io.github.iree4j:" + artifact);
        }
    }

    @Test
    void programThatImportsFromAPartIsRefusedWithTheDependencyToAdd() {
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

    @ParameterizedTest
    @ValueSource(strings = {"local", "embedded-elf-x86_64", "hal", "vulkanised"})
    void nothingIsMissingForTargetsOfTheCoreOrOfNobody(String target) {
        assertThat(MissingPart.remedy(List.of(target))).isNull();
    }
}
