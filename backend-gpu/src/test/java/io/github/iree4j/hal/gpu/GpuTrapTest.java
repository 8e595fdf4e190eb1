package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels with a forced end, or without an end. */
@Timeout(300)
class GpuTrapTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofMillis(20);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    private static final String KERNELS = """
            .version 6.0
            .target sm_75
            .address_size 64
            .visible .entry trap(.param .u64 p) { trap; }
            .visible .entry wild(.param .u64 p) {
              .reg .b64 %a;
              mov.u64 %a, 4096;
              st.global.u32 [%a], 1;
              ret;
            }
            .visible .entry odd(.param .u64 p) {
              .reg .b64 %a;
              ld.param.u64 %a, [p];
              st.global.u32 [%a+2], 1;
              ret;
            }
            .visible .entry behind(.param .u64 p) {
              .reg .b64 %a;
              ld.param.u64 %a, [p];
              st.global.u32 [%a+1073741824], 1;
              ret;
            }
            .visible .entry endless(.param .u64 p) {
              $again:
              bra $again;
            }
            """;

    private static final List<String> NAMES = List.of("trap", "wild", "odd", "behind", "endless");

    @TempDir
    private Path directory;

    private static Executable load(StreamDevice device, GpuKind kind) {
        boolean cuda = kind == GpuKind.CUDA;
        byte[] code = GpuExecutables.pack(
                cuda ? GpuExecutables.CUDA : GpuExecutables.HIP,
                NAMES.stream().map(each -> GpuExecutables.kernel(each, 1, 0)).toList(),
                KERNELS.getBytes(StandardCharsets.US_ASCII));
        return device.createExecutable(new ExecutableParams(
                cuda ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP, MemorySegment.ofArray(code)));
    }

    private static void dispatch(StreamDevice device, Fence done, Executable kernels, String name, Buffer buffer) {
        device.queue(0)
                .dispatch(
                        null,
                        done,
                        kernels,
                        NAMES.indexOf(name),
                        DispatchConfig.of(1, 1, 1),
                        new int[0],
                        BindingTable.of(buffer),
                        0);
    }

    private static Stream<Arguments> faults() {
        return Stream.of(GpuKind.values())
                .flatMap(kind -> Stream.of("trap", "wild", "odd", "behind").map(each -> Arguments.of(kind, each)));
    }

    /** As compilers write names of functions imported from ONNX: with '$' in the lookup, and '_' in the kernel. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void aKernelIsFoundByANameImpossibleInPtx(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        try (StreamDevice device = fake.open(DeviceOptions.builder())) {
            byte[] code = GpuExecutables.pack(
                    kind == GpuKind.CUDA ? GpuExecutables.CUDA : GpuExecutables.HIP,
                    List.of(GpuExecutables.kernel("trap", 1, 0), GpuExecutables.kernel("main_async_0", 1, 0)),
                    KERNELS.replace("endless", "main_async_0").getBytes(StandardCharsets.US_ASCII));
            try (Executable kernels = device.createExecutable(new ExecutableParams(
                    kind == GpuKind.CUDA ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP,
                    MemorySegment.ofArray(code)))) {
                assertThat(kernels.lookup("main$async_0")).isEqualTo(1);
                assertThat(kernels.lookup("main_async_0")).isEqualTo(1);
                assertThatThrownBy(() -> kernels.lookup("main$async_1"))
                        .hasMessageContaining("has no export 'main$async_1'; it has 2: trap, main_async_0");
            }
        }
    }

    /** The device is lost, with the work of others there; work behind fails, and another device can be opened. */
    @ParameterizedTest
    @MethodSource("faults")
    void aKernelEndingByForceLosesTheDevice(GpuKind kind, String name) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "");
        StreamDevice device = fake.open(DeviceOptions.builder());
        try (Executable kernels = load(device, kind);
                Buffer buffer = device.allocator().allocate(OF_DEVICE, 64);
                Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence behind = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            dispatch(device, done, kernels, name, buffer);
            device.queue(1).fill(done, behind, buffer, 0, 64, 1, 4, 0);
            for (Fence each : List.of(done, behind)) {
                IreeException failure = catchThrowableOfType(IreeException.class, () -> each.await(LONG));
                assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
                assertThat(failure).hasMessageContaining("is lost");
            }
            assertThat(device.failure().orElseThrow().code()).isEqualTo(StatusCode.ABORTED);
        }
        device.close();
        GpuDrivers.assertNothingLeft(device);
        try (StreamDevice again = fake.open(DeviceOptions.builder());
                Buffer buffer = again.allocator().allocate(OF_DEVICE, 64);
                Fence done = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            again.queue(0).fill(null, done, buffer, 0, 64, 1, 4, 0);
            done.await(LONG);
        }
        fake.assertNothingToComplainOf();
    }

    /** Its waiters are notified when the device is closed, and its memory stays until the driver gives up. */
    @ParameterizedTest
    @EnumSource
    void anEndlessKernelIsLeftToTheDriver(GpuKind kind) {
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "", SOON);
        StreamDevice device = fake.open(DeviceOptions.builder());
        Executable kernels = load(device, kind);
        Buffer buffer = device.allocator().allocate(OF_DEVICE, 64);
        try (Fence done = Fence.adopt(TimelineSemaphore.create(0), 1);
                Fence behind = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            dispatch(device, done, kernels, "endless", buffer);
            device.queue(1).fill(done, behind, buffer, 0, 64, 1, 4, 0);
            buffer.close();
            kernels.close();
            IreeException closing = catchThrowableOfType(IreeException.class, device::close);
            assertThat(closing.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            for (Fence each : List.of(done, behind)) {
                IreeException failure = catchThrowableOfType(IreeException.class, () -> each.await(LONG));
                assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
            }
            assertThat(StreamDevices.awaitFreed(device, Duration.ZERO))
                    .as("while the kernel runs")
                    .isFalse();
        }
        Objects.requireNonNull(fake.library()).lose(); // as watchdogs of drivers do
        assertThat(StreamDevices.awaitFreed(device, LONG)).isTrue();
        GpuDrivers.assertNothingLeft(device);
        fake.assertNothingToComplainOf();
    }
}
