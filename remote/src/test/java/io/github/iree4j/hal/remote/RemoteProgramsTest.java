package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Fixtures;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.modules.hal.HostBytes;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Compiled programs on devices of other nodes, alone and together with the local CPU. */
@Timeout(300)
class RemoteProgramsTest {
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<Device> devices = new ArrayList<>();

    @BeforeEach
    void assumeX86() {
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the modules are compiled for x86_64");
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        for (Device each : devices) {
            assertThat(each.allocator().statistics().bytesLive()).as(each.id()).isZero();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private void near() {
        devices.add(closed(new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS)));
    }

    private void far() {
        devices.add(closed(closed(new RemoteBackend()).open(DeviceOptions.builder())));
    }

    private Context load(String module) {
        BytecodeModule compiled = closed(BytecodeModule.open(
                Fixtures.file(module), HalTypes.register(VmTypes.standard()), ModuleLimits.DEFAULTS));
        return closed(Context.create(List.of(HalModule.create(devices), compiled), ContextOptions.DEFAULTS));
    }

    private List<float[]> call(Context context, String function, int results, float[]... inputs) {
        try (Invocation call = context.invocation(context.function("module." + function))) {
            for (float[] input : inputs) {
                try (Buffer buffer = devices.getFirst().allocator().allocate(BufferParams.DEFAULT, 4L * input.length)) {
                    buffer.write(0, MemorySegment.ofArray(input));
                    try (BufferView view = BufferView.create(
                            buffer, Shape.of(input.length), ElementType.F32, BufferView.ENCODING_DENSE_ROW_MAJOR)) {
                        call.ref(view);
                    }
                }
            }
            call.run();
            List<float[]> all = new ArrayList<>();
            for (int i = 0; i < results; i++) {
                try (HostBytes bytes = HostBytes.of(call.ref(BufferView.class))) {
                    all.add(bytes.segment().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
                }
            }
            return all;
        }
    }

    @Test
    void aProgramOfTwoDevicesUsesThisNodeAndAnother() {
        near();
        far();
        Context context = load("3.13.0/cpu-two/two_devices.vmfb");
        for (int x = 1; x < 20; x++) {
            float[] result =
                    call(context, "both", 1, new float[] {x, -x, 2 * x, 0}).getFirst();
            assertThat(result).containsExactly(4f * x * x + x, 4f * x * x - x, 16f * x * x + 2 * x, 0);
        }
    }

    @Test
    void aProgramWithUndeclaredExportsRunsThere() {
        far();
        Context context = load("3.13.0/vmvx/add.vmfb");
        assertThat(call(context, "add", 1, new float[] {1, 2, 3, 4}, new float[] {10, 20, 30, 40}))
                .containsExactly(new float[] {11, 22, 33, 44});
    }

    @Test
    void aProgramOfThreeDevicesUsesTwoOtherNodes() {
        far();
        near();
        far();
        Context context = load("3.13.0/cpu-three/three_devices.vmfb");
        float[] x = {1, 2, 3, 4};
        float[] y = {0.5f, 0.25f, 2, 8};
        for (int i = 0; i < 10; i++) {
            assertThat(call(context, "around", 2, x, y))
                    .containsExactly(new float[] {0.875f, 0.984375f, 0.33333334f, -7}, new float[] {2, 4, 6, 8});
        }
    }

    @Test
    void commandsRecordedInEachStepOfALoop() {
        far();
        near();
        Context context = load("3.13.0/cpu-two/alternating_devices.vmfb");
        for (int size = 1; size < 70; size += 17) {
            float[] input = new float[size];
            float[] last = new float[size];
            float[] more = new float[size];
            for (int i = 0; i < size; i++) {
                input[i] = i - 3;
                last[i] = 32 * input[i] - 31;
                more[i] = last[i] + 1;
            }
            assertThat(call(context, "alternate", 2, input)).containsExactly(last, more);
        }
    }
}
