package io.github.iree4j.tools;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Writes an executable of format {@code vulkan-spirv-fb}: 64 bytes of header, then a FlatBuffer with identifier {@code VKE1}. The
 * tables are those of {@code schemas/vulkan_executable_def.fbs} in IREE; each shader has a descriptor set layout and a pipeline layout
 * of its own. Every field written is four bytes long, a number or a reference, which keeps this simple.
 */
final class SpirvExecutable {
    private static final int HEADER_BYTES = 64;
    private static final int STORAGE_BUFFER = 7;
    private static final int STAGE_COMPUTE = 0x20;
    private static final byte[] IDENTIFIER = "VKE1".getBytes(StandardCharsets.US_ASCII);

    private ByteBuffer out = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

    private SpirvExecutable() {}

    /** Packs shaders; each becomes an export that has the name of its entry point. */
    static byte[] pack(List<SpirvModule> shaders) {
        return new SpirvExecutable().write(shaders);
    }

    private byte[] write(List<SpirvModule> shaders) {
        int count = shaders.size();
        out.put(IDENTIFIER).position(HEADER_BYTES);
        int root = reserve(4);
        reserve(4);
        out.put(root + 4, IDENTIFIER);
        int executable = table(4);
        refer(root, executable);
        int pipelines = vector(count);
        int setLayouts = vector(count);
        int layouts = vector(count);
        int modules = vector(count);
        refer(field(executable, 0), pipelines);
        refer(field(executable, 1), setLayouts);
        refer(field(executable, 2), layouts);
        refer(field(executable, 3), modules);
        for (int i = 0; i < count; i++) {
            SpirvModule shader = shaders.get(i);
            int pipeline = table(3);
            refer(element(pipelines, i), pipeline);
            out.putInt(field(pipeline, 0), i);
            refer(field(pipeline, 1), text(shader.entryPoint()));
            out.putInt(field(pipeline, 2), i);
            refer(element(setLayouts, i), setLayout(shader.bindings()));
            refer(element(layouts, i), layout(i, shader.constants()));
            int module = table(1);
            refer(element(modules, i), module);
            int code = vector(shader.code().length / 4);
            out.put(element(code, 0), shader.code());
            refer(field(module, 0), code);
        }
        out.putLong(8, out.position() - HEADER_BYTES);
        return Arrays.copyOf(out.array(), out.position());
    }

    private int setLayout(int bindings) {
        int layout = table(1);
        int entries = vector(bindings);
        refer(field(layout, 0), entries);
        for (int i = 0; i < bindings; i++) {
            int entry = table(4);
            refer(element(entries, i), entry);
            out.putInt(field(entry, 0), i);
            out.putInt(field(entry, 1), STORAGE_BUFFER);
            out.putInt(field(entry, 2), 1);
            out.putInt(field(entry, 3), STAGE_COMPUTE);
        }
        return layout;
    }

    private int layout(int setLayout, int constants) {
        int layout = table(constants == 0 ? 1 : 2);
        int sets = vector(1);
        out.putInt(element(sets, 0), setLayout);
        refer(field(layout, 0), sets);
        if (constants > 0) {
            int range = reserve(4 + 12); // a vector of one struct: stages, offset, size
            out.putInt(range, 1).putInt(range + 4, STAGE_COMPUTE).putInt(range + 12, 4 * constants);
            refer(field(layout, 1), range);
        }
        return layout;
    }

    /** Takes zeroed bytes at a multiple of four. */
    private int reserve(int bytes) {
        int at = (out.position() + 3) / 4 * 4;
        if (at + bytes > out.capacity()) {
            byte[] larger = Arrays.copyOf(out.array(), Math.max(2 * out.capacity(), at + bytes));
            out = ByteBuffer.wrap(larger).order(ByteOrder.LITTLE_ENDIAN);
        }
        out.position(at + bytes);
        return at;
    }

    /** A table all of whose fields, numbered from 0, are there, after its own vtable. */
    private int table(int fields) {
        int vtable = reserve(4 + 2 * fields);
        int table = reserve(4 + 4 * fields);
        out.putShort(vtable, (short) (4 + 2 * fields)).putShort(vtable + 2, (short) (4 + 4 * fields));
        for (int i = 0; i < fields; i++) {
            out.putShort(vtable + 4 + 2 * i, (short) (4 + 4 * i));
        }
        out.putInt(table, table - vtable);
        return table;
    }

    private static int field(int table, int slot) {
        return table + 4 + 4 * slot;
    }

    private int vector(int count) {
        int vector = reserve(4 + 4 * count);
        out.putInt(vector, count);
        return vector;
    }

    private static int element(int vector, int index) {
        return vector + 4 + 4 * index;
    }

    private int text(String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        int text = reserve(4 + bytes.length + 1);
        out.putInt(text, bytes.length).put(text + 4, bytes);
        return text;
    }

    /** References are relative to where they are and point forward. */
    private void refer(int from, int to) {
        out.putInt(from, to - from);
    }
}
