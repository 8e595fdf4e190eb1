package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** Methods called by compiled code for operations without a Java instruction. Each method behaves exactly like the interpreter. */
final class CompiledOperations {
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private CompiledOperations() {}

    static int divide(int left, int right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return left / right;
    }

    static long divide(long left, long right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return left / right;
    }

    static int divideUnsigned(int left, int right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return Integer.divideUnsigned(left, right);
    }

    static long divideUnsigned(long left, long right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return Long.divideUnsigned(left, right);
    }

    static int remainder(int left, int right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return left % right;
    }

    static long remainder(long left, long right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return left % right;
    }

    static int remainderUnsigned(int left, int right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return Integer.remainderUnsigned(left, right);
    }

    static long remainderUnsigned(long left, long right) {
        if (right == 0) {
            throw Instructions.byZero();
        }
        return Long.remainderUnsigned(left, right);
    }

    static int minUnsigned(int left, int right) {
        return Integer.compareUnsigned(left, right) < 0 ? left : right;
    }

    static long minUnsigned(long left, long right) {
        return Long.compareUnsigned(left, right) < 0 ? left : right;
    }

    static int maxUnsigned(int left, int right) {
        return Integer.compareUnsigned(left, right) < 0 ? right : left;
    }

    static long maxUnsigned(long left, long right) {
        return Long.compareUnsigned(left, right) < 0 ? right : left;
    }

    static int multiplyAdd(int a, int b, int c) {
        return a * b + c;
    }

    static long multiplyAdd(long a, long b, long c) {
        return a * b + c;
    }

    static float multiplyAdd(float a, float b, float c) {
        return a * b + c;
    }

    static double multiplyAdd(double a, double b, double c) {
        return a * b + c;
    }

    static float lesser(float left, float right) {
        return right < left ? right : left;
    }

    static double lesser(double left, double right) {
        return right < left ? right : left;
    }

    static float greater(float left, float right) {
        return left < right ? right : left;
    }

    static double greater(double left, double right) {
        return left < right ? right : left;
    }

    static float magnitude(float x) {
        return Float.intBitsToFloat(Float.floatToRawIntBits(x) & Integer.MAX_VALUE);
    }

