package io.github.iree4j.spirv;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBuffer;
import io.github.iree4j.spirv.SpirvLayout.SpirvBinding;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An executable for Vulkan: modules, and the pipelines created from them.
 *
 * <p>Format: {@code schemas/vulkan_executable_def.fbs} of IREE, after a header of 64 bytes or, in 2024, without; and
 * the versions of the predecessor {@code spirv_executable_def.fbs} until December 2022, until December 2023, and until
 * August 2024.
 *
 * @param pipelines the exports by ordinal
 * @param modules the words of the modules, as slices of the data
 */
public record SpirvExecutable(List<SpirvPipeline> pipelines, List<MemorySegment> modules) {
    static final int SETS_LIMIT = 32;

    static final String IDENTIFIER = "VKE1";
    private static final String OLD_IDENTIFIER = "SPVE";

    // Far more than emitted by compilers; the limits bound the work of a driver for a file.
    private static final int PIPELINES_LIMIT = 4096;
    private static final int MODULES_LIMIT = 4096;
    private static final int LAYOUTS_LIMIT = 4096;
    private static final int RANGES_LIMIT = 16;
    private static final int BUFFERS_LIMIT = 64; // of a dispatch
    private static final int CONSTANTS_LIMIT = 64; // of a dispatch
    private static final int WORDS_LIMIT = 1 << 23; // of a module

    private static final int STAGE_COMPUTE = 0x20;
    private static final int ABI_DESCRIPTORS = 0;
    private static final int ABI_ADDRESSES = 1;
    private static final int ADDRESSES_VERSION = 1;

    /** Copies. */
    public SpirvExecutable {
        pipelines = List.copyOf(pipelines);
        modules = List.copyOf(modules);
    }

    /**
     * Reads an executable. The modules are not parsed.
     *
     * @param data the executable, at any alignment; must not change while in use
     * @return the contents
     * @throws IreeException INVALID_ARGUMENT naming the damage; INCOMPATIBLE or UNIMPLEMENTED for other versions;
     *     RESOURCE_EXHAUSTED for counts beyond limits
     */
    public static SpirvExecutable read(MemorySegment data) {
        try {
            MemorySegment content = ExecutableHeader.content(data, IDENTIFIER);
            if (ExecutableHeader.identifier(content, 4).equals(OLD_IDENTIFIER)) {
                return OldSpirvExecutable.read(new FlatBuffer(content).root("SPIR-V executable", OLD_IDENTIFIER));
            }
            return new Reader(new FlatBuffer(content).root("SPIR-V executable", IDENTIFIER)).read();
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "executable cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * Returns whether bytes look like an executable.
     *
     * @param data any bytes
     * @return true if the data begins like an executable
     */
    public static boolean isAt(MemorySegment data) {
        String inside = ExecutableHeader.identifier(data, 4);
        return ExecutableHeader.identifier(data, 0).equals(IDENTIFIER)
                || inside.equals(IDENTIFIER)
                || inside.equals(OLD_IDENTIFIER);
    }

    static IreeException invalid(String format, Object... arguments) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, format.formatted(arguments));
    }

    static IreeException tooMany(String what, long count, long limit) {
        return IreeException.of(
                StatusCode.RESOURCE_EXHAUSTED, "%d %s exceed the limit of %d".formatted(count, what, limit));
    }

    static MemorySegment words(FlatBuffer.Table table, String what, int slot) {
        return table.vector(what, slot, 4, WORDS_LIMIT).bytes();
    }

    static FlatBuffer.Vector pipelines(FlatBuffer.Table table, String what, int slot) {
        return table.vector(what, slot, 4, PIPELINES_LIMIT);
    }

    static FlatBuffer.Vector modules(FlatBuffer.Table root) {
        return root.vector("shader modules", 3, 4, MODULES_LIMIT);
    }

    static int index(String what, int value, int count) {
        if (value < 0 || value >= count) {
            throw invalid("%s %s does not exist, there are %d", what, Integer.toUnsignedString(value), count);
        }
        return value;
    }

    /** Reads the format of compilers since August 2024. */
    private static final class Reader {
        private final FlatBuffer.Table root;
        private final List<List<SpirvBinding>> sets = new ArrayList<>();
        private final List<SpirvLayout> layouts = new ArrayList<>();
        private final List<MemorySegment> modules = new ArrayList<>();

        Reader(FlatBuffer.Table root) {
            this.root = root;
        }

