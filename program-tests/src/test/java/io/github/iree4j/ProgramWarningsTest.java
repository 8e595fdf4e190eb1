package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import io.github.iree4j.vm.bytecode.ModuleBytes;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.bytecode.ProgramCheck;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgramWarningsTest {
    private static List<String> warnings(String file) {
        try (ModuleBytes bytes = ModuleBytes.read(Fixtures.file(file))) {
            ModuleDef module = ModuleDef.read(bytes.segment(), ModuleLimits.DEFAULTS);
            return ProgramCheck.installed().stream()
                    .flatMap(check -> check.warnings(module).stream())
                    .toList();
        }
    }

    @Test
    void narrowElementsAndWideShadersAreNamedWithTheFlag() {
        assertThat(warnings("3.13.0/vulkan/compare_i1.vmfb"))
                .singleElement()
                .asString()
                .startsWith("module 'module' has shaders that know elements of 32 bits only, while 'less', 'both'")
                .contains("of its functions have elements of i1: results on Vulkan may be wrong")
                .contains("--iree-vulkan-target=");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.13.0/vulkan/add.vmfb", // elements are wide
                "3.13.0/vulkan-ampere/f16_ops.vmfb", // shaders access narrow elements
                "3.13.0/vulkan-ampere/int_i8.vmfb",
                "3.13.0/cpu/int_i8.vmfb", // there are no shaders
                "20231004.665/vulkan/add.vmfb"
            })
    void otherProgramsAreNotWarnedOf(String file) {
        assertThat(warnings(file)).isEmpty();
    }

    @Test
    void aProgramOnVulkanHasItsWarnings() {
        VulkanOfProcess.assume();
        try (IreeRuntime runtime = IreeRuntime.builder().device("vulkan").build();
                Program wrong = runtime.load(Fixtures.file("3.13.0/vulkan/compare_i1.vmfb"));
                Program right = runtime.load(Fixtures.file("3.13.0/vulkan-ampere/int_i8.vmfb"))) {
            assertThat(wrong.monitor().warnings()).hasSize(1);
            assertThat(right.monitor().warnings()).isEmpty();
        }
    }

    @Test
    void aProgramOnTheCpuHasNone() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.13.0/cpu/int_i8.vmfb"))) {
            assertThat(program.monitor().warnings()).isEmpty();
        }
    }
}
