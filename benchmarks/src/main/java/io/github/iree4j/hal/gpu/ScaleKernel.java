package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The kernel of the measurements, {@code out[i] = in[i] * c0 + c1} for 64 elements, for the driver of a device. */
final class ScaleKernel {
    static final int ELEMENTS = 64;

    /** A file to use instead: for HIP, with a library taking code for a single GPU and no text. */
    private static final String FILE = System.getProperty("iree4j.bench.executable", "");

    private static final int HEADER_BYTES = 64;

    private ScaleKernel() {}

    static Executable load(Device device) throws IOException {
        String driver = device.info().driver();
        byte[] code = switch (driver) {
            case String _ when !FILE.isEmpty() -> Files.readAllBytes(Path.of(FILE));
            case "vulkan" -> resource("/vulkan/scale.spirv-fb");
            case "cuda" -> pack("CDA1", resource("/gpu/scale.ptx"));
            default -> pack("HIP1", resource("/gpu/scale.ptx"));
        };
        String format = switch (driver) {
            case "vulkan" -> "vulkan-spirv-fb";
            case "cuda" -> "cuda-nvptx-fb";
            default -> "rocm-hsaco-fb";
        };
        return device.createExecutable(new ExecutableParams(format, MemorySegment.ofArray(code)));
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = ScaleKernel.class.getResourceAsStream(name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    /**
     * An executable of a single module and a single kernel: a header of 64 bytes and a flatbuffer, with tables at these
     * places:
     *
     * <pre>
     *   16  executable   exports, modules
     *   60  export       name, block, constants, flags of buffers; before it, at 44, which field is where
     *   96  module       image
     * </pre>
     */
    private static byte[] pack(String identifier, byte[] image) {
        ByteBuffer file =
                ByteBuffer.allocate(HEADER_BYTES + 144 + image.length + 1).order(ByteOrder.LITTLE_ENDIAN);
        byte[] magic = identifier.getBytes(StandardCharsets.US_ASCII);
        file.put(0, magic).putLong(8, file.capacity() - HEADER_BYTES);
        ByteBuffer content = file.slice(HEADER_BYTES, file.capacity() - HEADER_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(16)
                .put(magic);
        shorts(content, 8, 8, 12, 4, 8); // sizes of the vtable and of the table, places of the fields
        ints(content, 16, 16 - 8, 28 - 20, 36 - 24);
        ints(content, 28, 1, 60 - 32);
        ints(content, 36, 1, 96 - 40);
        shorts(content, 44, 16, 28, 0, 4, 8, 0, 20, 24);
        ints(content, 60, 60 - 44, 128 - 64, ELEMENTS, 1, 1, 2, 108 - 84);
        shorts(content, 88, 6, 8, 4);
        ints(content, 96, 96 - 88, 140 - 100);
        content.putInt(108, 2).putLong(112, 1).putLong(120, 0); // the first buffer is only read
        content.putInt(128, 5).put(132, "scale".getBytes(StandardCharsets.US_ASCII));
        content.putInt(140, image.length).put(144, image);
        return file.array();
    }

    private static void shorts(ByteBuffer buffer, int at, int... values) {
        for (int i = 0; i < values.length; i++) {
            buffer.putShort(at + 2 * i, (short) values[i]);
        }
    }

    private static void ints(ByteBuffer buffer, int at, int... values) {
        for (int i = 0; i < values.length; i++) {
            buffer.putInt(at + 4 * i, values[i]);
        }
    }
}
