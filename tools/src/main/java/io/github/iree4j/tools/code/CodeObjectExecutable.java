package io.github.iree4j.tools.code;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tools.code.CodeObject.Argument;
import io.github.iree4j.tools.code.CodeObject.Kernel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Executables made of machine code for AMD's GPUs. */
public final class CodeObjectExecutable {
    private static final String HIP = "HIP1";

    private static final int ADDRESS_BYTES = 8;
    private static final int CONSTANT_BYTES = 4;

    // Bundles in the form read by drivers; clang writes bundles of the same parts.
    private static final String MAGIC = "__CLANG_OFFLOAD_BUNDLE__";
    private static final String HOST = "host-x86_64-unknown-linux--"; // the first part, empty
    private static final String PREFIX = "hipv4-";
    private static final int PAGE = 4096;
    private static final int ENTRY_BYTES = 24;

    private CodeObjectExecutable() {}

    /**
     * Makes an executable of code objects with the same kernels for several architectures; the driver takes the
     * device's architecture. The exports are the kernels. A kernel's arguments are 64-bit addresses of buffers, then
     * 32-bit constants; {@code reqd_work_group_size} gives the size of a workgroup.
     *
     * @param objects code objects, one for each architecture
     * @return an executable of format {@code rocm-hsaco-fb}
     * @throws IreeException INVALID_ARGUMENT for any other kernel, or a kernel not the same in all objects, with the
     *     kernel's name
     */
    public static byte[] of(List<CodeObject> objects) {
        CodeObject first = objects.getFirst();
        if (first.kernels().isEmpty()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "code object for %s has no kernels".formatted(first.architecture()));
        }
        List<Table> kernels =
                first.kernels().stream().map(CodeObjectExecutable::export).toList();
        for (CodeObject each : objects) {
            checkSame(first, each);
        }
        byte[] image = objects.size() == 1 ? first.bytes() : bundle(objects);
        Table module = new Table().node(0, new Bytes(image, 1, 64));
        return ExecutableHeader.before(
                FlatBufferWriter.write(new Table().tables(0, kernels).tables(1, List.of(module)), HIP, 8), HIP);
    }

    private static Table export(Kernel kernel) {
        int buffers = 0;
        int constants = 0;
        int offset = 0;
        for (Argument argument : kernel.arguments()) {
            boolean isBuffer = argument.isBuffer() && argument.size() == ADDRESS_BYTES && constants == 0;
            if (argument.offset() != offset
                    || !isBuffer && (argument.isBuffer() || argument.size() != CONSTANT_BYTES)) {
                throw invalid(
                        kernel,
                        "has an argument of %d bytes at %d; buffers (8 bytes) come first, then constants (4 bytes)"
                                .formatted(argument.size(), argument.offset()));
            }
            offset += argument.size();
            buffers += isBuffer ? 1 : 0;
            constants += isBuffer ? 0 : 1;
        }
        if (kernel.workgroup().size() != 3) {
            throw invalid(kernel, "does not say how many threads a workgroup has; add reqd_work_group_size(x, y, z)");
        }
        checkLimit(kernel, "buffers", buffers, CommandBuffer.MAXIMUM_BINDINGS);
        checkLimit(kernel, "constants", constants, CommandBuffer.MAXIMUM_CONSTANTS);
        List<Integer> threads = kernel.workgroup();
        return new Table()
                .text(1, kernel.name())
                .struct(2, threads.get(0), threads.get(1), threads.get(2))
                .u32(4, constants)
                .node(5, new Bytes(new byte[8 * buffers], 8, 8));
    }

    private static void checkSame(CodeObject one, CodeObject other) {
        if (one.kernels().size() != other.kernels().size()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%d kernels for %s and %d for %s; compile all from the same source"
                            .formatted(
                                    one.kernels().size(),
                                    one.architecture(),
                                    other.kernels().size(),
                                    other.architecture()));
        }
        for (Kernel kernel : one.kernels()) {
            Optional<Kernel> same = other.kernels().stream()
                    .filter(each -> each.name().equals(kernel.name()))
                    .findFirst();
            if (same.isEmpty()
                    || !same.get().arguments().equals(kernel.arguments())
                    || !same.get().workgroup().equals(kernel.workgroup())) {
                throw invalid(
                        kernel,
                        "for %s differs from the kernel for %s; compile both from the same source"
                                .formatted(one.architecture(), other.architecture()));
            }
        }
    }

    private static byte[] bundle(List<CodeObject> objects) {
        int size = aligned(MAGIC.length()
                + 8
                + ENTRY_BYTES
                + HOST.length()
                + objects.stream()
                        .mapToInt(each -> ENTRY_BYTES + id(each).length())
                        .sum());
        int at = size;
        for (CodeObject each : objects) {
            size = aligned(size + each.bytes().length);
        }
        ByteBuffer bundle = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        bundle.put(MAGIC.getBytes(StandardCharsets.US_ASCII)).putLong(objects.size() + 1L);
        entry(bundle, at, 0, HOST);
        for (CodeObject each : objects) {
            entry(bundle, at, each.bytes().length, id(each));
            bundle.put(at, each.bytes());
            at = aligned(at + each.bytes().length);
        }
        return bundle.array();
    }

    private static void entry(ByteBuffer bundle, long at, long size, String id) {
        bundle.putLong(at).putLong(size).putLong(id.length()).put(id.getBytes(StandardCharsets.US_ASCII));
    }

    private static String id(CodeObject object) {
        return PREFIX + object.target();
    }

    private static int aligned(int size) {
        return Math.addExact(size, PAGE - 1) & -PAGE;
    }

    private static void checkLimit(Kernel kernel, String what, int count, int limit) {
        if (count > limit) {
            throw invalid(kernel, "has %d %s, the limit is %d".formatted(count, what, limit));
        }
    }

    private static IreeException invalid(Kernel kernel, String what) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "kernel '%s' %s".formatted(kernel.name(), what));
    }
}
