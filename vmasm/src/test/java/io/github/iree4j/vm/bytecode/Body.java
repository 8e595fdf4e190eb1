package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.asm.VmAssembler;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.OpcodeSet;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Code written field by field, for code beyond any assembler; and a module file with a function replaced by the code.
 */
final class Body {
    static final int REF = 0x8000;
    static final int MOVE = 0xC000;
    static final int IMPORT = 0x8000_0000;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Starts an instruction. */
    Body op(String mnemonic) {
        Opcode opcode = Objects.requireNonNull(Isa.V17_0.opcode(mnemonic), mnemonic);
        if (opcode.set() != OpcodeSet.CORE) {
            u8(Isa.V17_0.prefix(opcode.set()));
        }
        return u8(opcode.number());
    }

    Body block() {
        return op("block");
    }

    Body u8(int value) {
        bytes.write(value);
        return this;
    }

    Body u16(int... values) {
        for (int value : values) {
            u8(value & 0xFF).u8(value >> 8 & 0xFF);
        }
        return this;
    }

    Body u32(int value) {
        return u16(value & 0xFFFF, value >>> 16);
    }

    /** Aligns and writes a count and the items. */
    Body list(int... values) {
        return align().u16(values.length).u16(values);
    }

    /** Aligns and writes a count of pairs and the pairs. */
    Body remap(int... values) {
        return align().u16(values.length / 2).u16(values);
    }

    Body align() {
        return bytes.size() % 2 == 0 ? this : u8(0);
    }

    Body returnNothing() {
        return op("return").list();
    }

    int size() {
        return bytes.size();
    }

    byte[] toByteArray() {
        return bytes.toByteArray();
    }

    /** Replaces function 0 of a module, which must be longer, and the descriptor. */
    byte[] into(String text, int blocks, int words, int refs) {
        return into(text, bytes.size(), -1, blocks, words, refs);
    }

    /** As {@link #into(String, int, int, int)}, with another length and requirements (-1 to keep them). */
    byte[] into(String text, int length, int requirements, int blocks, int words, int refs) {
        byte[] file = VmAssembler.assemble(text);
        ModuleDef def = ModuleDef.read(MemorySegment.ofArray(file), ModuleLimits.DEFAULTS);
        ModuleDef.Function function = def.functions().getFirst();
        if (bytes.size() > function.length()) {
            throw new IllegalArgumentException(
                    "the body has %d bytes and the function to replace %d".formatted(bytes.size(), function.length()));
        }
        ByteBuffer out = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        out.put(find(file, def.bytecode()) + function.offset(), bytes.toByteArray());
        int descriptor = find(file, descriptor(function));
        out.putInt(descriptor + 4, length);
        if (requirements >= 0) {
            out.putInt(descriptor + 8, requirements);
        }
        out.putShort(descriptor + 14, (short) blocks);
        out.putShort(descriptor + 16, (short) words);
        out.putShort(descriptor + 18, (short) refs);
        return file;
    }

    static byte[] descriptor(ModuleDef.Function function) {
        return ByteBuffer.allocate(20)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(function.offset())
                .putInt(function.length())
                .putInt(function.requirements())
                .putShort((short) 0)
                .putShort((short) function.blocks())
                .putShort((short) function.words())
                .putShort((short) function.refs())
                .array();
    }

    static int find(byte[] file, byte[] wanted) {
        outer:
        for (int i = 0; i + wanted.length <= file.length; i++) {
            for (int k = 0; k < wanted.length; k++) {
                if (file[i + k] != wanted[k]) {
                    continue outer;
                }
            }
            return i;
        }
        throw new IllegalArgumentException("not found");
    }
}
