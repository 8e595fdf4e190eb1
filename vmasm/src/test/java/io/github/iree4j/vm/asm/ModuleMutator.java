package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.InstructionReader;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.RegisterEncoding;
import io.github.iree4j.vm.isa.RegisterType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Damages module files: blindly (bits, lengths, pieces of other files, boundary values) and structurally (references between tables,
 * opcodes, operands), since blind damage rarely passes the container checks. The seed decides everything.
 */
final class ModuleMutator {

    private static final long[] EDGES = {
        0,
        1,
        2,
        3,
        7,
        8,
        15,
        16,
        0x7F,
        0x80,
        0xFF,
        0x100,
        0x3FFF,
        0x4000,
        0x7FFE,
        0x7FFF,
        0x8000,
        0x8001,
        0xBFFF,
        0xC000,
        0xC001,
        0xFFFE,
        0xFFFF,
        0x10000,
        0xFFFFFE,
        0xFFFFFF,
        0x1000000,
        0x7FFFFFFF,
        0x80000000L,
        0x80000001L,
        0xFFFFFFFEL,
        0xFFFFFFFFL,
        0x100000000L,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1,
        -8
    };

    /** A file with its structure. */
    record Seed(String name, byte[] file, int tablesEnd, int codeStart, ModuleDef module) {
        static Seed of(String name, byte[] file) {
            ModuleDef module = ModuleDef.read(MemorySegment.ofArray(file), ModuleLimits.DEFAULTS);
            int code = indexOf(file, module.bytecode());
            int tables = file.length;
            for (ModuleDef.Rodata rodata : module.rodata()) {
                if (!rodata.embedded()) {
                    tables = Math.min(
                            tables,
                            file.length
                                    - (int) Math.min(file.length, rodata.bytes().byteSize()));
                }
            }
            return new Seed(name, file, Math.max(64, tables), code, module);
        }

        private static int indexOf(byte[] file, byte[] part) {
            for (int i = 0; i + part.length <= file.length; i++) {
                if (Arrays.equals(file, i, i + part.length, part, 0, part.length)) {
                    return i;
                }
            }
            throw new IllegalStateException("the code is not in the file");
        }
    }

    private final List<Seed> seeds;
    private final SplittableRandom random;
    private Seed last;

    ModuleMutator(List<Seed> seeds, long seed) {
        this.seeds = seeds;
        last = seeds.getFirst();
        this.random = new SplittableRandom(seed);
    }

    /** Returns the seed of the last file. */
    Seed last() {
        return last;
    }

    /** Returns the next damaged file. */
    byte[] next() {
        Seed seed = seeds.get(random.nextInt(seeds.size()));
        last = seed;
        byte[] file = seed.file().clone();
        for (int i = random.nextInt(4) == 0 ? 3 : 1; i > 0; i--) {
            file = switch (random.nextInt(21)) {
                case 20 -> version(file, seed);
                case 0, 10 -> flipBits(file);
                case 1, 11 -> truncate(file);
                case 2, 12 ->
                    splice(file, seeds.get(random.nextInt(seeds.size())).file());
                case 3, 13 -> edge(file, random.nextInt(Math.max(1, Math.min(file.length, seed.tablesEnd()))));
                case 4, 5, 14, 15 -> reference(file, seed);
                case 6, 7, 16, 17 -> instruction(file, seed, true);
                default -> instruction(file, seed, false);
            };
        }
        return file;
    }

