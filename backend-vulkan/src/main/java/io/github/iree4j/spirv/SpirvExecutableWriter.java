package io.github.iree4j.spirv;

import io.github.iree4j.flatbuffer.ExecutableHeader;
import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import io.github.iree4j.spirv.SpirvLayout.SpirvBinding;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Writes executables for {@link SpirvExecutable#read} and IREE's runtimes. */
public final class SpirvExecutableWriter {
    private static final int STAGE_COMPUTE = 0x20;

    private SpirvExecutableWriter() {}

    /**
     * Creates an executable of modules: each entry point is an export, with the layout required by the code. Code
     * without descriptors, with push constants beginning with {@value SpirvPipeline#ROOT_BYTES} bytes for a table,
     * cannot be distinguished from code with constants only, so all exports use descriptors.
     *
     * @param modules the words of the modules
     * @return the exports in the order of modules and entry points
     */
    public static SpirvExecutable of(List<MemorySegment> modules) {
        List<SpirvPipeline> pipelines = new ArrayList<>();
        for (int i = 0; i < modules.size(); i++) {
            for (SpirvEntryPoint entry :
                    SpirvModule.read(modules.get(i), new int[0]).entryPoints()) {
                pipelines.add(new SpirvPipeline(entry.name(), entry.name(), i, 0, SpirvLayout.of(entry), null));
            }
        }
        return new SpirvExecutable(pipelines, modules);
    }

    /**
     * Writes an executable with a header.
     *
     * @param executable the contents; every pipeline has a layout
     * @return the bytes
     */
    public static byte[] write(SpirvExecutable executable) {
        return ExecutableHeader.before(writeContent(executable), SpirvExecutable.IDENTIFIER);
    }

    /**
     * Writes an executable without a header, like compilers in 2024.
     *
     * @param executable the contents; every pipeline has a layout
     * @return the bytes
     */
    public static byte[] writeContent(SpirvExecutable executable) {
        List<Table> sets = new ArrayList<>();
        List<Table> layouts = new ArrayList<>();
        List<Table> pipelines = new ArrayList<>();
        for (SpirvPipeline pipeline : executable.pipelines()) {
            SpirvLayout layout = pipeline.layout();
            if (layout == null) {
                throw SpirvExecutable.invalid("pipeline '%s' has no layout to write", pipeline.name());
            }
            ByteBuffer ordinals = words(layout.sets().size());
            for (List<SpirvBinding> set : layout.sets()) {
                ordinals.putInt(sets.size());
                sets.add(new Table()
                        .tables(
                                0,
                                set.stream().map(SpirvExecutableWriter::binding).toList()));
            }
            Table layoutTable = new Table().node(0, new Bytes(ordinals.array(), 4, 4));
            if (layout.pushConstantBytes() > 0) {
                ByteBuffer range = words(3).putInt(STAGE_COMPUTE).putInt(0).putInt(layout.pushConstantBytes());
                layoutTable.node(1, new Bytes(range.array(), 12, 4));
            }
            pipelines.add(pipeline(pipeline, layouts.size()));
            layouts.add(layoutTable);
        }
        List<Table> modules = executable.modules().stream()
                .map(words -> new Table().node(0, new Bytes(words.toArray(ValueLayout.JAVA_BYTE), 4, 4)))
                .toList();
        Table root = new Table()
                .tables(0, pipelines)
                .tables(1, sets)
                .tables(2, layouts)
                .tables(3, modules);
        return FlatBufferWriter.write(root, SpirvExecutable.IDENTIFIER, 8);
    }

    private static ByteBuffer words(int count) {
        return ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Table binding(SpirvBinding binding) {
        return new Table()
                .u32(0, binding.binding())
                .u32(1, binding.type())
                .u32(2, binding.count())
                .u32(3, STAGE_COMPUTE);
    }

    private static Table pipeline(SpirvPipeline pipeline, int layout) {
        Table table = new Table()
                .u32(0, pipeline.module())
                .text(1, pipeline.entryPoint())
                .u32(2, layout)
                .u32(3, pipeline.subgroupSize());
        SpirvPipeline.Addresses addresses = pipeline.addresses();
        if (addresses != null) {
            List<Table> requirements = new ArrayList<>();
            for (int i = 0; i < addresses.bindingCount(); i++) {
                requirements.add(new Table()
                        .u32(0, addresses.alignments()[i])
                        .u64(1, addresses.lengths()[i]));
            }
            table.u8(5, 1)
                    .node(
                            6,
                            new Table()
                                    .u32(0, 1)
                                    .u32(1, addresses.rootOffset())
                                    .u32(2, SpirvPipeline.ROOT_BYTES)
                                    .u32(3, addresses.constantOffset())
                                    .u32(4, addresses.constantCount())
                                    .u32(6, addresses.bindingCount())
                                    .tables(7, requirements));
        }
        return table;
    }
}
