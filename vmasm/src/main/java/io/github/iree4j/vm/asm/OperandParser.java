package io.github.iree4j.vm.asm;

import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.RegisterEncoding;
import io.github.iree4j.vm.isa.RegisterType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads operands of instructions: registers, literals, types, branch targets. */
final class OperandParser {

    /** The value of a field, ready to be encoded. */
    sealed interface Value permits Bits, Registers, Name, Edge, Cases, Bytes {}

    /** A number: a register's encoding, a literal's bits or an ordinal. */
    record Bits(long bits) implements Value {}

    /** A list of encoded registers, of pairs of registers, or of segment sizes. */
    record Registers(int[] items) implements Value {}

    /** A name to be resolved later; {@code cursor} stands at the name. */
    record Name(String name, LineCursor cursor, int mark) implements Value {}

    /** A branch: the block and the copies of the edge. */
    record Edge(Name label, Registers remap) implements Value {}

    /** The cases of a branch table, from 0. */
    record Cases(List<Edge> edges) implements Value {}

    /** The bytes of a string. */
    record Bytes(byte[] bytes) implements Value {}

    private final ModuleScope scope;

    /** Whether MOVE bits are ignored and may be anywhere, as written by compilers of bytecode 15. */
    private boolean movesAreRemarks;

    OperandParser(ModuleScope scope) {
        this.scope = scope;
    }

    void use(Isa isa) {
        movesAreRemarks = !isa.movesEverywhere();
    }

    /** Reads the value of a field; a branch target includes the copies when {@code withRemap}. */
    Value operand(LineCursor line, Field field, int globalSize, boolean withRemap) {
        return switch (field.kind()) {
            case REGISTER -> new Bits(register(line, field.type(), field.movable() || movesAreRemarks));
            case CONST_I32 -> new Bits(line.integer(32, "an i32 literal"));
            case CONST_I64 -> new Bits(line.integer(64, "an i64 literal"));
            case CONST_F32 -> new Bits(FloatLiterals.parseF32(line) & 0xFFFF_FFFFL);
            case CONST_F64 -> new Bits(FloatLiterals.parseF64(line));
            case GLOBAL_OFFSET -> new Bits(scope.globalOffset(line, globalSize));
            case GLOBAL_REF -> new Bits(scope.globalRef(line));
            case RODATA -> new Bits(scope.rodata(line));
            case FUNCTION -> scope.function(line);
            case TYPE -> new Bits(scope.type(line, typeName(line)));
            case TARGET -> withRemap ? edge(line) : label(line);
            case STRING -> new Bytes(string(line));
            case OPERANDS, RESULTS -> registers(line, field);
            case SEGMENTS -> segments(line);
            case CASES -> cases(line);
            case REMAP -> throw new AssertionError("a remap is read with its target");
        };
    }

    /** Reads a register such as {@code %i0}, {@code %i2:3} for 64 bits, {@code %r1}, or {@code %R1} for a move. */
    int register(LineCursor line, RegisterType type, boolean movable) {
        return register(line, type, movable, false);
    }

    private static int register(LineCursor line, RegisterType type, boolean movable, boolean pairOptional) {
        String expected = "register like '%s'".formatted(example(type));
        char first = line.peek();
        int mark = line.mark();
        if (first != '%') {
            throw line.error(expected);
        }
        if (line.tryTakeRaw("%r")) {
            if (type != RegisterType.REF && type != RegisterType.ANY) {
                line.reset(mark);
                throw line.error(expected);
            }
            return RegisterEncoding.REF_BIT | (int) line.unsigned(RegisterEncoding.MAX_REFS - 1, "a register number");
        }
        if (line.tryTakeRaw("%R")) {
            if (type != RegisterType.REF && type != RegisterType.ANY) {
                line.reset(mark);
                throw line.error(expected);
            }
            if (!movable) {
                line.reset(mark);
                throw line.error("a register that is kept ('%r'), since the instruction cannot move this operand");
            }
            return RegisterEncoding.REF_BIT
                    | RegisterEncoding.MOVE_BIT
                    | (int) line.unsigned(RegisterEncoding.MAX_REFS - 1, "a register number");
        }
        if (type == RegisterType.REF || !line.tryTakeRaw("%i")) {
            throw line.error(expected);
        }
        int low = (int) line.unsigned(RegisterEncoding.MAX_WORDS - 1, "a register number");
        boolean pair = line.tryTakeBeforeDigit(':');
        if (pair) {
            int high = (int) line.unsigned(RegisterEncoding.MAX_WORDS, "a register number");
            if (high != low + 1 || (type != RegisterType.ANY && !type.isWide())) {
                line.reset(mark);
                throw line.error(expected);
            }
        } else if (type.isWide() && !pairOptional) {
            line.reset(mark);
            throw line.error(expected);
        }
        if ((pair || type.isWide()) && low % 2 != 0) {
            line.reset(mark);
            throw line.error("a 64-bit register that begins at an even number");
        }
        return low;
    }

