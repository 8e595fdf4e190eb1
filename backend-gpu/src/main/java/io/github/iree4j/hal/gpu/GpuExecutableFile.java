package io.github.iree4j.hal.gpu;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBuffer;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An executable for CUDA or HIP: modules, and the kernels exported from the modules.
 *
 * <p>Format: {@code schemas/cuda_executable_def.fbs} and {@code schemas/hip_executable_def.fbs} of IREE, after a header
 * of 64 bytes or, until 2025, without a header. {@code OldGpuExecutable} reads the versions until August 2024.
 *
 * @param modules the images for the driver
 * @param exports the kernels by ordinal
 */
record GpuExecutableFile(List<GpuImage> modules, List<Export> exports) {
    /** The format for CUDA. */
    static final String CUDA = "cuda-nvptx-fb";

    /** The format for HIP. */
    static final String HIP = "rocm-hsaco-fb";

    /** Flag of read-only bindings. */
    static final long READ_ONLY = 1;

    /** Value of a count not declared by the file. */
    static final int UNDECLARED = -1;

    // Far above the needs of compilers; these limits bound the work that a file can cause in a driver.
    private static final int EXPORTS_LIMIT = 4096;
    private static final int MODULES_LIMIT = 4096;
    private static final int NAME_LIMIT = 4096; // bytes
    private static final int BINDINGS_LIMIT = 64; // of a dispatch
    private static final int CONSTANTS_LIMIT = 64; // of a dispatch
    private static final int IMAGE_LIMIT = 1 << 30; // bytes of a module
    private static final int BLOCK_LIMIT = 1024; // threads; devices with CUDA or HIP run no more
    private static final int SHARED_LIMIT = 1 << 20; // bytes; devices have a fourth of this

