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
     * WordLoop runs instructions that need only the words of a frame. This loop runs the rest: buffers, calls, and
     * everything else through Instructions. HotSpot compiles a method only up to 8000 bytes of bytecode
     * (-XX:HugeMethodLimit); InterpreterSizeTest guards this limit. 64-bit values are two words of the int array, low
     * word first, since branches copy words individually.
     *
     * VM-1: an endless loop or recursion can be cancelled: backward jumps and calls read the flag.
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

    /**
     * Runs the top frame and the frames above until the base frame returns or a call defers.
     *
     * @param x the stack
     * @param base the frame whose return ends the run; the top frame or a frame below
     * @return the return site of the base frame, for the caller to take the results before dropping the frame; null
     *     when deferred
     */
    @SuppressWarnings("fallthrough") // a part that returns
    static @Nullable ReturnSite run(Execution x, Frame base) {
        VmCall root = x.root();
        Frame frame = x.top();
        FunctionCode function = frame.function;
        BytecodeState state = frame.state;
        long[] code = function.running();
        int[] words = frame.words;
        @Nullable Object[] refs = frame.refs;
        int pc = frame.pc;
        int stretches = Execution.JUMPS;
        try {
            while (true) {
                long w = code[pc];
                int op = (char) w;
                if (op != Op.CALL && op != Op.RETURN && op != Code.CALL_IMPORT) {
                    pc = WordLoop.run(code, pc, words);
                    if (pc < 0) {
                        pc = ~pc;
                        x.looped(function, state, pc);
                        code = function.running();
                        continue;
                    }
                    if (--stretches == 0) {
                        // Backward jumps between loads and stores are not counted by the word loop.
                        stretches = Execution.JUMPS;
                        x.looped(function, state, pc);
                        code = function.running();
                    }
                    w = code[pc];
                    op = (char) w;
                }
                pc++;
                int a = (int) (w >>> 16) & 0xFFFF;
                int b = (int) (w >>> 32) & 0xFFFF;
                int c = (int) (w >>> 48);
                switch (op) {
                    case Op.GLOBAL_LOAD_I32:
                        words[a] = (int) I32.get(state.globals, (int) (w >>> 32));
                        break;
                    case Op.GLOBAL_STORE_I32:
                        I32.set(state.globals, (int) (w >>> 32), words[a]);
                        break;
                    case Op.GLOBAL_LOAD_I64:
                        putLong(words, a, (long) I64.get(state.globals, (int) (w >>> 32)));
                        break;
                    case Op.GLOBAL_STORE_I64:
                        I64.set(state.globals, (int) (w >>> 32), getLong(words, a));
                        break;
                    case Op.BUFFER_LOAD_I8_U:
                        words[c] = Buffers.loadI8(refs[a], getLong(words, b)) & 0xFF;
                        break;
                    case Op.BUFFER_LOAD_I8_S:
                        words[c] = Buffers.loadI8(refs[a], getLong(words, b));
                        break;
                    case Op.BUFFER_LOAD_I16_U:
                        words[c] = Buffers.loadI16(refs[a], getLong(words, b)) & 0xFFFF;
                        break;
                    case Op.BUFFER_LOAD_I16_S:
                        words[c] = Buffers.loadI16(refs[a], getLong(words, b));
                        break;
                    case Op.BUFFER_LOAD_I32:
                        words[c] = Buffers.loadI32(refs[a], getLong(words, b));
                        break;
                    case Op.BUFFER_LOAD_I64:
                        putLong(words, c, Buffers.loadI64(refs[a], getLong(words, b)));
                        break;
                    case Op.BUFFER_STORE_I8:
                        Buffers.storeI8(refs[a], getLong(words, b), words[c]);
                        break;
                    case Op.BUFFER_STORE_I16:
                        Buffers.storeI16(refs[a], getLong(words, b), words[c]);
                        break;
                    case Op.BUFFER_STORE_I32:
                        Buffers.storeI32(refs[a], getLong(words, b), words[c]);
                        break;
                    case Op.BUFFER_STORE_I64:
                        Buffers.storeI64(refs[a], getLong(words, b), getLong(words, c));
                        break;
                    case Code.BR_REFS:
                    case Code.COND_BR_REFS: {
                        int target;
                        if (op == Code.BR_REFS) {
                            move(code, pc, a, words, refs);
                            target = (int) (w >>> 32);
                        } else if (words[a] != 0) {
                            move(code, pc + 1, b, words, refs);
                            target = (int) code[pc];
                        } else {
                            move(code, pc + 1 + b, c, words, refs);
                            target = (int) (code[pc] >>> 32);
                        }
                        if (target < pc && root.isCancelled()) {
                            throw x.cancelled();
                        }
                        pc = target;
                        break;
                    }
                    case Op.BR_TABLE: {
                        int index = words[a];
                        int cases = (int) (w >>> 32);
                        long entry = code[pc + (index >= 0 && index < cases ? index + 1 : 0)];
                        int list = (int) (entry >>> 32);
                        move(code, list + 1, (int) code[list], words, refs);
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
                        frame.pc = pc;
                        if (callee == null || calleeState == null) {
                            if (!x.callNative(linked, site, frame)) {
                                x.pause(frame, pc - 1);
                                return null;
                            }
                            // A yieldable call resumes at any target, even by a backward jump.
                            if (site.next < pc && root.isCancelled()) {
                                throw x.cancelled();
                            }
                            pc = site.next;
                            break;
                        }
                        if (x.entersCompiled(callee, frame)) {
                            if (!x.callCompiled(callee, calleeState, site, frame)) {
                                return null;
                            }
                            pc = site.next;
                            break;
                        }
                        frame = x.call(callee, calleeState, site, frame);
                        function = callee;
                        state = calleeState;
                        code = callee.running();
                        words = frame.words;
                        refs = frame.refs;
                        pc = 0;
                        break;
                    }
                    case Op.CALL: {
                        CallSite site = function.sites[(int) (w >>> 32)];
                        frame.pc = pc;
                        FunctionCode callee = state.functions[site.callee];
                        if (x.entersCompiled(callee, frame)) {
                            if (!x.callCompiled(callee, state, site, frame)) {
                                return null;
                            }
                            pc = site.next;
                            break;
                        }
                        function = callee;
                        frame = x.call(function, state, site, frame);
                        code = function.running();
                        words = frame.words;
                        refs = frame.refs;
                        pc = 0;
                        break;
                    }
                    case Code.ENTER: {
                        // If the part fails, only the frame knows the position.
                        frame.pc = pc;
                        int at = pc - 1;
                        pc = -1;
                        int next = x.enterPart(frame, function, state, at);
                        if (next == FunctionEmitter.DEFERRED) {
                            return null;
                        }
                        if (next >= FunctionEmitter.DEFERRED || next == CompiledParts.NOT_NOW) {
                            pc = next >= 0 ? next : at;
                            code = next >= 0 ? code : function.code;
                            break;
                        }
                        w = Code.packWide(Op.RETURN, 0, FunctionEmitter.RETURNS - next);
                    }
                    // fall through: the part has returned
                    case Op.RETURN: {
                        ReturnSite results = function.returns[(int) (w >>> 32)];
                        Frame caller = frame.caller;
                        if (frame == base || caller == null) {
                            return results;
                        }
                        CallSite site = frame.site();
                        x.leave(results, frame, caller, site);
                        frame = caller;
                        function = frame.function;
                        state = frame.state;
                        code = function.running();
                        words = frame.words;
                        refs = frame.refs;
                        pc = site.next;
                        break;
                    }
                    case Op.YIELD:
                        move(code, pc, a, words, refs);
                        x.pause(frame, (int) (w >>> 32));
                        root.defer(VmWait.NONE);
                        return null;
                    default:
                        pc = Instructions.execute(op, a, b, c, w, code, pc, function, state, words, refs);
                        break;
                }
            }
        } catch (Throwable e) {
            throw x.failed(e, frame, pc, base);
        }
    }

    /** Copies registers along an edge, in order. */
    private static void move(long[] code, int first, int count, int[] words, @Nullable Object[] refs) {
        for (int i = first; i < first + count; i++) {
            long w = code[i];
            int a = (int) (w >>> 16) & 0xFFFF;
            int b = (int) (w >>> 32) & 0xFFFF;
            switch ((int) w & 0xFFFF) {
                case Code.MOVE_WORD -> words[b] = words[a];
                case Code.MOVE_WIDE -> putLong(words, b, getLong(words, a));
                default -> References.put(refs, b, References.take(refs, a));
            }
        }
    }

    /**
     * Creates the failure of a {@code fail} instruction. A status that is not a failure (0, or the status for
     * "deferred") becomes UNKNOWN, since execution cannot continue after the instruction.
     */
    static IreeException failure(int status, String message) {
        StatusCode code = status == 0 ? StatusCode.UNKNOWN : StatusCode.of(status & 0x1F);
        return IreeException.of(
                code == StatusCode.OK || code == StatusCode.DEFERRED ? StatusCode.UNKNOWN : code,
                message.isEmpty() ? "the program failed with status " + status : message);
    }
}
