package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionCode.ReturnSite;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.InstructionReader;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.RegisterEncoding;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Translates a verified function into {@link FunctionCode}.
 *
 * <p>Layouts, first long then following longs; (x) are operands of 16 bits, [x] is the 32-bit upper half:
 *
 * <pre>
 * most               op (fields in order)        a fourth and later fields in one more long, 16 bits each
 * const, global      op (register) [literal, byte offset]        ordinals of reference globals in one more long
 * br, yield          op (moves) [target]         moves
 * cond_br            op (condition) (true moves) (false moves)   long: true target, false target   true moves   false moves
 * br_table           op (index) [cases]          default and cases: target, index of moves         lists: count, moves
 * call               op [site]
 * switch             op (index) (default) (values)   long: result, type    values
 * </pre>
 */
final class Translator {
    private final FunctionCodeContext context;
    private final InstructionReader reader;
    /** Block starts, in the file's code (ascending) and in the translated code. */
    private final int[] blockOffsets;

    private final int[] blockStarts;
    private int blockCount;
    private final List<Integer> targetPatches = new ArrayList<>();
    private final List<CallSite> sites = new ArrayList<>();
    private final List<ReturnSite> returns = new ArrayList<>();
    private final List<String> messages = new ArrayList<>();
    private long[] code;
    private int size;
    private int[] starts = new int[16];
    private int[] offsets = new int[16];
    private int startCount;
    private int lastStart = -1;

    /**
     * The context in which a function is translated.
     *
     * @param name the name, for messages
     * @param ordinal the index
     * @param function the descriptor
     * @param conventions calling conventions of all functions
     * @param importConventions calling conventions of all imports
     */
    record FunctionCodeContext(
            String name,
            int ordinal,
            ModuleDef.Function function,
            List<CallingConvention> conventions,
            List<CallingConvention> importConventions) {}

    private Translator(FunctionCodeContext context, Isa isa, byte[] body) {
        this.context = context;
        reader = new InstructionReader(isa, body);
        blockOffsets = new int[context.function.blocks()];
        blockStarts = new int[context.function.blocks()];
        code = new long[Math.max(16, body.length / 4)];
    }

    static FunctionCode translate(FunctionCodeContext context, Isa isa, byte[] body) {
        return new Translator(context, isa, body).translate();
    }

    private FunctionCode translate() {
        while (reader.next()) {
            if (reader.opcode().isBlock()) {
                blockOffsets[blockCount] = reader.offset();
                blockStarts[blockCount++] = size;
                lastStart = -1;
                continue;
            }
            start();
            instruction(reader.opcode());
        }
        for (int index : targetPatches) {
            patch(index);
        }
        for (CallSite site : sites) {
            if (site.yieldable) {
                site.next = blockStart(site.next);
            }
        }
        CallingConvention convention = context.conventions.get(context.ordinal);
        RegisterCounts registers = RegisterCounts.of(context.function, convention);
        return new FunctionCode(
                context.name,
                context.ordinal,
                convention,
                registers.words(),
                registers.refs(),
                Arrays.copyOf(code, size),
                sites.toArray(CallSite[]::new),
                returns.toArray(ReturnSite[]::new),
                messages.toArray(String[]::new),
                Arrays.copyOf(starts, startCount),
                Arrays.copyOf(offsets, startCount));
    }

    private void start() {
        if (startCount > 0 && starts[startCount - 1] == size) {
            startCount--; // the previous instruction was translated to nothing
        }
        if (startCount == starts.length) {
            starts = Arrays.copyOf(starts, 2 * startCount);
            offsets = Arrays.copyOf(offsets, 2 * startCount);
        }
        starts[startCount] = size;
        offsets[startCount++] = reader.offset();
    }

