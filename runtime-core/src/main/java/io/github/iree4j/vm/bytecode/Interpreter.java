package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionCode.ReturnSite;
import io.github.iree4j.vm.isa.Op;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Runs translated code. */
final class Interpreter {
    /*
     * One loop over one switch, with all that changes per instruction in locals. HotSpot compiles a method only up to 8000 bytes of
     * bytecode (-XX:HugeMethodLimit), so the loop holds control flow and the operations that inner loops are made of; the others are in
     * methods of Instructions, by group. InterpreterSizeTest guards the limit.
     *
     * 64-bit values are two words of the int array, low word first, as branches that copy their words one by one need.
     *
     * VM-1: an endless loop or recursion can be cancelled: jumps back and calls look at the flag.
     */
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Interpreter() {}

    static long getLong(int[] words, int at) {
        return (words[at] & 0xFFFF_FFFFL) | ((long) words[at + 1] << 32);
    }

    static void putLong(int[] words, int at, long value) {
        words[at] = (int) value;
        words[at + 1] = (int) (value >> 32);
    }

    /** Runs the top frame and those above it until the bottom one returns or something defers. */
    static void run(Execution x) {
        VmCall root = x.root();
        Execution.Frame frame = x.top();
        FunctionCode function = frame.function;
        BytecodeState state = frame.state;
        long[] code = function.code;
        int pc = frame.pc;
        int base = frame.base;
        int refBase = frame.refBase;
        int[] words = x.words;
        @Nullable Object[] refs = x.refs;
        try {
            while (true) {
                long w = code[pc++];
                int op = (int) w & 0xFFFF;
                int a = (int) (w >>> 16) & 0xFFFF;
                int b = (int) (w >>> 32) & 0xFFFF;
                int c = (int) (w >>> 48);
                switch (op) {
                    case Op.CONST_I32:
                        words[base + a] = (int) (w >>> 32);
                        break;
                    case Op.CONST_I64:
                        putLong(words, base + a, w >> 32);
                        break;
                    case Code.CONST_I64_WIDE:
                        putLong(words, base + a, code[pc++]);
                        break;
                    case Code.MOVE_WORD:
                        words[base + b] = words[base + a];
                        break;
                    case Code.MOVE_WIDE:
                        putLong(words, base + b, getLong(words, base + a));
                        break;
                    case Op.GLOBAL_LOAD_I32:
                        words[base + a] = (int) I32.get(state.globals, (int) (w >>> 32));
                        break;
                    case Op.GLOBAL_STORE_I32:
                        I32.set(state.globals, (int) (w >>> 32), words[base + a]);
                        break;
                    case Op.GLOBAL_LOAD_I64:
                        putLong(words, base + a, (long) I64.get(state.globals, (int) (w >>> 32)));
                        break;
                    case Op.GLOBAL_STORE_I64:
                        I64.set(state.globals, (int) (w >>> 32), getLong(words, base + a));
                        break;
                    case Op.ADD_I32:
                        words[base + c] = words[base + a] + words[base + b];
                        break;
                    case Op.SUB_I32:
                        words[base + c] = words[base + a] - words[base + b];
                        break;
                    case Op.MUL_I32:
                        words[base + c] = words[base + a] * words[base + b];
                        break;
                    case Op.AND_I32:
                        words[base + c] = words[base + a] & words[base + b];
                        break;
                    case Op.OR_I32:
                        words[base + c] = words[base + a] | words[base + b];
                        break;
                    case Op.XOR_I32:
                        words[base + c] = words[base + a] ^ words[base + b];
                        break;
                    case Op.SHL_I32:
                        words[base + c] = words[base + a] << words[base + b];
                        break;
                    case Op.SHR_I32_S:
                        words[base + c] = words[base + a] >> words[base + b];
                        break;
                    case Op.SHR_I32_U:
                        words[base + c] = words[base + a] >>> words[base + b];
                        break;
                    case Op.CMP_EQ_I32:
                        words[base + c] = words[base + a] == words[base + b] ? 1 : 0;
                        break;
                    case Op.CMP_NE_I32:
                        words[base + c] = words[base + a] != words[base + b] ? 1 : 0;
                        break;
                    case Op.CMP_LT_I32_S:
                        words[base + c] = words[base + a] < words[base + b] ? 1 : 0;
                        break;
                    case Op.CMP_LT_I32_U:
                        words[base + c] = Integer.compareUnsigned(words[base + a], words[base + b]) < 0 ? 1 : 0;
                        break;
                    case Op.MIN_I32_S:
                        words[base + c] = Math.min(words[base + a], words[base + b]);
                        break;
                    case Op.MAX_I32_S:
                        words[base + c] = Math.max(words[base + a], words[base + b]);
                        break;
                    case Op.NOT_I32:
                        words[base + b] = ~words[base + a];
                        break;
                    case Op.TRUNC_I32_I8:
                        words[base + b] = words[base + a] & 0xFF;
                        break;
                    case Op.TRUNC_I32_I16:
                        words[base + b] = words[base + a] & 0xFFFF;
                        break;
                    case Op.EXT_I8_I32_S:
                        words[base + b] = (byte) words[base + a];
                        break;
                    case Op.EXT_I16_I32_S:
                        words[base + b] = (short) words[base + a];
                        break;
                    case Op.CMP_NZ_I32:
                        words[base + b] = words[base + a] != 0 ? 1 : 0;
                        break;
                    case Op.ADD_I64:
                        putLong(words, base + c, getLong(words, base + a) + getLong(words, base + b));
                        break;
                    case Op.SUB_I64:
                        putLong(words, base + c, getLong(words, base + a) - getLong(words, base + b));
                        break;
                    case Op.MUL_I64:
                        putLong(words, base + c, getLong(words, base + a) * getLong(words, base + b));
                        break;
                    case Op.AND_I64:
                        putLong(words, base + c, getLong(words, base + a) & getLong(words, base + b));
                        break;
                    case Op.OR_I64:
                        putLong(words, base + c, getLong(words, base + a) | getLong(words, base + b));
                        break;
                    case Op.XOR_I64:
                        putLong(words, base + c, getLong(words, base + a) ^ getLong(words, base + b));
                        break;
                    case Op.MIN_I64_S:
                        putLong(words, base + c, Math.min(getLong(words, base + a), getLong(words, base + b)));
                        break;
                    case Op.MAX_I64_S:
                        putLong(words, base + c, Math.max(getLong(words, base + a), getLong(words, base + b)));
                        break;
                    case Op.SHL_I64:
                        putLong(words, base + c, getLong(words, base + a) << words[base + b]);
                        break;
                    case Op.SHR_I64_S:
                        putLong(words, base + c, getLong(words, base + a) >> words[base + b]);
                        break;
                    case Op.SHR_I64_U:
                        putLong(words, base + c, getLong(words, base + a) >>> words[base + b]);
                        break;
                    case Op.NOT_I64:
                        putLong(words, base + b, ~getLong(words, base + a));
                        break;
                    case Op.EXT_I32_I64_S:
                        putLong(words, base + b, words[base + a]);
                        break;
                    case Op.EXT_I32_I64_U:
                        putLong(words, base + b, words[base + a] & 0xFFFF_FFFFL);
                        break;
                    case Op.CMP_EQ_I64:
                        words[base + c] = getLong(words, base + a) == getLong(words, base + b) ? 1 : 0;
                        break;
                    case Op.CMP_NE_I64:
                        words[base + c] = getLong(words, base + a) != getLong(words, base + b) ? 1 : 0;
                        break;
                    case Op.CMP_LT_I64_S:
                        words[base + c] = getLong(words, base + a) < getLong(words, base + b) ? 1 : 0;
                        break;
                    case Op.CMP_LT_I64_U:
                        words[base + c] =
                                Long.compareUnsigned(getLong(words, base + a), getLong(words, base + b)) < 0 ? 1 : 0;
                        break;
                    case Op.CMP_NZ_I64:
                        words[base + b] = getLong(words, base + a) != 0 ? 1 : 0;
                        break;
                    case Op.ADD_F32:
                        words[base + c] = Float.floatToRawIntBits(
                                Float.intBitsToFloat(words[base + a]) + Float.intBitsToFloat(words[base + b]));
                        break;
                    case Op.SUB_F32:
                        words[base + c] = Float.floatToRawIntBits(
                                Float.intBitsToFloat(words[base + a]) - Float.intBitsToFloat(words[base + b]));
                        break;
                    case Op.MUL_F32:
                        words[base + c] = Float.floatToRawIntBits(
                                Float.intBitsToFloat(words[base + a]) * Float.intBitsToFloat(words[base + b]));
                        break;
                    case Op.DIV_F32:
                        words[base + c] = Float.floatToRawIntBits(
                                Float.intBitsToFloat(words[base + a]) / Float.intBitsToFloat(words[base + b]));
                        break;
                    case Op.SELECT_I32:
                        words[base + (int) code[pc++]] = words[base + a] != 0 ? words[base + b] : words[base + c];
                        break;
                    case Op.SELECT_I64:
                        putLong(words, base + (int) code[pc++], getLong(words, base + (words[base + a] != 0 ? b : c)));
                        break;
                    case Op.FMA_I32:
                        words[base + (int) code[pc++]] = words[base + a] * words[base + b] + words[base + c];
                        break;
                    case Op.FMA_I64:
                        putLong(
                                words,
                                base + (int) code[pc++],
                                getLong(words, base + a) * getLong(words, base + b) + getLong(words, base + c));
                        break;
                    case Op.BUFFER_LOAD_I8_U:
                        words[base + c] = Buffers.loadI8(refs[refBase + a], getLong(words, base + b)) & 0xFF;
                        break;
                    case Op.BUFFER_LOAD_I8_S:
                        words[base + c] = Buffers.loadI8(refs[refBase + a], getLong(words, base + b));
                        break;
                    case Op.BUFFER_LOAD_I16_U:
                        words[base + c] = Buffers.loadI16(refs[refBase + a], getLong(words, base + b)) & 0xFFFF;
                        break;
                    case Op.BUFFER_LOAD_I16_S:
                        words[base + c] = Buffers.loadI16(refs[refBase + a], getLong(words, base + b));
                        break;
                    case Op.BUFFER_LOAD_I32:
                        words[base + c] = Buffers.loadI32(refs[refBase + a], getLong(words, base + b));
                        break;
                    case Op.BUFFER_LOAD_I64:
                        putLong(words, base + c, Buffers.loadI64(refs[refBase + a], getLong(words, base + b)));
                        break;
                    case Op.BUFFER_STORE_I8:
                        Buffers.storeI8(refs[refBase + a], getLong(words, base + b), words[base + c]);
                        break;
                    case Op.BUFFER_STORE_I16:
                        Buffers.storeI16(refs[refBase + a], getLong(words, base + b), words[base + c]);
                        break;
                    case Op.BUFFER_STORE_I32:
                        Buffers.storeI32(refs[refBase + a], getLong(words, base + b), words[base + c]);
                        break;
                    case Op.BUFFER_STORE_I64:
                        Buffers.storeI64(refs[refBase + a], getLong(words, base + b), getLong(words, base + c));
                        break;
                    case Code.CMP_LT_I32_S_BR: {
                        boolean less = words[base + a] < words[base + b];
                        words[base + c] = less ? 1 : 0;
                        pc = jump(x, root, code, pc, less, words, base, refs, refBase);
                        break;
                    }
                    case Code.CMP_EQ_I32_BR: {
                        boolean equal = words[base + a] == words[base + b];
                        words[base + c] = equal ? 1 : 0;
                        pc = jump(x, root, code, pc, equal, words, base, refs, refBase);
                        break;
                    }
                    case Code.CMP_NE_I32_BR: {
                        boolean different = words[base + a] != words[base + b];
                        words[base + c] = different ? 1 : 0;
                        pc = jump(x, root, code, pc, different, words, base, refs, refBase);
                        break;
                    }
                    case Code.CMP_LT_I64_S_BR: {
                        boolean less = getLong(words, base + a) < getLong(words, base + b);
                        words[base + c] = less ? 1 : 0;
                        pc = jump(x, root, code, pc, less, words, base, refs, refBase);
                        break;
                    }
                    case Op.COND_BR:
                        pc = jump(x, root, code, pc - 1, words[base + a] != 0, words, base, refs, refBase);
                        break;
                    case Op.BR: {
                        if (a != 0) {
                            move(code, pc, a, words, base, refs, refBase);
                        }
                        int target = (int) (w >>> 32);
                        if (target < pc && root.isCancelled()) {
                            throw x.cancelled();
                        }
                        pc = target;
                        break;
                    }
                    case Op.BR_TABLE: {
                        int index = words[base + a];
                        int cases = (int) (w >>> 32);
                        long entry = code[pc + (index >= 0 && index < cases ? index + 1 : 0)];
                        int list = (int) (entry >>> 32);
                        move(code, list + 1, (int) code[list], words, base, refs, refBase);
                        int target = (int) entry;
                        if (target < pc && root.isCancelled()) {
                            throw x.cancelled();
                        }
                        pc = target;
                        break;
                    }
                    case Code.CALL_IMPORT: {
                        CallSite site = function.sites[(int) (w >>> 32)];
                        LinkedImport linked = state.linked(site.callee);
                        FunctionCode callee = linked.code();
                        BytecodeState calleeState = linked.state();
                        if (callee == null || calleeState == null) {
                            frame.pc = pc;
                            if (!x.callNative(linked, site, base, refBase)) {
                                frame.pc = pc - 1;
                                return;
                            }
                            pc = site.next;
                            break;
                        }
                        frame.pc = pc;
                        x.call(callee, calleeState, site, function, base, refBase);
                        frame = x.top();
                        function = callee;
                        state = calleeState;
                        code = callee.code;
                        pc = 0;
                        base = frame.base;
                        refBase = frame.refBase;
                        words = x.words;
                        refs = x.refs;
                        break;
                    }
                    case Op.CALL: {
                        CallSite site = function.sites[(int) (w >>> 32)];
                        FunctionCode callee = state.functions[site.callee];
                        frame.pc = pc;
                        x.call(callee, state, site, function, base, refBase);
                        frame = x.top();
                        function = callee;
                        code = callee.code;
                        pc = 0;
                        base = frame.base;
                        refBase = frame.refBase;
                        words = x.words;
                        refs = x.refs;
                        break;
                    }
                    case Op.RETURN: {
                        ReturnSite results = function.returns[(int) (w >>> 32)];
                        CallSite site = frame.site;
                        if (site == null) {
                            x.leave(results);
                            return;
                        }
                        x.leave(results, site);
                        frame = x.top();
                        function = frame.function;
                        state = frame.state;
                        code = function.code;
                        pc = site.next;
                        base = frame.base;
                        refBase = frame.refBase;
                        break;
                    }
                    case Op.YIELD:
                        move(code, pc, a, words, base, refs, refBase);
                        frame.pc = (int) (w >>> 32);
                        root.defer(VmWait.NONE);
                        return;
                    default:
                        pc = Instructions.execute(
                                op, a, b, c, w, code, pc, function, state, words, base, refs, refBase);
                        break;
                }
            }
        } catch (Throwable e) {
            throw x.failed(e, pc);
        }
    }

