package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Code beyond a device is refused at the load: with the number and the limit, or with the message of the driver's
 * compiler.
 */
@Timeout(300)
class GpuLimitsTest {
    private static final String HEAD = ".version 6.0\n.target sm_75\n.address_size 64\n";

    @TempDir
    private Path directory;

    /** Loads a kernel, {@code k}; returns the reason. */
    private @Nullable IreeException load(GpuKind kind, String settings, int x, int y, int z, int shared, String ptx) {
        return load(kind, settings, GpuExecutables.kernel("k", x, y, z, shared), ptx);
    }

    private @Nullable IreeException load(GpuKind kind, String settings, Table kernel, String ptx) {
        boolean cuda = kind == GpuKind.CUDA;
        GpuDrivers fake = GpuDrivers.fake(directory, kind, settings);
        byte[] code = GpuExecutables.pack(
                cuda ? GpuExecutables.CUDA : GpuExecutables.HIP,
                List.of(kernel),
                (HEAD + ptx).getBytes(StandardCharsets.US_ASCII));
        ExecutableParams params = new ExecutableParams(
                cuda ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP, MemorySegment.ofArray(code));
        try (StreamDevice device = fake.open(DeviceOptions.builder())) {
            IreeException failure = catchThrowableOfType(
                    IreeException.class, () -> device.createExecutable(params).close());
            assertThat(device.failure()).isEmpty();
            return failure;
        } finally {
            fake.assertNothingToComplainOf();
        }
    }

    /** Each limit of the device, by its attribute: a kernel at the limit is loaded, a kernel beyond is not. */
    @ParameterizedTest
    @CsvSource({
        "CUDA, 2,  64, 1,  1, threads of a workgroup along x",
        "HIP,  26, 64, 1,  1, threads of a workgroup along x",
        "CUDA, 3,  1,  64, 1, threads of a workgroup along y",
        "HIP,  27, 1,  64, 1, threads of a workgroup along y",
        "CUDA, 4,  1,  1, 64, threads of a workgroup along z",
        "HIP,  28, 1,  1, 64, threads of a workgroup along z",
        "CUDA, 1,  8,  4,  2, threads of a workgroup",
        "HIP,  56, 8,  4,  2, threads of a workgroup",
    })
    void blocksBeyondTheDevicesLimitsAreRefused(GpuKind kind, int attribute, int x, int y, int z, String what) {
        String ptx = ".visible .entry k() { ret; }";
        assertThat(load(kind, "attribute=%d:64".formatted(attribute), x, y, z, 0, ptx))
                .isNull();
        assertRefused(
                load(kind, "attribute=%d:63".formatted(attribute), x, y, z, 0, ptx),
                "kernel 'k' has 64 %s, the limit is 63 of device '%s:0'".formatted(what, GpuDriver.name(kind)));
    }

    private static void assertRefused(@Nullable IreeException failure, String message) {
        assertThat(failure).isNotNull();
        assertThat(failure).hasMessageContaining(message).hasMessageContaining("compile the program for it");
        assertThat(failure.code()).isEqualTo(StatusCode.OUT_OF_RANGE);
    }

    @ParameterizedTest
    @EnumSource
    void blocksWithoutEnoughRegistersAreRefused(GpuKind kind) {
        String ptx = ".visible .entry k() .maxntid 32, 1, 1 { ret; }";
        assertThat(load(kind, "", 32, 1, 1, 0, ptx)).isNull();
        assertRefused(
                load(kind, "", 33, 1, 1, 0, ptx),
                "kernel 'k' has 33 threads of a workgroup (with the registers that it uses), the limit is 32");
    }

    /** The declarations of the text and the request of the executable count together. */
    @ParameterizedTest
    @CsvSource({"CUDA, 166912", "HIP, 65536"})
    void sharedMemoryBeyondTheDevicesIsRefused(GpuKind kind, int limit) {
        String ptx = ".visible .entry k() { .shared .align 4 .b8 s[1024]; .reg .b32 %r; mov.u32 %r, s; ret; }";
        assertThat(load(kind, "", 1, 1, 1, limit - 1024, ptx)).isNull();
        assertRefused(
                load(kind, "", 1, 1, 1, limit - 1023, ptx),
                "kernel 'k' has %d bytes of shared memory, the limit is %d".formatted(limit + 1, limit));
        assertRefused(
                load(kind, "", 1, 1, 1, limit + 1, ptx),
                "kernel 'k' has %d bytes of dynamic shared memory, the limit is %d".formatted(limit + 1, limit));
    }

    /** A driver reads as many parameters as the code has, behind the given parameters too. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 'k(.param .u64 a, .param .u32 b)', ",
        "2, 1, 'k(.param .u64 a, .param .u32 b)', ",
        "1, 0, 'k(.param .u64 a, .param .u32 b)', 2 parameters of at most 8 bytes",
        "0, 0, 'k(.param .u64 a)', 1 parameters of at most 8 bytes",
        "2, 2, 'k(.param .u64 a, .param .align 8 .b8 b[16])', 2 parameters of at most 16 bytes",
    })
    void codeTakingMoreThanTheExecutableDeclaresIsRefused(
            int buffers, int constants, String entry, @Nullable String refused) {
        Table kernel = GpuExecutables.kernel("k", buffers, constants);
        String ptx = ".visible .entry " + entry + " { ret; }";
        IreeException failure = load(GpuKind.CUDA, "", kernel, ptx);
        if (refused == null) {
            assertThat(failure).isNull();
            return;
        }
        assertThat(failure).isNotNull();
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure)
                .hasMessageContainingAll(
                        "the code of kernel 'k' has " + refused,
                        "declares %d buffers and %d constants".formatted(buffers, constants),
                        "compile the program again");
        assertThat(load(GpuKind.CUDA, "no_symbol=cuFuncGetParamInfo", kernel, ptx))
                .as("by a silent driver")
                .isNull();
    }

    @ParameterizedTest
    @EnumSource
    void uncompilableTextNamesThePlaceAndTheReason(GpuKind kind) {
        IreeException failure = load(kind, "", 1, 1, 1, 0, "\n.visible .entry k() { wrong.u32 a, b; ret; }");
        assertThat(failure).isNotNull();
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure)
                .hasMessageContainingAll(
                        "module 0 of the executable, PTX for sm_75, cannot be loaded",
                        "INVALID_PTX (218)",
                        "the driver's compiler reports: ",
                        "line 5",
                        "wrong.u32");
    }
}