    private void instruction(Opcode opcode) {
        int op = opcode.op();
        int first = size;
        switch (op) {
            case Op.CONST_I32_ZERO, Op.CONST_F32_ZERO -> emit(Code.packWide(Op.CONST_I32, register(0), 0));
            case Op.CONST_I64_ZERO, Op.CONST_F64_ZERO -> emit(Code.packWide(Op.CONST_I64, register(0), 0));
            case Op.CONST_I32, Op.CONST_F32 -> emit(Code.packWide(Op.CONST_I32, register(1), reader.i32(0)));
            case Op.CONST_I64, Op.CONST_F64 -> constant(register(1), reader.i64(0));
            case Op.CONST_REF_RODATA,
                    Op.GLOBAL_LOAD_I32,
                    Op.GLOBAL_STORE_I32,
                    Op.GLOBAL_LOAD_I64,
                    Op.GLOBAL_STORE_I64 -> emit(Code.packWide(op, register(1), reader.i32(0)));
            case Op.GLOBAL_LOAD_F32 -> emit(Code.packWide(Op.GLOBAL_LOAD_I32, register(1), reader.i32(0)));
            case Op.GLOBAL_STORE_F32 -> emit(Code.packWide(Op.GLOBAL_STORE_I32, register(1), reader.i32(0)));
            case Op.GLOBAL_LOAD_F64 -> emit(Code.packWide(Op.GLOBAL_LOAD_I64, register(1), reader.i32(0)));
            case Op.GLOBAL_STORE_F64 -> emit(Code.packWide(Op.GLOBAL_STORE_I64, register(1), reader.i32(0)));
            case Op.GLOBAL_LOAD_REF, Op.GLOBAL_STORE_REF -> {
                emit(Code.pack(op, register(2), reader.i32(1), 0));
                emit(reader.i32(0));
            }
            case Op.GLOBAL_LOAD_INDIRECT_REF, Op.GLOBAL_STORE_INDIRECT_REF ->
                emit(Code.pack(op, register(0), reader.i32(1), register(2)));
            case Op.LIST_ALLOC -> emit(Code.pack(op, reader.i32(0), register(1), register(2)));
            case Op.LIST_GET_REF -> {
                emit(Code.pack(op, register(0), register(1), register(3)));
                emit(reader.i32(2));
            }
            case Op.SELECT_REF -> {
                emit(Code.pack(op, register(0), register(2), register(3)));
                emit(Code.pack(register(4), reader.i32(1), 0, 0));
            }
            case Op.SWITCH_I32, Op.SWITCH_F32 -> switchOf(Op.SWITCH_I32, 1, 2, 3, 0);
            case Op.SWITCH_I64, Op.SWITCH_F64 -> switchOf(Op.SWITCH_I64, 1, 2, 3, 0);
            case Op.SWITCH_REF -> switchOf(Op.SWITCH_REF, 2, 3, 4, reader.i32(1));
            case Op.CAST_ANY_REF -> emit(Code.pack(op, register(0), register(2), reader.i32(1)));
            case Op.BR, Op.BREAK -> branch(Op.BR, 0);
            case Op.COND_BREAK -> branch(Op.BR, 1);
            case Op.YIELD -> branch(Op.YIELD, 0);
            case Op.COND_BR -> conditionalBranch();
            case Op.BR_TABLE -> branchTable();
            case Op.CALL -> call(-1, 1, 2, -1);
            case Op.CALL_YIELDABLE -> call(-1, 1, 3, 2);
            case Op.CALL_VARIADIC -> call(1, 2, 3, -1);
            case Op.CALL_VARIADIC_YIELDABLE -> call(1, 2, 4, 3);
            case Op.RETURN -> {
                emit(Code.packWide(op, 0, returns.size()));
                returns.add(
                        new ReturnSite(context.conventions.get(context.ordinal).results(), list(0)));
            }
            case Op.FAIL -> {
                emit(Code.packWide(op, register(0), messages.size()));
                messages.add(reader.string(1));
            }
            case Op.IMPORT_RESOLVED -> emit(Code.packWide(op, register(1), reader.i32(0) & ~FieldKind.IMPORT_BIT));
            case Op.TRACE, Op.PRINT -> discard(1, true);
            case Op.DISCARD_REFS -> discard(0, false);
            default -> plain(renamed(op), opcode.fields().size());
        }
        fuse(op, first);
        lastStart = size == first + 1 ? first : -1;
    }

    /** Maps float operations that only move bits to the equivalent integer operations. */
    private static int renamed(int op) {
        return switch (op) {
            case Op.GLOBAL_LOAD_INDIRECT_F32 -> Op.GLOBAL_LOAD_INDIRECT_I32;
            case Op.GLOBAL_STORE_INDIRECT_F32 -> Op.GLOBAL_STORE_INDIRECT_I32;
            case Op.GLOBAL_LOAD_INDIRECT_F64 -> Op.GLOBAL_LOAD_INDIRECT_I64;
            case Op.GLOBAL_STORE_INDIRECT_F64 -> Op.GLOBAL_STORE_INDIRECT_I64;
            case Op.SELECT_F32 -> Op.SELECT_I32;
            case Op.SELECT_F64 -> Op.SELECT_I64;
            case Op.BITCAST_F32_I32, Op.BITCAST_I32_F32, Op.TRUNC_I64_I32 -> Code.MOVE_WORD;
            case Op.BITCAST_F64_I64, Op.BITCAST_I64_F64 -> Code.MOVE_WIDE;
            case Op.BUFFER_LOAD_F32 -> Op.BUFFER_LOAD_I32;
            case Op.BUFFER_LOAD_F64 -> Op.BUFFER_LOAD_I64;
            case Op.BUFFER_STORE_F32 -> Op.BUFFER_STORE_I32;
            case Op.BUFFER_STORE_F64 -> Op.BUFFER_STORE_I64;
            case Op.BUFFER_FILL_F32 -> Op.BUFFER_FILL_I32;
            case Op.BUFFER_FILL_F64 -> Op.BUFFER_FILL_I64;
            case Op.EXT_I8_I32_U -> Op.TRUNC_I32_I8;
            case Op.EXT_I16_I32_U -> Op.TRUNC_I32_I16;
            default -> op;
        };
    }