        SpirvExecutable read() {
            FlatBuffer.Vector setTables = root.vector("descriptor set layouts", 1, 4, LAYOUTS_LIMIT);
            for (int i = 0; i < setTables.count(); i++) {
                sets.add(set(i, setTables.table(i)));
            }
            FlatBuffer.Vector layoutTables = root.vector("pipeline layouts", 2, 4, LAYOUTS_LIMIT);
            for (int i = 0; i < layoutTables.count(); i++) {
                layouts.add(layout(i, layoutTables.table(i)));
            }
            FlatBuffer.Vector moduleTables = modules(root);
            for (int i = 0; i < moduleTables.count(); i++) {
                modules.add(words(moduleTables.table(i), "code of shader module " + i, 0));
            }
            FlatBuffer.Vector pipelineTables = pipelines(root, "pipelines", 0);
            List<SpirvPipeline> pipelines = new ArrayList<>();
            for (int i = 0; i < pipelineTables.count(); i++) {
                pipelines.add(pipeline(i, pipelineTables.table(i)));
            }
            return new SpirvExecutable(pipelines, modules);
        }

        private static List<SpirvBinding> set(int set, FlatBuffer.Table table) {
            FlatBuffer.Vector tables = table.vector("bindings of descriptor set layout " + set, 0, 4, BUFFERS_LIMIT);
            List<SpirvBinding> bindings = new ArrayList<>();
            for (int i = 0; i < tables.count(); i++) {
                FlatBuffer.Table binding = tables.table(i);
                int number = binding.i32("binding", 0, 0);
                int type = binding.i32("descriptor type", 1, 0);
                int count = binding.i32("descriptor count", 2, 0);
                int stages = binding.i32("stages", 3, 0);
                String where =
                        "binding %s of descriptor set layout %d".formatted(Integer.toUnsignedString(number), set);
                if (number < 0
                        || !bindings.isEmpty() && number <= bindings.getLast().binding()) {
                    throw invalid("%s does not come after the one before it", where);
                }
                if (type != SpirvResource.UNIFORM_BUFFER && type != SpirvResource.STORAGE_BUFFER) {
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "%s has descriptor type %s; uniform buffers (6) and storage buffers (7) can be bound"
                                    .formatted(where, Integer.toUnsignedString(type)));
                }
                if (count < 1 || count > BUFFERS_LIMIT) {
                    throw invalid(
                            "%s has %s buffers and must have 1 to %d",
                            where, Integer.toUnsignedString(count), BUFFERS_LIMIT);
                }
                if ((stages & STAGE_COMPUTE) == 0) {
                    throw invalid("%s is for stages 0x%x, without compute", where, stages);
                }
                bindings.add(new SpirvBinding(number, type, count));
            }
            return bindings;
        }

        private SpirvLayout layout(int number, FlatBuffer.Table table) {
            String where = "pipeline layout " + number;
            FlatBuffer.Vector ordinals = table.vector("descriptor sets of " + where, 0, 4, SETS_LIMIT);
            List<List<SpirvBinding>> own = new ArrayList<>();
            for (int i = 0; i < ordinals.count(); i++) {
                own.add(sets.get(index("descriptor set layout", ordinals.i32(i, 0), sets.size())));
            }
            FlatBuffer.Vector ranges = table.vector("push constants of " + where, 1, 12, RANGES_LIMIT);
            long end = 0;
            for (int i = 0; i < ranges.count(); i++) {
                long offset = Integer.toUnsignedLong(ranges.i32(i, 4));
                long size = Integer.toUnsignedLong(ranges.i32(i, 8));
                if ((offset | size) % 4 != 0 || size == 0) {
                    throw invalid(
                            "push constants of %s at %d have %d bytes, must be multiples of 4", where, offset, size);
                }
                end = Math.max(end, offset + size);
            }
            long limit = 4L * CONSTANTS_LIMIT + SpirvPipeline.ROOT_BYTES;
            if (end > limit) {
                throw tooMany("bytes of push constants of " + where, end, limit);
            }
            SpirvLayout layout = new SpirvLayout(own, (int) end);
            if (layout.bufferCount() > BUFFERS_LIMIT) {
                throw tooMany("buffers of " + where, layout.bufferCount(), BUFFERS_LIMIT);
            }
            return layout;
        }

