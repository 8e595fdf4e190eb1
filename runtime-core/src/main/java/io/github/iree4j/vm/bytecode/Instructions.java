package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.Interpreter.getLong;
import static io.github.iree4j.vm.bytecode.Interpreter.putLong;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmType;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.isa.Op;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The operations outside of the interpreter's loop. Operands are laid out by {@link Translator}. */
final class Instructions {
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Instructions() {}

    /** Executes an instruction and returns the index of the next. */
    static int execute(
            int op,
            int a,
            int b,
            int c,
            long w,
            long[] code,
            int pc,
            FunctionCode function,
            BytecodeState state,
            int[] words,
            @Nullable Object[] refs) {
        if (op >= Op.FIRST_F32 && op < Op.COUNT) {
            long more = code[Math.min(pc, code.length - 1)];
            return op < Op.FIRST_F64
                    ? pc + FloatInstructions.f32(op, a, b, c, more, words, refs)
                    : pc + FloatInstructions.f64(op, a, b, c, more, words, refs);
        }
        switch (op) {
            case Op.GLOBAL_LOAD_INDIRECT_I32,
                    Op.GLOBAL_STORE_INDIRECT_I32,
                    Op.GLOBAL_LOAD_INDIRECT_I64,
                    Op.GLOBAL_STORE_INDIRECT_I64 -> indirect(op, words[a], b, state, words);
            case Op.GLOBAL_LOAD_REF -> loadGlobal(state, (int) code[pc++], b, refs, a);
            case Op.GLOBAL_STORE_REF -> storeGlobal(state, (int) code[pc++], b, refs, a);
            case Op.GLOBAL_LOAD_INDIRECT_REF -> loadGlobal(state, global(state, words[a]), b, refs, c);
            case Op.GLOBAL_STORE_INDIRECT_REF -> storeGlobal(state, global(state, words[a]), b, refs, c);
            case Op.CONST_REF_ZERO -> References.put(refs, register(a), null);
            case Op.CONST_REF_RODATA -> References.put(refs, register(a), state.rodata[(int) (w >>> 32)]);
            case Code.DISCARD -> References.put(refs, register(a), null);
            case Op.ASSIGN_REF -> References.put(refs, register(b), References.take(refs, a));
            case Op.CAST_ANY_REF -> {
                References.check(state.types[c], References.peek(refs, a));
                References.put(refs, register(b), References.take(refs, a));
            }
            case Op.SELECT_REF -> {
                long more = code[pc++];
                selectRef(words[a] != 0, b, c, more, state, refs);
            }
            case Op.SWITCH_REF -> {
                switchRef(words[a], b, c, code, pc, state, refs);
                pc += 1 + c;
            }
            case Op.SWITCH_I32 -> {
                int index = words[a];
                int from = index >= 0 && index < c ? (int) code[pc + 1 + index] : b;
                words[((int) code[pc] & 0xFFFF)] = words[from];
                pc += 1 + c;
            }
            case Op.SWITCH_I64 -> {
                int index = words[a];
                int from = index >= 0 && index < c ? (int) code[pc + 1 + index] : b;
                putLong(words, ((int) code[pc] & 0xFFFF), getLong(words, from));
                pc += 1 + c;
            }
            case Op.CMP_EQ_REF -> words[c] = References.areSame(refs[a], refs[b]) ? 1 : 0;
            case Op.CMP_NE_REF -> words[c] = References.areSame(refs[a], refs[b]) ? 0 : 1;
            case Op.CMP_NZ_REF -> words[b] = refs[a] != null ? 1 : 0;
            case Op.DIV_I32_S, Op.DIV_I32_U, Op.REM_I32_S, Op.REM_I32_U -> words[c] = divide(op, words[a], words[b]);
            case Op.DIV_I64_S, Op.DIV_I64_U, Op.REM_I64_S, Op.REM_I64_U ->
                putLong(words, c, divide(op, getLong(words, a), getLong(words, b)));
            case Op.CTLZ_I32 -> words[b] = Integer.numberOfLeadingZeros(words[a]);
            case Op.CTLZ_I64 -> putLong(words, b, Long.numberOfLeadingZeros(getLong(words, a)));
            case Op.ABS_I32 -> words[b] = Math.abs(words[a]);
            case Op.ABS_I64 -> putLong(words, b, Math.abs(getLong(words, a)));
            case Op.MIN_I32_U -> words[c] = Integer.compareUnsigned(words[a], words[b]) < 0 ? words[a] : words[b];
            case Op.MAX_I32_U -> words[c] = Integer.compareUnsigned(words[a], words[b]) < 0 ? words[b] : words[a];
            case Op.MIN_I64_U -> {
                long left = getLong(words, a);
                long right = getLong(words, b);
                putLong(words, c, Long.compareUnsigned(left, right) < 0 ? left : right);
            }
            case Op.MAX_I64_U -> {
                long left = getLong(words, a);
                long right = getLong(words, b);
                putLong(words, c, Long.compareUnsigned(left, right) < 0 ? right : left);
            }
            case Op.FAIL -> throw Interpreter.failure(words[a], function.messages[(int) (w >>> 32)]);
            case Op.IMPORT_RESOLVED -> words[a] = state.imports[(int) (w >>> 32)] != null ? 1 : 0;
            default -> {
                long more = code[Math.min(pc, code.length - 1)];
                return pc + objects(op, a, b, c, more, state, words, refs);
            }
        }
        return pc;
    }

