package io.github.iree4j.spirv;

import io.github.iree4j.flatbuffer.FlatBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Executables from before August 2024 ({@code schemas/spirv_executable_def.fbs}). The program, not the executable,
 * declares the layouts of pipelines. The fields moved twice without a version number; the position of a module's words
 * distinguishes the versions:
 *
 * <pre>
 *   slot   until December 2022   until December 2023   until August 2024
 *   0      entry points          entry points          entry points
 *   1      code                  subgroup sizes        subgroup sizes
 *   2                            code                  modules of entry points
 *   3                                                  modules
 * </pre>
 */
final class OldSpirvExecutable {
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private OldSpirvExecutable() {}

    static SpirvExecutable read(FlatBuffer.Table root) {
        FlatBuffer.Vector names = SpirvExecutable.pipelines(root, "entry points", 0);
        for (int slot = 1; slot <= 2; slot++) {
            MemorySegment code = SpirvExecutable.words(root, "code", slot);
            if (code.byteSize() >= 4 && code.get(U32, 0) == SpirvOp.MAGIC) {
                return new SpirvExecutable(pipelines(root, names, slot == 2, null, 1), List.of(code));
            }
        }
        List<MemorySegment> modules = new ArrayList<>();
        FlatBuffer.Vector tables = SpirvExecutable.modules(root);
        for (int i = 0; i < tables.count(); i++) {
            modules.add(SpirvExecutable.words(tables.table(i), "code of shader module " + i, 0));
        }
        FlatBuffer.Vector moduleOf = SpirvExecutable.pipelines(root, "shader modules of entry points", 2);
        return new SpirvExecutable(pipelines(root, names, true, moduleOf, modules.size()), modules);
    }

    private static List<SpirvPipeline> pipelines(
            FlatBuffer.Table root,
            FlatBuffer.Vector names,
            boolean hasSubgroupSizes,
            FlatBuffer.@Nullable Vector moduleOf,
            int moduleCount) {
        FlatBuffer.Vector subgroupSizes =
                hasSubgroupSizes ? SpirvExecutable.pipelines(root, "subgroup sizes", 1) : null;
        checkCount("shader modules of entry points", moduleOf, names.count());
        checkCount("subgroup sizes", subgroupSizes, names.count());
        List<SpirvPipeline> pipelines = new ArrayList<>();
        for (int i = 0; i < names.count(); i++) {
            String name = names.string(i);
            int module = moduleOf == null || moduleOf.count() == 0
                    ? SpirvExecutable.index("shader module", 0, moduleCount)
                    : SpirvExecutable.index("shader module", moduleOf.i32(i, 0), moduleCount);
            int subgroupSize = subgroupSizes == null || subgroupSizes.count() == 0 ? 0 : subgroupSizes.i32(i, 0);
            pipelines.add(new SpirvPipeline(name, name, module, subgroupSize, null, null));
        }
        return pipelines;
    }

    private static void checkCount(String what, FlatBuffer.@Nullable Vector vector, int pipelines) {
        // Compilers omitted vectors without entries or with zeros only.
        if (vector != null && vector.count() != pipelines && vector.count() != 0) {
            throw SpirvExecutable.invalid("it has %d %s for %d entry points", vector.count(), what, pipelines);
        }
    }
}