        private SpirvPipeline pipeline(int ordinal, FlatBuffer.Table table) {
            int module = index("shader module", table.i32("shader module", 0, 0), modules.size());
            String entryPoint = table.string("entry point", 1);
            if (entryPoint.isEmpty()) {
                throw invalid("pipeline %d has no entry point", ordinal);
            }
            SpirvLayout layout =
                    layouts.get(index("pipeline layout", table.i32("pipeline layout", 2, 0), layouts.size()));
            FlatBuffer.Table addresses = table.table("layout of addresses", 6);
            int abi = table.u8("dispatch ABI", 5);
            SpirvPipeline.Addresses read = switch (abi) {
                case ABI_DESCRIPTORS -> {
                    if (addresses != null) {
                        throw invalid("pipeline '%s' takes descriptors and has a layout of addresses", entryPoint);
                    }
                    yield null;
                }
                case ABI_ADDRESSES -> {
                    if (addresses == null) {
                        throw invalid("pipeline '%s' takes addresses and has no layout of them", entryPoint);
                    }
                    yield addresses(entryPoint, addresses, layout);
                }
                default ->
                    throw IreeException.of(
                            StatusCode.UNIMPLEMENTED,
                            "pipeline '%s' has dispatch ABI %d; 0 (descriptors) and 1 (addresses) are known"
                                    .formatted(entryPoint, abi));
            };
            return new SpirvPipeline(entryPoint, entryPoint, module, table.i32("subgroup size", 3, 0), layout, read);
        }

        private static SpirvPipeline.Addresses addresses(String name, FlatBuffer.Table table, SpirvLayout layout) {
            int version = table.i32("version of addresses", 0, ADDRESSES_VERSION);
            int entryType = table.u8("type of addresses", 5);
            if (version != ADDRESSES_VERSION || entryType != 0) {
                throw IreeException.of(
                        StatusCode.UNIMPLEMENTED,
                        "pipeline '%s' takes addresses of version %s and entry type %d; version 1 and type 0 are known"
                                .formatted(name, Integer.toUnsignedString(version), entryType));
            }
            if (layout.bufferCount() > 0) {
                throw invalid("pipeline '%s' takes addresses, its layout has %d buffers", name, layout.bufferCount());
            }
            int root = table.i32("offset of the root", 1, 0);
            int rootBytes = table.i32("size of the root", 2, SpirvPipeline.ROOT_BYTES);
            int constants = table.i32("offset of constants", 3, SpirvPipeline.ROOT_BYTES);
            int constantCount = table.i32("constants", 4, 0);
            int bindingCount = table.i32("bindings", 6, 0);
            if (rootBytes != SpirvPipeline.ROOT_BYTES) {
                throw invalid(
                        "the root of pipeline '%s' has %d bytes instead of %d",
                        name, rootBytes, SpirvPipeline.ROOT_BYTES);
            }
            if (constantCount < 0 || constantCount > CONSTANTS_LIMIT) {
                throw tooMany(
                        "constants of pipeline '" + name + "'", Integer.toUnsignedLong(constantCount), CONSTANTS_LIMIT);
            }
            if (bindingCount < 0 || bindingCount > BUFFERS_LIMIT) {
                throw tooMany(
                        "buffers of pipeline '" + name + "'", Integer.toUnsignedLong(bindingCount), BUFFERS_LIMIT);
            }
            checkPart(name, "root", root, SpirvPipeline.ROOT_BYTES, layout);
            if (constantCount > 0) {
                checkPart(name, "constants", constants, 4 * constantCount, layout);
                if (constants < root + SpirvPipeline.ROOT_BYTES && root < constants + 4 * constantCount) {
                    throw invalid("constants and root of pipeline '%s' overlap in the push constants", name);
                }
            }
            FlatBuffer.Vector requirements = table.vector("requirements of bindings", 7, 4, BUFFERS_LIMIT);
            if (requirements.count() > bindingCount) {
                throw invalid(
                        "pipeline '%s' has requirements of %d buffers and takes %d",
                        name, requirements.count(), bindingCount);
            }
            int[] alignments = new int[bindingCount];
            long[] lengths = new long[bindingCount];
            Arrays.fill(alignments, 1);
            for (int i = 0; i < requirements.count(); i++) {
                FlatBuffer.Table requirement = requirements.table(i);
                alignments[i] = requirement.i32("alignment", 0, 1);
                lengths[i] = requirement.i64("length", 1);
                if (Integer.bitCount(alignments[i]) != 1 || alignments[i] < 0 || lengths[i] < 0) {
                    throw invalid(
                            "buffer %d of pipeline '%s' needs alignment %d and %d bytes",
                            i, name, Integer.toUnsignedLong(alignments[i]), lengths[i]);
                }
            }
            return new SpirvPipeline.Addresses(root, constants, constantCount, bindingCount, alignments, lengths);
        }

        private static void checkPart(String name, String what, int offset, int bytes, SpirvLayout layout) {
            if (offset < 0 || offset % 4 != 0 || offset > layout.pushConstantBytes() - bytes) {
                throw invalid(
                        "%s of pipeline '%s' at %s of %d bytes is not aligned to 4, or outside of the %d bytes of push constants",
                        what, name, Integer.toUnsignedString(offset), bytes, layout.pushConstantBytes());
            }
        }
    }
}
