package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.Compilation;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs compiled in 2023 and 2024: bytecode 15, descriptor sets, and CPU code of that time. */
class OlderProgramsTest {
    private static final int ELEMENTS = 4 * 16 * 16;
    private static final int STEPS = 3;

    private static IreeRuntime runtime;

    /** Arguments passed by the program to the module written in Java. */
    private final List<Long> steps = new ArrayList<>();

    private int initialized;

    @BeforeAll
    static void open() {
        runtime = IreeRuntime.create();
    }

    @AfterAll
    static void close() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
    }

    /** A minimal version of the model imported by the pipeline: each step adds a number to each element. */
    private VmModule scheduler() {
        return NativeModule.builder("scheduler", 0, () -> "")
                .function("start", "0r_rrr", (state, call) -> {
                    BufferView sample = call.required(BufferView.class);
                    initialized++;
                    sample.retain();
                    call.returnRef(sample);
                    call.returnRef(view(ElementType.F32, new float[] {7}, 1));
                    call.returnRef(view(ElementType.SI64, new long[] {STEPS}));
                })
                .function("step", "0rrr_r", (state, call) -> forward(call))
                .build();
    }

    private void forward(VmCall call) {
        BufferView sample = call.required(BufferView.class);
        BufferView times = call.required(BufferView.class);
        BufferView step = call.required(BufferView.class);
        assertThat(bytes(times).get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0)).isEqualTo(7);
        long number = bytes(step).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        steps.add(number);
        short[] elements = bytes(sample).toArray(ValueLayout.JAVA_SHORT);
        for (int i = 0; i < elements.length; i++) {
            elements[i] = Float.floatToFloat16(Float.float16ToFloat(elements[i]) + number + 1);
        }
        call.returnRef(view(ElementType.F16, elements, 1, 4, 16, 16));
    }

    private static MemorySegment bytes(BufferView view) {
        return view.buffer().map(MemoryAccess.READ, 0, Buffer.WHOLE);
    }

    private static BufferView view(ElementType type, Object array, long... shape) {
        MemorySegment elements = switch (array) {
            case float[] floats -> MemorySegment.ofArray(floats);
            case long[] longs -> MemorySegment.ofArray(longs);
            case short[] shorts -> MemorySegment.ofArray(shorts);
            default -> throw new AssertionError(array);
        };
        Buffer buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, elements.byteSize());
        try {
            buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(elements);
            return BufferView.create(buffer, Shape.of(shape), type, 1);
        } finally {
            buffer.release();
        }
    }

    @ParameterizedTest
    @CsvSource({"run, false", "run$async, true"})
    @EnabledOnOs(
            architectures = {"amd64", "x86_64"},
            value = OS.LINUX)
    void pipelineOf2024RunsWithItsModelWrittenInJava(String name, boolean fences) throws Exception {
        float[] noise = new float[ELEMENTS];
        for (int i = 0; i < ELEMENTS; i++) {
            noise[i] = i % 100;
        }
        ProgramOptions options = ProgramOptions.builder()
                .module(scheduler())
                .module(Fixtures.file("20240226.813/cpu/pipeline.vmfb"))
                .build();
        try (Program program = runtime.load(options);
                Tensor sample = Tensor.of(ElementType.F16, noise, 1, 4, 16, 16)) {
            ProgramFunction function = program.function(name);
            assertThat(function.isAsynchronous()).isEqualTo(fences);
            assertThat(program.functions())
                    .as("one function, exported twice")
                    .map(ProgramFunction::name)
                    .contains("run")
                    .doesNotContain("run$async");
            try (Results results = function.invokeAsync(sample).get(60, TimeUnit.SECONDS)) {
                float[] latents = results.tensor(0).toFloatArray();
                assertThat(latents).hasSize(ELEMENTS);
                for (int i = 0; i < ELEMENTS; i++) {
                    assertThat(latents[i]).isEqualTo(i % 100 + 1.5f + 2.5f + 3.5f);
                }
            }
        }
        assertThat(initialized).isEqualTo(1);
        assertThat(steps).as("steps reported by the pipeline").containsExactly(0L, 1L, 2L);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "20231004.665/vulkan-async/filters.vmfb",
                "20240226.813/cpu/pipeline.vmfb",
                "20240226.813/rocm/pipeline.vmfb"
            })
    void modulesOf2023And2024AreVerifiedAndCompiled(String file) throws Exception {
        byte[] content = Files.readAllBytes(Fixtures.file(file));
        BytecodeModule module = BytecodeModule.read(
                MemorySegment.ofArray(content),
                file,
                HalTypes.register(VmTypes.standard()),
                ModuleLimits.DEFAULTS,
                null,
                Compilation.EAGER);
        try (module) {
            assertThat(module.definition().bytecodeMajor()).isEqualTo(15);
            // Large functions may stay interpreted; there is no other reason for it.
            assertThat(module.compilation().refused().values())
                    .allSatisfy(reason -> assertThat(reason).endsWith("bytes of Java bytecode"));
            assertThat(module.compilation().compiled()
                            + module.compilation().refused().size())
                    .isEqualTo(module.definition().functions().size());
        }
    }

    /** The initializer looks for the format and continues without it; a call then reports the absence. */
    @Test
    void vulkanProgramOf2023ReportsTheWrongDeviceOnTheCpu() {
        try (Program program = runtime.load(Fixtures.file("20231004.665/vulkan-async/filters.vmfb"));
                Tensor image = Tensor.of(new byte[24], 2, 3, 4)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("filter_add").invoke(image))
                    .withMessageContaining("device not supported in the compiled configuration");
        }
    }

    @Test
    void rocmProgramOf2024IsRefusedByTheCpuNamingTheFormats() {
        ProgramOptions options = ProgramOptions.builder()
                .module(scheduler())
                .module(Fixtures.file("20240226.813/rocm/pipeline.vmfb"))
                .build();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(options))
                .withMessageContaining("rocm-hsaco-fb")
                .withMessageContaining("vmvx-bytecode-fb")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE));
    }
}