    /** Emits an instruction with registers only: three in the first long, the rest in a second long. */
    private void plain(int op, int fields) {
        emit(Code.pack(op, optional(0, fields), optional(1, fields), optional(2, fields)));
        if (fields > 3) {
            emit(optional(3, fields) | (long) optional(4, fields) << 16 | (long) optional(5, fields) << 32);
        }
    }

    private int optional(int field, int fields) {
        return field < fields ? register(field) : 0;
    }

    private void constant(int result, long value) {
        if (value == (int) value) {
            emit(Code.packWide(Op.CONST_I64, result, (int) value));
        } else {
            emit(Code.pack(Code.CONST_I64_WIDE, result, 0, 0));
            emit(value);
        }
    }

    private void switchOf(int op, int defaultField, int valuesField, int resultField, int type) {
        int count = reader.count(valuesField);
        emit(Code.pack(op, register(0), register(defaultField), count));
        emit(Code.pack(register(resultField), type, 0, 0));
        for (int i = 0; i < count; i++) {
            emit(operand(reader.item(valuesField, i)));
        }
    }

    private void branch(int op, int field) {
        int at = size;
        emit(0);
        int moves =
                moves(reader.count(field + 1), i -> reader.source(field + 1, i), i -> reader.destination(field + 1, i));
        boolean refs = op == Op.BR && movesRefs(at + 1, moves);
        code[at] = Code.packWide(refs ? Code.BR_REFS : op, moves, reader.i32(field));
        targetPatches.add(at);
    }

    private void conditionalBranch() {
        int at = size;
        emit(0);
        emit(Code.pair(reader.i32(1), reader.i32(3)));
        int whenTrue = moves(reader.count(2), i -> reader.source(2, i), i -> reader.destination(2, i));
        int whenFalse = moves(reader.count(4), i -> reader.source(4, i), i -> reader.destination(4, i));
        int op = movesRefs(at + 2, whenTrue + whenFalse) ? Code.COND_BR_REFS : Op.COND_BR;
        code[at] = Code.pack(op, register(0), whenTrue, whenFalse);
        targetPatches.add(at);
    }

    private void branchTable() {
        int cases = reader.count(3);
        int at = size;
        emit(Code.packWide(Op.BR_TABLE, register(0), cases));
        for (int i = 0; i <= cases; i++) {
            emit(0);
        }
        entry(at + 1, reader.i32(1), reader.count(2), i -> reader.source(2, i), i -> reader.destination(2, i));
        for (int c = 0; c < cases; c++) {
            int index = c;
            entry(
                    at + 2 + c,
                    reader.caseTarget(c),
                    reader.caseCount(c),
                    i -> reader.caseSource(index, i),
                    i -> reader.caseDestination(index, i));
        }
        targetPatches.add(at);
    }

    private void entry(int at, int target, int count, Register source, Register destination) {
        int list = size;
        emit(0);
        code[list] = moves(count, source, destination);
        code[at] = Code.pair(target, list);
    }

    private interface Register {
        int at(int index);
    }

    /** Emits the copies of a branch, combining pairs of words that form a 64-bit value, and returns the number of copies. */
    private int moves(int count, Register source, Register destination) {
        int first = size;
        for (int i = 0; i < count; i++) {
            int from = source.at(i);
            int to = destination.at(i);
            if (RegisterEncoding.isRef(from)) {
                emit(Code.pack(Code.MOVE_REF, operand(from), operand(to) & ~Code.MOVE, 0));
            } else if ((from & 1) == 0
                    && (to & 1) == 0
                    && i + 1 < count
                    && source.at(i + 1) == from + 1
                    && destination.at(i + 1) == to + 1) {
                emit(Code.pack(Code.MOVE_WIDE, from, to, 0));
                i++;
            } else {
                emit(Code.pack(Code.MOVE_WORD, from, to, 0));
            }
        }
        return size - first;
    }