    /** Takes one of the two edges of the conditional branch at an index: copies its registers and returns where it leads. */
    private static int jump(
            Execution x,
            VmCall root,
            long[] code,
            int at,
            boolean condition,
            int[] words,
            int base,
            @Nullable Object[] refs,
            int refBase) {
        long w = code[at];
        long targets = code[at + 1];
        int whenTrue = (int) (w >>> 32) & 0xFFFF;
        int target;
        if (condition) {
            if (whenTrue != 0) {
                move(code, at + 2, whenTrue, words, base, refs, refBase);
            }
            target = (int) targets;
        } else {
            int whenFalse = (int) (w >>> 48);
            if (whenFalse != 0) {
                move(code, at + 2 + whenTrue, whenFalse, words, base, refs, refBase);
            }
            target = (int) (targets >>> 32);
        }
        if (target <= at && root.isCancelled()) {
            throw x.cancelled();
        }
        return target;
    }

    /** Copies registers along an edge, in order. */
    private static void move(
            long[] code, int first, int count, int[] words, int base, @Nullable Object[] refs, int refBase) {
        for (int i = first; i < first + count; i++) {
            long w = code[i];
            int a = (int) (w >>> 16) & 0xFFFF;
            int b = (int) (w >>> 32) & 0xFFFF;
            switch ((int) w & 0xFFFF) {
                case Code.MOVE_WORD -> words[base + b] = words[base + a];
                case Code.MOVE_WIDE -> putLong(words, base + b, getLong(words, base + a));
                default -> References.put(refs, refBase + b, References.take(refs, refBase, a));
            }
        }
    }

    static IreeException failure(int status, String message) {
        StatusCode code = status == 0 ? StatusCode.UNKNOWN : StatusCode.of(status & 0x1F);
        return new IreeException(
                code == StatusCode.OK || code == StatusCode.DEFERRED ? StatusCode.UNKNOWN : code,
                message.isEmpty() ? "the program failed with status " + status : message);
    }
}