    /** Executes operations on lists and whole buffers. Returns the number of further longs in the instruction. */
    private static int objects(
            int op, int a, int b, int c, long more, BytecodeState state, int[] words, @Nullable Object[] refs) {
        int d = (int) more & 0xFFFF;
        int e = (int) (more >>> 16) & 0xFFFF;
        int f = (int) (more >>> 32) & 0xFFFF;
        switch (op) {
            case Op.LIST_ALLOC ->
                References.put(refs, register(c), VmList.create(state.types[a], words[b], state.budget));
            case Op.LIST_RESERVE -> list(refs[a]).reserve(words[b]);
            case Op.LIST_SIZE -> words[b] = list(refs[a]).size();
            case Op.LIST_RESIZE -> list(refs[a]).resize(words[b]);
            case Op.LIST_GET_I32 -> words[c] = list(refs[a]).i32(words[b]);
            case Op.LIST_SET_I32 -> list(refs[a]).setI32(words[b], words[c]);
            case Op.LIST_GET_I64 -> putLong(words, c, list(refs[a]).i64(words[b]));
            case Op.LIST_SET_I64 -> list(refs[a]).setI64(words[b], getLong(words, c));
            case Op.LIST_GET_REF -> {
                getRef(list(refs[a]), words[b], state.types[(int) more], refs, c);
                return 1;
            }
            case Op.LIST_SET_REF -> setRef(list(refs[a]), words[b], refs, c);
            case Op.BUFFER_ALLOC -> {
                VmBuffer buffer = Buffers.allocate(getLong(words, a), words[b], state.budget);
                References.put(refs, register(c), buffer);
            }
            case Op.BUFFER_CLONE -> {
                VmBuffer copy = Buffers.copyOf(refs[a], getLong(words, b), getLong(words, c), words[d], state.budget);
                References.put(refs, register(e), copy);
                return 1;
            }
            case Op.BUFFER_LENGTH -> putLong(words, b, Buffers.buffer(refs[a]).length());
            case Op.BUFFER_COPY -> {
                Buffers.copy(refs[a], getLong(words, b), refs[c], getLong(words, d), getLong(words, e));
                return 1;
            }
            case Op.BUFFER_COMPARE -> {
                boolean equal =
                        Buffers.areEqual(refs[a], getLong(words, b), refs[c], getLong(words, d), getLong(words, e));
                words[f] = equal ? 1 : 0;
                return 1;
            }
            case Op.BUFFER_HASH -> {
                long hash = Buffers.hash(refs[a], getLong(words, b), getLong(words, c));
                putLong(words, d, hash);
                return 1;
            }
            case Op.BUFFER_FILL_I8, Op.BUFFER_FILL_I16, Op.BUFFER_FILL_I32 -> {
                int shift = op == Op.BUFFER_FILL_I8 ? 0 : op == Op.BUFFER_FILL_I16 ? 1 : 2;
                Buffers.fill(refs[a], getLong(words, b), getLong(words, c), words[d], shift);
                return 1;
            }
            case Op.BUFFER_FILL_I64 -> {
                Buffers.fill(refs[a], getLong(words, b), getLong(words, c), getLong(words, d), 3);
                return 1;
            }
            default -> throw IreeException.of(StatusCode.INTERNAL, "operation " + op + " is not implemented");
        }
        return 0;
    }

    private static int register(int operand) {
        return (operand & ~Code.MOVE);
    }

    static VmList list(@Nullable Object object) {
        if (object instanceof VmList list) {
            return list;
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "reference is %s where a !vm.list is wanted".formatted(VmTypes.nameOf(object)));
    }

