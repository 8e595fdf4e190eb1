package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.UnsupportedTarget;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Programs with code in a shared library of the system ({@code --iree-llvmcpu-link-embedded=false}). */
class SharedLibraryProgramsTest {
    private static final Path LIBRARY = Fixtures.file("3.13.0/cpu-system/math_f32.vmfb");
    private static final Path EMBEDDED = Fixtures.file("3.13.0/cpu/math_f32.vmfb");

    @BeforeEach
    void modulesAreForThisMachine() {
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the modules are compiled for x86_64");
    }

    private static IreeRuntime allowing(String... formats) {
        DeviceOptions options =
                DeviceOptions.builder().executableFormats(List.of(formats)).build();
        return IreeRuntime.builder().device("cpu", "local", options).build();
    }

    @Test
    void areRefusedWithTheFlagToLeaveOutAndThePropertyToAllowThem() {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThat(runtime.device().executableFormats()).doesNotContain("system-elf-x86_64");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(LIBRARY))
                    .withMessageContaining("without --iree-llvmcpu-link-embedded=false")
                    .withMessageContaining(
                            "allow embedded-elf-x86_64, vmvx-bytecode-fb, system-elf-x86_64 (iree.executables.allowed-formats,")
                    .satisfies(e -> {
                        assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE);
                        assertThat(e.detail(UnsupportedTarget.class))
                                .contains(new UnsupportedTarget(List.of("system-elf-x86_64")));
                    });
        }
    }

    @Test
    void runWithANamedFormat() {
        try (IreeRuntime runtime = allowing("embedded-elf-x86_64", "system-elf-x86_64");
                Program embedded = runtime.load(EMBEDDED);
                Program library = runtime.load(LIBRARY);
                Program again = runtime.load(LIBRARY)) {
            assertThat(runtime.device().executableFormats())
                    .containsExactly("embedded-elf-x86_64", "system-elf-x86_64");
            float[] values = {0.5f, 1, 1.5f, 2, 0.25f, 3, 4, 0.75f};
            try (Results expected = embedded.function("math").invoke(values);
                    Results first = library.function("math").invoke(values);
                    Results second = again.function("math").invoke(values)) {
                for (int i = 0; i < 7; i++) {
                    assertThat(first.tensor(i).toFloatArray())
                            .containsExactly(expected.tensor(i).toFloatArray());
                    assertThat(second.tensor(i).toFloatArray())
                            .containsExactly(expected.tensor(i).toFloatArray());
                }
            }
        }
    }

    @Test
    void areNotRunBesideOtherNamedFormats() {
        try (IreeRuntime runtime = allowing("vmvx-bytecode-fb")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> runtime.load(LIBRARY))
                    .withMessageContaining("program wants executables of format system-elf-x86_64");
        }
    }

    @Test
    void leaveNothingBehindWhenClosed() throws IOException {
        for (int i = 0; i < 3; i++) {
            try (IreeRuntime runtime = allowing("system-elf-x86_64");
                    Program program = runtime.load(LIBRARY);
                    Results results = program.function("math").invoke(new float[8])) {
                assertThat(results.tensor(0).toFloatArray()).containsOnly(1);
                assertThat(mappedLibraries()).isNotEmpty();
            }
            assertThat(mappedLibraries()).isEmpty();
        }
    }

    /** The mappings of in-memory libraries of this process. */
    private static List<String> mappedLibraries() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains("memfd:iree4j-library")).toList();
        }
    }
}
