package io.github.iree4j.tools;

import io.github.iree4j.flatbuffer.FlatBufferWriter;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Bytes;
import io.github.iree4j.flatbuffer.FlatBufferWriter.Table;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes an executable of format {@code vulkan-spirv-fb}: 64 bytes of header, then a FlatBuffer with identifier {@code VKE1}. The
 * tables are those of {@code schemas/vulkan_executable_def.fbs} in IREE; each shader has a descriptor set layout and a pipeline layout
 * of its own.
 */
final class SpirvExecutable {
    private static final String IDENTIFIER = "VKE1";
    private static final int HEADER_BYTES = 64;
    private static final int STORAGE_BUFFER = 7;
    private static final int STAGE_COMPUTE = 0x20;

    private SpirvExecutable() {}

    /** Packs shaders; each becomes an export that has the name of its entry point. */
    static byte[] pack(List<SpirvModule> shaders) {
        List<Table> pipelines = new ArrayList<>();
        List<Table> setLayouts = new ArrayList<>();
        List<Table> layouts = new ArrayList<>();
        List<Table> modules = new ArrayList<>();
        for (int i = 0; i < shaders.size(); i++) {
            SpirvModule shader = shaders.get(i);
            pipelines.add(new Table().u32(0, i).text(1, shader.entryPoint()).u32(2, i));
            setLayouts.add(setLayout(shader.bindings()));
            layouts.add(layout(i, shader.constants()));
            modules.add(new Table().node(0, new Bytes(shader.code(), 4, 4)));
        }
        Table executable = new Table()
                .tables(0, pipelines)
                .tables(1, setLayouts)
                .tables(2, layouts)
                .tables(3, modules);
        byte[] content = FlatBufferWriter.write(executable, IDENTIFIER, 8);
        return ByteBuffer.allocate(HEADER_BYTES + content.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(0, IDENTIFIER.getBytes(StandardCharsets.US_ASCII))
                .putLong(8, content.length)
                .put(HEADER_BYTES, content)
                .array();
    }

    private static Table setLayout(int bindings) {
        List<Table> entries = new ArrayList<>();
        for (int i = 0; i < bindings; i++) {
            entries.add(new Table().u32(0, i).u32(1, STORAGE_BUFFER).u32(2, 1).u32(3, STAGE_COMPUTE));
        }
        return new Table().tables(0, entries);
    }

    private static Table layout(int setLayout, int constants) {
        Table layout = new Table().node(0, numbers(4, setLayout));
        if (constants > 0) {
            layout.node(1, numbers(12, STAGE_COMPUTE, 0, 4 * constants));
        }
        return layout;
    }

    /** A vector of structs of so many bytes, given as their 32-bit numbers. */
    private static Bytes numbers(int structBytes, int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(values);
        return new Bytes(bytes.array(), structBytes, 4);
    }
}
