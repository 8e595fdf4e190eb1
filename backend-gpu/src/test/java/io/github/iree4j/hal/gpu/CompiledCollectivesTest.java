package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Fixtures;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.ChannelOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.modules.hal.HalModule;
import io.github.iree4j.modules.hal.HalTypes;
import io.github.iree4j.modules.hal.HostBytes;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A compiled program with copies, one per participant, that meet in collectives. */
@Timeout(60)
class CompiledCollectivesTest {
    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final List<Device> devices = new ArrayList<>();
    private final List<Context> programs = new ArrayList<>();
    private GpuDrivers fake; // null on the CPU

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        for (Device device : devices) {
            assertThat(device.allocator().statistics().bytesLive()).isZero();
            if (device instanceof StreamDevice stream) {
                GpuDrivers.assertNothingLeft(stream);
            }
        }
        if (fake != null) {
            fake.assertNothingToComplainOf();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        opened.add(resource);
        return resource;
    }

    private static DeviceOptions participant(String id, int rank, int count) {
        return DeviceOptions.builder()
                .with(new ChannelOptions(ChannelParams.of(id, rank, count)))
                .build();
    }

    private void openCuda(String id, int count) {
        fake = GpuDrivers.fake(directory, GpuKind.CUDA, "devices=2");
        for (int rank = 0; rank < count; rank++) {
            devices.add(closed(fake.driver().open(Integer.toString(rank), participant(id, rank, count))));
        }
    }

    private void load(String module) {
        for (Device device : devices) {
            BytecodeModule compiled = closed(BytecodeModule.open(
                    Fixtures.file(module), HalTypes.register(VmTypes.standard()), ModuleLimits.DEFAULTS));
            programs.add(closed(
                    Context.create(List.of(HalModule.create(List.of(device)), compiled), ContextOptions.DEFAULTS)));
        }
    }

    /** Calls a function of each participant's program, at the same time. */
    private List<byte[]> call(String function, ElementType type, List<MemorySegment> inputs) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(devices.size())) {
            List<Future<byte[]>> calls = new ArrayList<>();
            for (int rank = 0; rank < devices.size(); rank++) {
                int own = rank;
                calls.add(threads.submit(() -> call(own, function, type, inputs.get(own))));
            }
            List<byte[]> results = new ArrayList<>();
            for (Future<byte[]> each : calls) {
                results.add(each.get());
            }
            return results;
        }
    }

    private byte[] call(int rank, String function, ElementType type, MemorySegment input) {
        Context program = programs.get(rank);
        try (Invocation call = program.invocation(program.function("module." + function))) {
            try (Buffer buffer = devices.get(rank).allocator().allocate(BufferParams.DEFAULT, input);
                    BufferView view = BufferView.create(
                            buffer, Shape.of(input.byteSize() / 4), type, BufferView.ENCODING_DENSE_ROW_MAJOR)) {
                call.ref(view);
            }
            call.run();
            try (HostBytes bytes = HostBytes.of(call.ref(BufferView.class))) {
                return bytes.segment().toArray(ValueLayout.JAVA_BYTE);
            }
        }
    }

    private static float[] floats(byte[] bytes) {
        return MemorySegment.ofArray(bytes).toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    private static int[] ints(byte[] bytes) {
        return MemorySegment.ofArray(bytes).toArray(ValueLayout.JAVA_INT_UNALIGNED);
    }

    private int[] place(int rank) {
        Context program = programs.get(rank);
        try (Invocation call = program.invocation(program.function("module.place"))) {
            call.run();
            return new int[] {call.i32(), call.i32()};
        }
    }

    private void checkTwo() throws Exception {
        assertThat(place(0)).containsExactly(0, 2);
        assertThat(place(1)).containsExactly(1, 2);
        for (int i = 1; i < 20; i++) {
            List<MemorySegment> inputs = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                float[] x = new float[8];
                for (int e = 0; e < 8; e++) {
                    x[e] = i + e + 100 * rank;
                }
                inputs.add(MemorySegment.ofArray(x));
            }
            List<byte[]> sums = call("sum", ElementType.F32, inputs);
            for (int rank = 0; rank < 2; rank++) {
                float[] result = floats(sums.get(rank));
                for (int e = 0; e < 8; e++) {
                    assertThat(result[e]).isEqualTo(2 * (2 * (i + e) + 100) + i + e + 100 * rank);
                }
            }
            List<byte[]> all = call(
                    "gather",
                    ElementType.SI32,
                    List.of(MemorySegment.ofArray(new int[] {i, 2}), MemorySegment.ofArray(new int[] {3, -i})));
            assertThat(ints(all.get(0))).containsExactly(2 * i, 4, 6, -2 * i);
            assertThat(ints(all.get(1))).containsExactly(2 * i, 4, 6, -2 * i);
        }
    }

    @Test
    void twoGpusComputeTogether() throws Exception {
        openCuda("pair", 2);
        load("3.13.0/cuda/collective.vmfb");
        checkTwo();
    }

    /** As participants in two processes, each with knowledge of the id and its own rank. */
    @Test
    void anIdOfTheDriverJoinsParticipantsAcrossProcesses() throws Exception {
        fake = GpuDrivers.fake(directory, GpuKind.CUDA, "devices=2");
        String id;
        try (Device any = fake.driver().open("0", DeviceOptions.DEFAULTS)) {
            id = any.createChannelId();
        }
        for (int rank = 0; rank < 2; rank++) {
            devices.add(closed(fake.driver().open(Integer.toString(rank), participant(id, rank, 2))));
        }
        load("3.13.0/cuda/collective.vmfb");
        checkTwo();
    }

    @Test
    void twoDevicesOfTheCpuComputeTogether() throws Exception {
        Assumptions.assumeTrue(CpuFeatures.architecture().equals("x86_64"), "the module is compiled for x86_64");
        for (int rank = 0; rank < 2; rank++) {
            devices.add(closed(new LocalDriverProvider().open("local", participant("pair", rank, 2))));
        }
        load("3.13.0/cpu/collective.vmfb");
        checkTwo();
    }

    /** Without options a device is alone. */
    @Test
    void aLoneParticipantIsAGroup() {
        fake = GpuDrivers.fake(directory, GpuKind.CUDA, "");
        devices.add(closed(fake.open(DeviceOptions.builder())));
        load("3.13.0/cuda/collective.vmfb");
        assertThat(place(0)).containsExactly(0, 1);
        float[] result =
                floats(call(0, "sum", ElementType.F32, MemorySegment.ofArray(new float[] {1, 2, 3, 4, 5, 6, 7, 8})));
        assertThat(result).containsExactly(3, 6, 9, 12, 15, 18, 21, 24);
    }

    @Test
    void aLeaverFailsTheOthersCalls() throws Exception {
        openCuda("pair", 2);
        load("3.13.0/cuda/collective.vmfb");
        checkTwo();
        devices.getLast().close();
        assertThatThrownBy(() -> call(0, "sum", ElementType.F32, MemorySegment.ofArray(new float[8])))
                .hasMessageContaining("device 'cuda:1' of a channel");
    }
}