    private boolean movesRefs(int first, int count) {
        for (int i = first; i < first + count; i++) {
            if (((int) code[i] & 0xFFFF) == Code.MOVE_REF) {
                return true;
            }
        }
        return false;
    }

    private void call(int segments, int operands, int results, int resume) {
        int callee = reader.i32(0);
        boolean isImport = (callee & FieldKind.IMPORT_BIT) != 0;
        int ordinal = callee & ~FieldKind.IMPORT_BIT;
        CallingConvention called = isImport ? context.importConventions.get(ordinal) : context.conventions.get(ordinal);
        char[] letters = new char[reader.count(operands) + called.arguments().length()];
        int[] registers = new int[letters.length];
        int count = 0;
        int operand = 0;
        int argument = 0;
        String arguments = called.arguments();
        for (int i = 0; i < arguments.length(); i++, argument++) {
            if (arguments.charAt(i) != 'C') {
                letters[count] = arguments.charAt(i);
                registers[count++] = operand(reader.item(operands, operand++));
                continue;
            }
            int end = arguments.indexOf('D', i);
            int tuples = reader.item(segments, argument);
            letters[count] = 'C';
            registers[count++] = tuples;
            for (int t = 0; t < tuples; t++) {
                for (int k = i + 1; k < end; k++) {
                    letters[count] = arguments.charAt(k);
                    registers[count++] = operand(reader.item(operands, operand++));
                }
            }
            i = end;
        }
        CallSite site = new CallSite(
                ordinal,
                isImport,
                resume >= 0,
                Arrays.copyOf(letters, count),
                Arrays.copyOf(registers, count),
                called.results(),
                list(results));
        emit(Code.packWide(isImport ? Code.CALL_IMPORT : Op.CALL, 0, sites.size()));
        site.next = resume >= 0 ? reader.i32(resume) : size;
        sites.add(site);
    }

    private void discard(int field, boolean movedOnly) {
        for (int i = 0; i < reader.count(field); i++) {
            int register = reader.item(field, i);
            if (RegisterEncoding.isMove(register) || !movedOnly) {
                emit(Code.pack(Code.DISCARD, RegisterEncoding.ordinal(register), 0, 0));
            }
        }
    }

    /** Fuses a comparison and the branch on the result, the end of most loops. */
    private void fuse(int op, int first) {
        if (op != Op.COND_BR || lastStart < 0 || lastStart != first - 1 || ((int) code[first] & 0xFFFF) != Op.COND_BR) {
            return;
        }
        long comparison = code[lastStart];
        int result = (int) (comparison >>> 48);
        int condition = (int) (code[first] >>> 16) & 0xFFFF;
        if (result != condition) {
            return;
        }
        int fused = switch ((int) comparison & 0xFFFF) {
            case Op.CMP_LT_I32_S -> Code.CMP_LT_I32_S_BR;
            case Op.CMP_EQ_I32 -> Code.CMP_EQ_I32_BR;
            case Op.CMP_NE_I32 -> Code.CMP_NE_I32_BR;
            case Op.CMP_LT_I64_S -> Code.CMP_LT_I64_S_BR;
            default -> 0;
        };
        if (fused != 0) {
            code[lastStart] = comparison & ~0xFFFFL | fused;
        }
    }

    /** Replaces offsets of blocks by indices, once all blocks are known. */
    private void patch(int at) {
        long word = code[at];
        switch ((int) word & 0xFFFF) {
            case Op.COND_BR, Code.COND_BR_REFS -> {
                long targets = code[at + 1];
                code[at + 1] = Code.pair(blockStart((int) targets), blockStart((int) (targets >>> 32)));
            }
            case Op.BR_TABLE -> {
                int cases = (int) (word >>> 32);
                for (int i = at + 1; i <= at + 1 + cases; i++) {
                    code[i] = Code.pair(blockStart((int) code[i]), (int) (code[i] >>> 32));
                }
            }
            default -> code[at] = word & 0xFFFF_FFFFL | (long) blockStart((int) (word >>> 32)) << 32;
        }
    }

    private int blockStart(int offset) {
        return blockStarts[Arrays.binarySearch(blockOffsets, offset)];
    }

    private int register(int field) {
        return operand(reader.register(field));
    }

    private int[] list(int field) {
        int[] registers = new int[reader.count(field)];
        for (int i = 0; i < registers.length; i++) {
            registers[i] = operand(reader.item(field, i));
        }
        return registers;
    }

    /** Drops the bank bit, already implied by the operation. */
    private static int operand(int register) {
        return register & ~RegisterEncoding.REF_BIT;
    }

    private void emit(long word) {
        if (size == code.length) {
            code = Arrays.copyOf(code, 2 * size);
        }
        code[size++] = word;
    }
}
