package io.github.iree4j.hal.gpu;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Texts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Writes executables for CUDA and HIP, as written by compilers now and before. */
final class GpuExecutables {
    /** The executables for CUDA of today. */
    static final String CUDA = "CDA1";

    /** Executables for HIP. */
    static final String HIP = "HIP1";

    private GpuExecutables() {}

    /** A kernel of the first module with blocks of a single thread, with buffers to write, and constants. */
    static Table kernel(String name, int bindings, int constants) {
        return kernel(name, constants, new long[bindings]);
    }

    /** A kernel with flags of its buffers. */
    static Table kernel(String name, int constants, long[] bindingFlags) {
        ByteBuffer flags = ByteBuffer.allocate(8 * bindingFlags.length).order(ByteOrder.LITTLE_ENDIAN);
        flags.asLongBuffer().put(bindingFlags);
        return new Table().text(1, name).struct(2, 1, 1, 1).u32(4, constants).node(5, new Bytes(flags.array(), 8, 8));
    }

    /** A kernel without buffers and constants, with the size of its blocks and their dynamic shared memory. */
    static Table kernel(String name, int x, int y, int z, int shared) {
        return new Table().text(1, name).struct(2, x, y, z).u32(3, shared).node(5, new Bytes(new byte[0], 8, 8));
    }

    /** An executable with its header. */
    static byte[] pack(String identifier, List<Table> kernels, byte[]... images) {
        return ExecutableHeader.before(content(identifier, kernels, images), identifier);
    }

    private static byte[] content(String identifier, List<Table> kernels, byte[]... images) {
        List<Table> modules = Arrays.stream(images)
                .map(image -> new Table().node(0, new Bytes(image, 1, 4)))
                .toList();
        return FlatBufferWriter.write(new Table().tables(0, kernels).tables(1, modules), identifier, 8);
    }

    /**
     * An executable of a single kernel from before August 2024, without the vector of shared memory for a negative
     * size.
     */
    static byte[] packOld(String identifier, String kernel, int[] block, int shared, byte[] image) {
        Table root = new Table().node(0, new Texts(List.of(kernel))).node(1, new Bytes(words(block), 12, 4));
        Bytes bytes = new Bytes(image, 1, 4);
        if (shared < 0) {
            root.node(2, bytes);
        } else {
            root.node(2, new Bytes(words(shared), 4, 4)).node(3, bytes);
        }
        return FlatBufferWriter.write(root, identifier, 4);
    }

    private static byte[] words(int... words) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(words);
        return bytes.array();
    }

    /** A module in PTX without kernels. */
    static byte[] ptx() {
        return "//\n// Text\n.version 6.0\n.target sm_75\n.address_size 64\n".getBytes(StandardCharsets.US_ASCII);
    }

    /** An ELF file without code: a segment and a section, of 16 bytes at the end. */
    static byte[] elf(int machine, int abi, int flags) {
        ByteBuffer file = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(0, 0x464C457F)
                .put(4, (byte) 2)
                .put(5, (byte) 1)
                .put(6, (byte) 1)
                .put(8, (byte) abi)
                .putShort(18, (short) machine)
                .putLong(32, 64) // segments
                .putLong(40, 120) // sections
                .putInt(48, flags)
                .putShort(54, (short) 56)
                .putShort(56, (short) 1)
                .putShort(58, (short) 64)
                .putShort(60, (short) 1);
        file.putInt(64, 1).putLong(64 + 8, 184).putLong(64 + 32, 16);
        file.putInt(120 + 4, 1).putLong(120 + 24, 184).putLong(120 + 32, 16);
        return file.array();
    }
}