    private static final int BLOCK_BYTES = 12;

    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * A kernel.
     *
     * @param name the function in the module, and the name for lookups
     * @param module index of the module
     * @param blockX threads of a block along x, at least 1
     * @param blockY along y
     * @param blockZ along z
     * @param sharedBytes dynamic shared memory of a block
     * @param constantCount 32-bit constants of a dispatch; {@value #UNDECLARED} before August 2024, when programs
     *     declared the count
     * @param bindingCount buffers of a dispatch; {@value #UNDECLARED} before August 2024
     * @param bindingFlags of each buffer, {@value #READ_ONLY} or others; null before August 2024
     */
    record Export(
            String name,
            int module,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            int constantCount,
            int bindingCount,
            long @Nullable [] bindingFlags) {}

    /** Copies the lists. */
    GpuExecutableFile {
        modules = List.copyOf(modules);
        exports = List.copyOf(exports);
    }

    /**
     * Reads an executable. Only the outer structure of modules is checked.
     *
     * @param data the executable, at any alignment; must not change while in use
     * @param format {@value #CUDA} or {@value #HIP}
     * @return the contents; images are slices of the data
     * @throws IreeException INVALID_ARGUMENT naming the damage; INCOMPATIBLE or UNIMPLEMENTED for other versions and
     *     formats; RESOURCE_EXHAUSTED for counts beyond limits
     */
    static GpuExecutableFile read(MemorySegment data, String format) {
        try {
            return switch (format) {
                case CUDA -> read(data, "CUDA executable", "CDA1", List.of("CUDA"));
                case HIP -> read(data, "HIP executable", "HIP1", List.of("HIPE", "ROCM"));
                default ->
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "its format is '%s'; '%s' and '%s' are known".formatted(format, CUDA, HIP));
            };
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "executable cannot be read: " + e.getMessage(), e);
        }
    }

    private static GpuExecutableFile read(MemorySegment data, String what, String identifier, List<String> old) {
        MemorySegment content = ExecutableHeader.content(data, identifier);
        String found = ExecutableHeader.identifier(content, 4);
        return old.contains(found)
                ? OldGpuExecutable.read(new FlatBuffer(content).root(what, found))
                : read(new FlatBuffer(content).root(what, identifier));
    }

    private static GpuExecutableFile read(FlatBuffer.Table root) {
        FlatBuffer.Vector moduleTables = root.vector("modules", 1, 4, MODULES_LIMIT);
        List<GpuImage> modules = new ArrayList<>();
        for (int i = 0; i < moduleTables.count(); i++) {
            modules.add(image(moduleTables.table(i), "image of module " + i, 0));
        }
        FlatBuffer.Vector exportTables = exports(root, "exports", 0);
        List<Export> exports = new ArrayList<>();
        for (int i = 0; i < exportTables.count(); i++) {
            exports.add(export(i, exportTables.table(i), modules.size()));
        }
        return new GpuExecutableFile(modules, exports);
    }

    private static Export export(int ordinal, FlatBuffer.Table table, int modules) {
        int module = table.i32("module", 0, 0);
        String name = checkName(ordinal, table.string("kernel", 1));
        if (module < 0 || module >= modules) {
            throw invalid(
                    "module %s of kernel '%s' does not exist, there are %d",
                    Integer.toUnsignedString(module), name, modules);
        }
        MemorySegment block = table.struct("block size", 2, BLOCK_BYTES);
        if (block == null) {
            throw invalid("kernel '%s' has no block size", name);
        }
        int constants = table.i32("constants", 4, 0);
        if (constants < 0 || constants > CONSTANTS_LIMIT) {
            throw tooMany("constants of kernel '" + name + "'", Integer.toUnsignedLong(constants), CONSTANTS_LIMIT);
        }
        FlatBuffer.Vector flags = table.vector("buffers of kernel '" + name + "'", 5, 8, BINDINGS_LIMIT);
        long[] bindingFlags = flags.bytes().toArray(U64);
        return checkBlock(new Export(
                name,
                module,
                block.get(U32, 0),
                block.get(U32, 4),
                block.get(U32, 8),
                table.i32("shared memory", 3, 0),
                constants,
                bindingFlags.length,
                bindingFlags));
    }

    /** Returns the export if a device could have room for the blocks. */
    static Export checkBlock(Export export) {
        long x = Integer.toUnsignedLong(export.blockX);
        long y = Integer.toUnsignedLong(export.blockY);
        long z = Integer.toUnsignedLong(export.blockZ);
        if (x == 0 || y == 0 || z == 0) {
            throw invalid("kernel '%s' has blocks of %dx%dx%d threads, none", export.name, x, y, z);
        }
        if (x > BLOCK_LIMIT || y > BLOCK_LIMIT || z > BLOCK_LIMIT || x * y * z > BLOCK_LIMIT) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "blocks of %dx%dx%d threads of kernel '%s' exceed the limit of %d; compile the program for smaller workgroups"
                            .formatted(x, y, z, export.name, BLOCK_LIMIT));
        }
        long shared = Integer.toUnsignedLong(export.sharedBytes);
        if (shared > SHARED_LIMIT) {
            throw tooMany("bytes of shared memory of kernel '" + export.name + "'", shared, SHARED_LIMIT);
        }
        return export;
    }

    /** Returns the name if a driver can look the name up. */
    static String checkName(int ordinal, String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (name.isEmpty()) {
            throw invalid("export %d has no name", ordinal);
        }
        if (bytes > NAME_LIMIT) {
            throw tooMany("bytes of the name of export " + ordinal, bytes, NAME_LIMIT);
        }
        if (name.indexOf('\0') >= 0) {
            throw invalid("the name of export %d contains a NUL at %d of %d", ordinal, name.indexOf('\0'), bytes);
        }
        return name;
    }

    /** Reads an image, declared as a string by the schema; compilers before August 2024 left out the NUL at the end. */
    static GpuImage image(FlatBuffer.Table table, String what, int slot) {
        MemorySegment bytes = table.vector(what, slot, 1, IMAGE_LIMIT).bytes();
        if (bytes.byteSize() == 0) {
            throw invalid("%s is empty", what);
        }
        return GpuImage.of(what, bytes);
    }

    static FlatBuffer.Vector exports(FlatBuffer.Table table, String what, int slot) {
        return table.vector(what, slot, 4, EXPORTS_LIMIT);
    }

    static FlatBuffer.Vector blocks(FlatBuffer.Table table, String what, int slot) {
        return table.vector(what, slot, BLOCK_BYTES, EXPORTS_LIMIT);
    }

    static IreeException invalid(String format, Object... arguments) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT, format.formatted(arguments) + "; compile the program again");
    }

    private static IreeException tooMany(String what, long count, long limit) {
        return IreeException.of(
                StatusCode.RESOURCE_EXHAUSTED,
                "%d %s exceed the limit of %d; compile the program again with fewer".formatted(count, what, limit));
    }
}
