package io.github.iree4j.modules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Fixtures;
import io.github.iree4j.hal.AllocatorStatistics;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.modules.hal.HostBytes;
import io.github.iree4j.modules.parameters.ParameterArchive;
import io.github.iree4j.modules.parameters.ParameterProvider;
import io.github.iree4j.modules.parameters.ParametersModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Modules compiled by IREE, run on contexts directly: VM, hal module, parameters and the local device together. */
class CompiledProgramsTest {
    private final Device device = new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS);
    private final VmModule hal = HalModule.create(List.of(device));
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable resource : open.reversed()) {
            resource.close();
        }
        AllocatorStatistics statistics = device.allocator().statistics();
        assertThat(statistics.bytesLive())
                .as("bytes live after everything is closed")
                .isZero();
        assertThat(statistics.freeCount()).isEqualTo(statistics.allocationCount());
        device.close();
    }

    private <T extends AutoCloseable> T keep(T resource) {
        open.add(resource);
        return resource;
    }

    private BytecodeModule module(String fixture) {
        return keep(BytecodeModule.open(
                Fixtures.file(fixture), HalTypes.register(VmTypes.standard()), ModuleLimits.DEFAULTS));
    }

    private void assumeX86() {
        Assumptions.assumeTrue(
                device.queryI64("hal.executable.format", "embedded-elf-x86_64").orElse(0) == 1,
                "compiled for x86_64, through the native library");
    }

    private Context context(VmModule... modules) {
        return keep(Context.create(List.of(modules), ContextOptions.DEFAULTS));
    }

    private VmModule parameters(String... scopesAndFiles) {
        List<ParameterProvider> providers = new ArrayList<>();
        for (int i = 0; i < scopesAndFiles.length; i += 2) {
            try (ParameterArchive archive = ParameterArchive.open(Fixtures.file(scopesAndFiles[i + 1]))) {
                providers.add(keep(ParameterProvider.of(scopesAndFiles[i], archive)));
            }
        }
        return ParametersModule.create(providers);
    }

    private BufferView floats(float... values) {
        try (Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, values.length * 4L)) {
            buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
            return BufferView.create(
                    buffer, Shape.of(values.length), ElementType.F32, BufferView.ENCODING_DENSE_ROW_MAJOR);
        }
    }

    private float[] call(Context context, String function, float[]... inputs) {
        try (Invocation call = context.invocation(context.function(function))) {
            for (float[] input : inputs) {
                try (BufferView view = floats(input)) {
                    call.ref(view);
                }
            }
            call.run();
            BufferView result = call.ref(BufferView.class);
            try (HostBytes bytes = HostBytes.of(result)) {
                return bytes.segment().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0/cpu/add.vmfb", "3.13.0/cpu/add.vmfb"})
    void bothGenerationsOfDispatchAddFourFloats(String fixture) {
        assumeX86();
        if (fixture.equals("3.13.0/cpu/add.vmfb")) {
            Assumptions.assumeTrue(
                    device.queryI64("hal.cpu", "avx512f").orElse(0) == 1, "compiled for a CPU with AVX-512");
        }
        Context context = context(hal, module(fixture));
        for (int round = 0; round < 3; round++) {
            assertThat(call(context, "module.add", new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40}))
                    .containsExactly(11, 22, 33, 44);
        }
    }

    @Test
    void portableKernelsMultiplyWithoutNativeCode() {
        Context context = context(hal, module("3.11.0/vmvx/simple_mul.vmfb"));
        float[] twos = new float[100];
        float[] threes = new float[100];
        float[] sixes = new float[100];
        Arrays.fill(twos, 2);
        Arrays.fill(threes, 3);
        Arrays.fill(sixes, 6);
        assertThat(call(context, context.modules().getLast().name() + ".simple_mul", twos, threes))
                .containsExactly(sixes);
    }

    @Test
    void aSplatParameterScales() {
        assumeX86();
        Context context = context(hal, parameters("model", "scale_weights.irpa"), module("3.11.0/cpu/scale.vmfb"));
        assertThat(call(context, "module.scale", new float[] {1, 2, 3, 4})).containsExactly(2, 4, 6, 8);
    }

    @Test
    void aStoredParameterScales() {
        assumeX86();
        Context context = context(hal, parameters("model", "scale_weights_zero.irpa"), module("3.11.0/cpu/scale.vmfb"));
        assertThat(call(context, "module.scale", new float[] {1, 2, 3, 4})).containsExactly(0, 0, 0, 0);
    }

    @Test
    void parametersOfTwoScopesScaleAndShift() {
        assumeX86();
        VmModule parameters = parameters("model", "scale_weights.irpa", "bias", "scale2_bias.irpa");
        Context context = context(hal, parameters, module("3.11.0/cpu/scale2.vmfb"));
        assertThat(call(context, "module.scale2", new float[] {1, 2, 3, 4})).containsExactly(12, 14, 16, 18);
    }

    @Test
    void aMissingScopeIsNamedWhenTheProgramStarts() {
        assumeX86();
        VmModule parameters = parameters("model", "scale_weights.irpa");
        BytecodeModule module = module("3.11.0/cpu/scale2.vmfb");
        assertThatThrownBy(() -> Context.create(List.of(hal, parameters, module), ContextOptions.DEFAULTS))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                .hasMessageContaining("scope 'bias'")
                .hasMessageContaining("'model'");
    }

    @Test
    void inputsOfTheWrongShapeOrTypeFailTheCallAndLeaveNothing() {
        assumeX86();
        Context context = context(hal, module("3.11.0/cpu/add.vmfb"));
        assertThatThrownBy(() -> call(context, "module.add", new float[3], new float[4]))
                .hasMessageContaining("3xf32");
        assertThatThrownBy(() -> call(context, "module.add", new float[4], new float[5]))
                .hasMessageContaining("5xf32");
        assertThat(call(context, "module.add", new float[4], new float[4])).containsExactly(0, 0, 0, 0);
    }

    @Test
    void contextsOfTheSameModuleShareItsExecutables() {
        assumeX86();
        BytecodeModule module = module("3.11.0/cpu/add.vmfb");
        for (int i = 0; i < 3; i++) {
            Context context = context(hal, module);
            assertThat(call(context, "module.add", new float[] {i, 0, 0, 0}, new float[4]))
                    .containsExactly(i, 0, 0, 0);
        }
    }
}