    static double magnitude(double x) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(x) & Long.MAX_VALUE);
    }

    static float negated(float x) {
        return Float.intBitsToFloat(Float.floatToRawIntBits(x) ^ Integer.MIN_VALUE);
    }

    static double negated(double x) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(x) ^ Long.MIN_VALUE);
    }

    static float squareRoot(float x) {
        return (float) Math.sqrt(x);
    }

    static double squareRoot(double x) {
        return Math.sqrt(x);
    }

    static float inverseSquareRoot(float x) {
        return 1.0f / (float) Math.sqrt(x);
    }

    static double inverseSquareRoot(double x) {
        return 1.0 / Math.sqrt(x);
    }

    static boolean areEqualOrUnordered(float x, float y) {
        return !(x < y || x > y);
    }

    static boolean areEqualOrUnordered(double x, double y) {
        return !(x < y || x > y);
    }

    static float unary(float x, int doubleOp) {
        return (float) Floats.unary(doubleOp, x);
    }

    static double unary(double x, int op) {
        return Floats.unary(op, x);
    }

    static float binary(float x, float y, int doubleOp) {
        return (float) Floats.binary(doubleOp, x, y);
    }

    static double binary(double x, double y, int op) {
        return Floats.binary(op, x, y);
    }

    static int loadI32(byte[] globals, int offset) {
        return (int) I32.get(globals, offset);
    }

    static long loadI64(byte[] globals, int offset) {
        return (long) I64.get(globals, offset);
    }

    static void storeI32(int value, byte[] globals, int offset) {
        I32.set(globals, offset, value);
    }

    static void storeI32(float value, byte[] globals, int offset) {
        I32.set(globals, offset, Float.floatToRawIntBits(value));
    }

    static void storeI64(long value, byte[] globals, int offset) {
        I64.set(globals, offset, value);
    }

    static void storeI64(double value, byte[] globals, int offset) {
        I64.set(globals, offset, Double.doubleToRawLongBits(value));
    }

    static int loadIndirectI32(byte[] globals, int offset) {
        Instructions.checkGlobal(globals, offset, Integer.BYTES);
        return (int) I32.get(globals, offset);
    }

    static long loadIndirectI64(byte[] globals, int offset) {
        Instructions.checkGlobal(globals, offset, Long.BYTES);
        return (long) I64.get(globals, offset);
    }

    static void storeIndirectI32(int offset, int value, byte[] globals) {
        Instructions.checkGlobal(globals, offset, Integer.BYTES);
        I32.set(globals, offset, value);
    }

    static void storeIndirectI64(int offset, long value, byte[] globals) {
        Instructions.checkGlobal(globals, offset, Long.BYTES);
        I64.set(globals, offset, value);
    }

    /** Returns the counter value up to which a loop may count before the next cancellation check: at most the bound of the loop. */
    static long limitOf(long counter, long bound, long step) {
        if (step <= 0 || counter > Long.MAX_VALUE - Execution.JUMPS - step) {
            return Long.MIN_VALUE; // a check in each iteration
        }
        return Math.min(bound, counter + Execution.JUMPS);
    }

    static int limitOf(int counter, int bound, int step) {
        if (step <= 0 || counter > Integer.MAX_VALUE - Execution.JUMPS - step) {
            return Integer.MIN_VALUE;
        }
        return Math.min(bound, counter + Execution.JUMPS);
    }

    /** Returns the backward jumps left until the cancellation check, once a loop has reached the limit. */
    static int jumpsLeft(int jumps, long counter, long limit) {
        return limit > counter ? jumps - (int) (limit - counter) : jumps - 1;
    }

    static int jumpsLeft(int jumps, int counter, int limit) {
        return limit > counter ? jumps - (limit - counter) : jumps - 1;
    }

    static int isResolved(BytecodeState state, int ordinal) {
        return state.imports[ordinal] != null ? 1 : 0;
    }

    static int globalOrdinal(BytecodeState state, int ordinal) {
        return Instructions.global(state, ordinal);
    }

    static @Nullable Object loadGlobal(BytecodeState state, int ordinal, int type, int move) {
        Object object = state.globalRefs[ordinal];
        References.check(state.types[type], object);
        if (move != 0) {
            state.globalRefs[ordinal] = null;
        } else {
            References.retained(object);
        }
        return object;
    }

    static void storeGlobal(BytecodeState state, int ordinal, @Nullable Object owned) {
        References.put(state.globalRefs, ordinal, owned);
    }

    static Object rodata(BytecodeState state, int ordinal) {
        return state.rodata[ordinal];
    }

    static void check(BytecodeState state, @Nullable Object object, int type) {
        References.check(state.types[type], object);
    }

    static Object allocateList(int capacity, BytecodeState state, int type) {
        return VmList.create(state.types[type], capacity, state.budget);
    }

    static Object allocateBuffer(long length, int alignment, BytecodeState state) {
        return Buffers.allocate(length, alignment, state.budget);
    }

    static Object copyBuffer(@Nullable Object source, long offset, long length, int alignment, BytecodeState state) {
        return Buffers.copyOf(source, offset, length, alignment, state.budget);
    }

    static long lengthOf(@Nullable Object buffer) {
        return Buffers.buffer(buffer).length();
    }

    static void reserve(@Nullable Object list, int capacity) {
        Instructions.list(list).reserve(capacity);
    }

    static int sizeOf(@Nullable Object list) {
        return Instructions.list(list).size();
    }

    static void resize(@Nullable Object list, int size) {
        Instructions.list(list).resize(size);
    }

    static int getI32(@Nullable Object list, int index) {
        return Instructions.list(list).i32(index);
    }

    static long getI64(@Nullable Object list, int index) {
        return Instructions.list(list).i64(index);
    }

    static float getF32(@Nullable Object list, int index) {
        return Instructions.list(list).f32(index);
    }

    static double getF64(@Nullable Object list, int index) {
        return Instructions.list(list).f64(index);
    }

    static void set(@Nullable Object list, int index, int value) {
        Instructions.list(list).setI32(index, value);
    }

    static void set(@Nullable Object list, int index, long value) {
        Instructions.list(list).setI64(index, value);
    }

    static void set(@Nullable Object list, int index, float value) {
        Instructions.list(list).setF32(index, value);
    }

    static void set(@Nullable Object list, int index, double value) {
        Instructions.list(list).setF64(index, value);
    }

    static @Nullable Object getRef(@Nullable Object list, int index, BytecodeState state, int type, int move) {
        VmList elements = Instructions.list(list);
        VmType wanted = state.types[type];
        Object object = move != 0 ? elements.takeRef(index) : References.retained(elements.ref(index));
        if (wanted.accepts(object)) {
            return object;
        }
        References.release(object);
        return null;
    }

    static void setRef(@Nullable Object list, int index, @Nullable Object object, int move) {
        if (move != 0) {
            Instructions.list(list).setOwnedRef(index, object);
        } else {
            Instructions.list(list).setRef(index, object);
        }
    }

    // Transitions between compiled and interpreted frames.

    /** Reads an argument from the registers of an interpreted caller. */
    static int word(Frame caller, FunctionCode.CallSite site, int index) {
        return caller.words[site.argumentWords[index]];
    }

    static long wide(Frame caller, FunctionCode.CallSite site, int index) {
        return Interpreter.getLong(caller.words, site.argumentWords[index]);
    }

    static @Nullable Object ref(Frame caller, FunctionCode.CallSite site, int index) {
        return References.take(caller.refs, site.argumentRefs[index]);
    }

    /** Sets the results of a function without exactly one result, in the registers of an interpreted caller. */
    static void setResults(Execution x, Frame caller, FunctionCode.CallSite site) {
        for (int i = 0; i < site.resultLetters.length; i++) {
            switch (site.resultLetters[i]) {
                case 'i', 'f' -> caller.words[site.results[i]] = (int) x.wordResults[i];
                case 'I', 'F' -> Interpreter.putLong(caller.words, site.results[i], x.wordResults[i]);
                default -> References.put(caller.refs, site.results[i] & ~Code.MOVE, x.takeResult(i));
            }
        }
    }

    static void setResult(int value, Frame caller, FunctionCode.CallSite site) {
        caller.words[site.results[0]] = value;
    }

    static void setResult(float value, Frame caller, FunctionCode.CallSite site) {
        caller.words[site.results[0]] = Float.floatToRawIntBits(value);
    }

    static void setResult(long value, Frame caller, FunctionCode.CallSite site) {
        Interpreter.putLong(caller.words, site.results[0], value);
    }

    static void setResult(double value, Frame caller, FunctionCode.CallSite site) {
        Interpreter.putLong(caller.words, site.results[0], Double.doubleToRawLongBits(value));
    }

    static void setResult(@Nullable Object value, Frame caller, FunctionCode.CallSite site) {
        References.put(caller.refs, site.results[0] & ~Code.MOVE, value);
    }

    static @Nullable Object argument(VmCall call) {
        return References.retained(call.ref(Object.class));
    }

    /** Sets the results of a function without exactly one result, for an external caller. */
    static void giveResults(Execution x, VmCall call, FunctionCode function) {
        String letters = function.convention.results();
        for (int i = 0; i < letters.length(); i++) {
            switch (letters.charAt(i)) {
                case 'i' -> call.returnI32((int) x.wordResults[i]);
                case 'f' -> call.returnF32(Float.intBitsToFloat((int) x.wordResults[i]));
                case 'I' -> call.returnI64(x.wordResults[i]);
                case 'F' -> call.returnF64(Double.longBitsToDouble(x.wordResults[i]));
                default -> call.returnRef(x.takeResult(i));
            }
        }
    }

    static void giveResult(int value, VmCall call) {
        call.returnI32(value);
    }

    static void giveResult(float value, VmCall call) {
        call.returnF32(value);
    }

    static void giveResult(long value, VmCall call) {
        call.returnI64(value);
    }

    static void giveResult(double value, VmCall call) {
        call.returnF64(value);
    }

    static void giveResult(@Nullable Object value, VmCall call) {
        call.returnRef(value);
    }

    /** Writes a register of a frame, for the interpreter or an import to read. */
    static void spill(int value, Frame frame, int register) {
        frame.words[register] = value;
    }

    static void spill(float value, Frame frame, int register) {
        frame.words[register] = Float.floatToRawIntBits(value);
    }

    static void spill(long value, Frame frame, int register) {
        Interpreter.putLong(frame.words, register, value);
    }

    static void spill(double value, Frame frame, int register) {
        Interpreter.putLong(frame.words, register, Double.doubleToRawLongBits(value));
    }

    /** Moves a reference into a frame. */
    static void spill(@Nullable Object owned, Frame frame, int register) {
        if (owned != null) {
            frame.refs[register] = owned;
        }
    }

    static int fillI32(Frame frame, int register) {
        return frame.words[register];
    }

    static float fillF32(Frame frame, int register) {
        return Float.intBitsToFloat(frame.words[register]);
    }

    static long fillI64(Frame frame, int register) {
        return Interpreter.getLong(frame.words, register);
    }

    static double fillF64(Frame frame, int register) {
        return Double.longBitsToDouble(Interpreter.getLong(frame.words, register));
    }

    /** Moves a reference out of a frame; without a reference in the frame, the register keeps its value. */
    static @Nullable Object fillRef(@Nullable Object present, Frame frame, int register) {
        Object object = frame.refs[register];
        if (object == null) {
            return present;
        }
        frame.refs[register] = null;
        return object;
    }
}