    private static void indirect(int op, int offset, int register, BytecodeState state, int[] words) {
        byte[] globals = state.globals;
        int size = op == Op.GLOBAL_LOAD_INDIRECT_I32 || op == Op.GLOBAL_STORE_INDIRECT_I32 ? 4 : 8;
        checkGlobal(globals, offset, size);
        switch (op) {
            case Op.GLOBAL_LOAD_INDIRECT_I32 -> words[register] = (int) I32.get(globals, offset);
            case Op.GLOBAL_STORE_INDIRECT_I32 -> I32.set(globals, offset, words[register]);
            case Op.GLOBAL_LOAD_INDIRECT_I64 -> putLong(words, register, (long) I64.get(globals, offset));
            default -> I64.set(globals, offset, getLong(words, register));
        }
    }

    static void checkGlobal(byte[] globals, int offset, int size) {
        if (offset < 0 || offset > globals.length - size) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "global of %d bytes at %s is outside of %d bytes"
                            .formatted(size, Integer.toUnsignedString(offset), globals.length));
        }
    }

    static int global(BytecodeState state, int ordinal) {
        if (ordinal < 0 || ordinal >= state.globalRefs.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "global reference %s is outside of %d"
                            .formatted(Integer.toUnsignedString(ordinal), state.globalRefs.length));
        }
        return ordinal;
    }

    private static void loadGlobal(BytecodeState state, int ordinal, int type, @Nullable Object[] refs, int result) {
        Object object = state.globalRefs[ordinal];
        References.check(state.types[type], object);
        if ((result & Code.MOVE) != 0) {
            state.globalRefs[ordinal] = null;
        } else {
            References.retained(object);
        }
        References.put(refs, register(result), object);
    }

    private static void storeGlobal(BytecodeState state, int ordinal, int type, @Nullable Object[] refs, int value) {
        References.check(state.types[type], References.peek(refs, value));
        References.put(state.globalRefs, ordinal, References.take(refs, value));
    }

    private static void selectRef(
            boolean condition, int b, int c, long more, BytecodeState state, @Nullable Object[] refs) {
        int result = register((int) more & 0xFFFF);
        VmType type = state.types[(int) (more >>> 16) & 0xFFFF];
        int picked = condition ? b : c;
        int other = condition ? c : b;
        References.check(type, References.peek(refs, picked));
        References.check(type, References.peek(refs, other));
        Object object = References.take(refs, picked);
        if ((other & Code.MOVE) != 0) {
            References.put(refs, register(other), null);
        }
        References.put(refs, result, object);
    }

    private static void switchRef(
            int index, int byDefault, int count, long[] code, int pc, BytecodeState state, @Nullable Object[] refs) {
        int result = register((int) code[pc] & 0xFFFF);
        VmType type = state.types[(int) (code[pc] >>> 16) & 0xFFFF];
        int picked = index >= 0 && index < count ? (int) code[pc + 1 + index] : byDefault;
        References.check(type, References.peek(refs, picked));
        Object object = References.take(refs, picked);
        // References not selected are released as well if they have the MOVE bit.
        if ((byDefault & Code.MOVE) != 0) {
            References.put(refs, register(byDefault), null);
        }
        for (int i = 0; i < count; i++) {
            int operand = (int) code[pc + 1 + i];
            if ((operand & Code.MOVE) != 0) {
                References.put(refs, register(operand), null);
            }
        }
        References.put(refs, result, object);
    }

    private static void getRef(VmList list, int index, VmType type, @Nullable Object[] refs, int result) {
        boolean move = (result & Code.MOVE) != 0;
        Object object = move ? list.takeRef(index) : References.retained(list.ref(index));
        References.put(refs, register(result), object);
        if (!type.accepts(object)) {
            References.put(refs, register(result), null);
        }
    }

    private static void setRef(VmList list, int index, @Nullable Object[] refs, int value) {
        if ((value & Code.MOVE) != 0) {
            list.setOwnedRef(index, References.peek(refs, value));
            refs[register(value)] = null;
        } else {
            list.setRef(index, References.peek(refs, value));
        }
    }

    private static int divide(int op, int left, int right) {
        if (right == 0) {
            throw byZero();
        }
        return switch (op) {
            case Op.DIV_I32_S -> left / right;
            case Op.DIV_I32_U -> Integer.divideUnsigned(left, right);
            case Op.REM_I32_S -> left % right;
            default -> Integer.remainderUnsigned(left, right);
        };
    }

    private static long divide(int op, long left, long right) {
        if (right == 0) {
            throw byZero();
        }
        return switch (op) {
            case Op.DIV_I64_S -> left / right;
            case Op.DIV_I64_U -> Long.divideUnsigned(left, right);
            case Op.REM_I64_S -> left % right;
            default -> Long.remainderUnsigned(left, right);
        };
    }

    static IreeException byZero() {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, "integer division by zero");
    }
}