    /** Labels the code of a version with the number of another. */
    private byte[] version(byte[] file, Seed seed) {
        int wanted = seed.module().bytecodeMajor() << 16;
        ByteBuffer numbers = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at + 4 <= Math.min(file.length, seed.tablesEnd()); at += 4) {
            if (numbers.getInt(at) == wanted) {
                numbers.putInt(at, random.nextInt(14, 19) << 16);
                break;
            }
        }
        return file;
    }

    private byte[] flipBits(byte[] file) {
        for (int i = 1 + random.nextInt(8); i > 0 && file.length > 0; i--) {
            file[random.nextInt(file.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return file;
    }

    private byte[] truncate(byte[] file) {
        return Arrays.copyOf(file, random.nextInt(file.length + 1));
    }

    private byte[] splice(byte[] file, byte[] other) {
        if (file.length == 0) {
            return file;
        }
        int length = 1 + random.nextInt(Math.min(64, Math.min(file.length, other.length)));
        System.arraycopy(
                other,
                random.nextInt(other.length - length + 1),
                file,
                random.nextInt(file.length - length + 1),
                length);
        return file;
    }

    private byte[] edge(byte[] file, int position) {
        int bytes = 1 << random.nextInt(4);
        if (position + bytes <= file.length) {
            put(file, position, bytes, EDGES[random.nextInt(EDGES.length)]);
        }
        return file;
    }

    /**
     * Changes a number of the tables, perhaps an offset, a count or an ordinal, to a near number, a boundary value, or
     * the value of another.
     */
    private byte[] reference(byte[] file, Seed seed) {
        int end = Math.min(file.length, seed.tablesEnd()) / 4;
        if (end < 2) {
            return file;
        }
        ByteBuffer numbers = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        for (int tries = 0; tries < 32; tries++) {
            int at = 4 * random.nextInt(end);
            int value = numbers.getInt(at);
            if (value == 0 || Integer.compareUnsigned(value, file.length) >= 0) {
                continue;
            }
            numbers.putInt(
                    at,
                    switch (random.nextInt(4)) {
                        case 0 -> value + random.nextInt(-16, 17);
                        case 1 -> (int) EDGES[random.nextInt(EDGES.length)];
                        case 2 -> numbers.getInt(4 * random.nextInt(end));
                        default -> random.nextInt(file.length) - at;
                    });
            return file;
        }
        return file;
    }

    /** Changes an opcode or a field of a random instruction; with {@code plausible}, to a perhaps valid number. */
    private byte[] instruction(byte[] file, Seed seed, boolean plausible) {
        ModuleDef.Function function = seed.module()
                .functions()
                .get(random.nextInt(seed.module().functions().size()));
        int start = seed.codeStart() + function.offset();
        if (start + function.length() > file.length) {
            return file;
        }
        byte[] body = Arrays.copyOfRange(file, start, start + function.length());
        try {
            InstructionReader reader = new InstructionReader(Isa.V17_0, body);
            int skip = random.nextInt(Math.max(1, function.length() / 6));
            while (reader.next() && skip-- > 0) {}
            if (skip >= 0) {
                reader.seek(0);
                reader.next();
            }
            int at = reader.offset();
            Opcode opcode = reader.opcode();
            if (plausible) {
                plausible(reader, opcode, function, body);
            } else if (opcode.fields().isEmpty() || random.nextInt(4) == 0) {
                List<Opcode> all = Isa.V17_0.opcodes();
                Opcode other = all.get(random.nextInt(all.size()));
                body[at] = (byte) (random.nextInt(8) == 0 ? random.nextInt(256) : other.number());
            } else {
                field(reader, opcode, random.nextInt(opcode.fields().size()), body);
            }
        } catch (IreeException e) {
            // Damaged before: the instructions cannot be decoded any more.
            return edge(file, start + random.nextInt(function.length()));
        }
        System.arraycopy(body, 0, file, start, body.length);
        return file;
    }

    /** Substitutes another operation with the same fields, another register of the same kind, another number, or another block. */
    private void plausible(InstructionReader reader, Opcode opcode, ModuleDef.Function function, byte[] body) {
        if (opcode.fields().isEmpty() || random.nextInt(3) == 0) {
            List<Opcode> alike = Isa.V17_0.opcodes().stream()
                    .filter(other -> other.set() == opcode.set()
                            && !other.isBlock()
                            && other.fields().stream()
                                    .map(Field::kind)
                                    .toList()
                                    .equals(opcode.fields().stream()
                                            .map(Field::kind)
                                            .toList())
                            && other.fields().stream()
                                    .map(Field::type)
                                    .toList()
                                    .equals(opcode.fields().stream()
                                            .map(Field::type)
                                            .toList()))
                    .toList();
            int prefixed = Isa.V17_0.prefix(opcode.set()) >= 0 ? 1 : 0;
            if (!alike.isEmpty()) {
                body[reader.offset() + prefixed] =
                        (byte) alike.get(random.nextInt(alike.size())).number();
            }
            return;
        }
        int index = random.nextInt(opcode.fields().size());
        Field field = opcode.fields().get(index);
        int at = reader.offset(index);
        switch (field.kind()) {
            case REGISTER -> {
                if (field.type() == RegisterType.REF) {
                    int move = field.movable() && random.nextBoolean() ? RegisterEncoding.MOVE_BIT : 0;
                    put(body, at, 2, RegisterEncoding.REF_BIT | move | random.nextInt(Math.max(1, function.refs())));
                } else {
                    int register = random.nextInt(Math.max(1, function.words()));
                    put(body, at, 2, field.type().isWide() ? register & -2 : register);
                }
            }
            case CONST_I32, CONST_F32 -> put(body, at, 4, EDGES[random.nextInt(EDGES.length)]);
            case CONST_I64, CONST_F64 -> put(body, at, 8, EDGES[random.nextInt(EDGES.length)]);
            case TYPE, FUNCTION, RODATA, GLOBAL_REF -> put(body, at, 1, random.nextInt(8));
            case GLOBAL_OFFSET -> put(body, at, 1, random.nextInt(48));
            case TARGET -> put(body, at, 4, block(body));
            default -> field(reader, opcode, index, body);
        }
    }

    /** Returns the start of a random block. */
    private int block(byte[] body) {
        InstructionReader blocks = new InstructionReader(Isa.V17_0, body);
        int chosen = 0;
        for (int seen = 1; blocks.next(); ) {
            if (blocks.opcode().isBlock() && random.nextInt(seen++) == 0) {
                chosen = blocks.offset();
            }
        }
        return chosen;
    }

    private void field(InstructionReader reader, Opcode opcode, int field, byte[] body) {
        FieldKind kind = opcode.fields().get(field).kind();
        int at = reader.offset(field);
        boolean isList = switch (kind) {
            case OPERANDS, RESULTS, SEGMENTS, REMAP, CASES, STRING -> true;
            default -> false;
        };
        if (isList) {
            // The count before, or an element.
            at = random.nextBoolean() ? at - 2 : Math.min(body.length - 2, at + 2 * random.nextInt(4));
        }
        int bytes = isList || kind == FieldKind.REGISTER
                ? 2
                : kind == FieldKind.CONST_I64 || kind == FieldKind.CONST_F64 ? 8 : 4;
        if (at < 0 || at + bytes > body.length) {
            return;
        }
        long value =
                random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : (body[at] & 0xFF) + random.nextInt(-4, 5);
        put(body, at, bytes, value);
    }

    private static void put(byte[] bytes, int position, int count, long value) {
        for (int i = 0; i < count; i++) {
            bytes[position + i] = (byte) (value >> 8 * i);
        }
    }
}