    private static String example(RegisterType type) {
        return switch (type) {
            case I32, F32 -> "%i0";
            case I64, F64 -> "%i0:1";
            case REF -> "%r0";
            case ANY -> "%i0' or '%r0";
        };
    }

    /** Reads registers up to a closing bracket or the end. A 64-bit register may be written by the first word, as in disassembly. */
    Registers registers(LineCursor line, Field field) {
        List<Integer> items = new ArrayList<>();
        while (!atListEnd(line)) {
            if (!items.isEmpty()) {
                line.take(",");
            }
            items.add(register(line, field.type(), field.movable(), true));
        }
        return list(line, items);
    }

    private Registers segments(LineCursor line) {
        List<Integer> items = new ArrayList<>();
        while (!atListEnd(line)) {
            if (!items.isEmpty()) {
                line.take(",");
            }
            items.add((int) line.unsigned(FieldKind.NOT_A_SEGMENT, "a segment size"));
        }
        return list(line, items);
    }

    private static boolean atListEnd(LineCursor line) {
        return line.atEnd() || line.peek() == ')' || line.peek() == ']' || line.peek() == '=';
    }

    private static Registers list(LineCursor line, List<Integer> items) {
        if (items.size() > 0xFFFF) {
            throw line.error("at most 65535 items");
        }
        return new Registers(items.stream().mapToInt(Integer::intValue).toArray());
    }

    private Name label(LineCursor line) {
        line.skipSpace();
        int mark = line.mark();
        return new Name(line.label(), line, mark);
    }

    /** Reads a branch such as {@code ^bb1(%i0->%i1, %R0->%r1)}. */
    private Edge edge(LineCursor line) {
        Name label = label(line);
        List<Integer> pairs = new ArrayList<>();
        if (line.tryTake("(")) {
            while (line.peek() != ')') {
                if (!pairs.isEmpty()) {
                    line.take(",");
                }
                int mark = line.mark();
                int source = register(line, RegisterType.ANY, true);
                line.take("->");
                int destination =
                        register(line, RegisterType.ANY, true); // a MOVE mark is ignored here, but possible in files
                if (RegisterEncoding.isRef(source) != RegisterEncoding.isRef(destination)) {
                    line.reset(mark);
                    throw line.error("two registers of the same bank");
                }
                pairs.add(source);
                pairs.add(destination);
            }
            line.take(")");
        }
        if (pairs.size() / 2 > 0xFFFF) {
            throw line.error("at most 65535 copies");
        }
        return new Edge(
                label, new Registers(pairs.stream().mapToInt(Integer::intValue).toArray()));
    }

    private Cases cases(LineCursor line) {
        List<Edge> edges = new ArrayList<>();
        while (line.tryTake(",")) {
            if (line.unsigned(0xFFFF, "a case number") != edges.size()) {
                throw line.error(
                        "case %d before this one; cases are numbered from 0 without gaps".formatted(edges.size()));
            }
            line.take(":");
            edges.add(edge(line));
        }
        return new Cases(edges);
    }

    private static byte[] string(LineCursor line) {
        int mark = line.mark();
        byte[] bytes = line.bytes("a string");
        if (bytes.length > 0xFFFF) {
            line.reset(mark);
            throw line.error("a string of at most 65535 bytes");
        }
        return bytes;
    }

    /** Reads a type's name, up to a comma, closing bracket or arrow outside of the name's brackets. */
    static String typeName(LineCursor line) {
        String rest = line.peekRest();
        int depth = 0;
        int end = 0;
        scan:
        for (; end < rest.length(); end++) {
            switch (rest.charAt(end)) {
                case '<', '(', '[' -> depth++;
                case '>', ')', ']' -> {
                    if (--depth < 0) {
                        break scan;
                    }
                }
                case ',' -> {
                    if (depth == 0) {
                        break scan;
                    }
                }
                case '-' -> {
                    if (depth == 0 && rest.startsWith("->", end)) {
                        break scan;
                    }
                }
                default -> {}
            }
        }
        String name = rest.substring(0, end).strip();
        if (name.isEmpty()) {
            throw line.error("a type like 'i32' or '!vm.buffer'");
        }
        line.skip(end);
        return name;
    }

    /** Returns the value of a field absent from the text: no copies, no results. */
    static @Nullable Value absent(Field field) {
        return switch (field.kind()) {
            case RESULTS, REMAP -> new Registers(new int[0]);
            default -> null;
        };
    }
}
