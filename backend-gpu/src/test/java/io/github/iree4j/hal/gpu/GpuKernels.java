package io.github.iree4j.hal.gpu;

import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/**
 * The kernels of the contract suites for CUDA and HIP, in PTX; the source is in {@code gpu/contract} among the resources.
 *
 * <p>HIP's libraries take code objects, not PTX: for HIP, kernels for the library that stands in for it in tests.
 */
public final class GpuKernels {
    private static final long READ_ONLY = GpuExecutableFile.READ_ONLY;
    private static final String CONSTANT = "-1; // specialisation constant 0";

    private GpuKernels() {}

    /** Loads the kernels in the format of the device's driver; the caller closes the executable. */
    public static Executable load(Device device, int... constants) {
        boolean cuda = device.info().driver().equals("cuda");
        String format = cuda ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP;
        byte[] code = pack(cuda ? GpuExecutables.CUDA : GpuExecutables.HIP, constants);
        return device.createExecutable(new ExecutableParams(format, MemorySegment.ofArray(code), null, constants));
    }

    /** An executable of the kernels: {@link GpuExecutables#CUDA} or {@link GpuExecutables#HIP}. */
    static byte[] pack(String identifier, int... constants) {
        List<Table> kernels = List.of(
                GpuExecutables.kernel("add", 0, new long[] {READ_ONLY, READ_ONLY, 0}),
                GpuExecutables.kernel("scale", 2, new long[] {READ_ONLY, 0}),
                GpuExecutables.kernel("fail", 0, 0),
                GpuExecutables.kernel("coordinates", 1, 0),
                GpuExecutables.kernel("facts", 1, 0),
                GpuExecutables.kernel("crash", 0, 0));
        return GpuExecutables.pack(identifier, kernels, ptx(constants).getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * The text, with the specialisation constant written out. Executables for CUDA and HIP have no means for constants:
     * compilers write out such constants before making code.
     */
    private static String ptx(int... constants) {
        try (InputStream in = GpuKernels.class.getResourceAsStream("/gpu/contract/kernels.ptx")) {
            String text =
                    new String(Objects.requireNonNull(in, "kernels.ptx").readAllBytes(), StandardCharsets.US_ASCII);
            return constants.length == 0 ? text : text.replace(CONSTANT, constants[0] + ";");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
