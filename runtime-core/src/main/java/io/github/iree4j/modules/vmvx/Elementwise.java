package io.github.iree4j.modules.vmvx;

import static io.github.iree4j.modules.vmvx.Grid.BYTE;
import static io.github.iree4j.modules.vmvx.Grid.FLOAT;
import static io.github.iree4j.modules.vmvx.Grid.INT;
import static io.github.iree4j.modules.vmvx.Grid.LONG;
import static io.github.iree4j.modules.vmvx.Grid.SHORT;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/** The two-dimensional unary, binary, copy and fill functions of the {@code vmvx} module. */
final class Elementwise {
    private static final String UNARY = "0rIIIrIIIII_v";
    private static final String BINARY = "0rIIIrIIIrIIIII_v";

    @FunctionalInterface
    private interface FloatUnary {
        float apply(float a);
    }

    @FunctionalInterface
    private interface FloatBinary {
        float apply(float a, float b);
    }

    @FunctionalInterface
    private interface IntUnary {
        int apply(int a);
    }

    @FunctionalInterface
    private interface IntBinary {
        int apply(int a, int b);
    }

    private Elementwise() {}

    static void register(NativeModule.Builder<VmvxModule.State> module) {
        unaryFloat(module, "abs.2d.f32", Math::abs);
        unaryFloat(module, "ceil.2d.f32", a -> (float) Math.ceil(a));
        unaryFloat(module, "exp.2d.f32", a -> (float) Math.exp(a));
        unaryFloat(module, "floor.2d.f32", a -> (float) Math.floor(a));
        unaryFloat(module, "log.2d.f32", a -> (float) Math.log(a));
        unaryFloat(module, "neg.2d.f32", a -> -a);
        unaryFloat(module, "rsqrt.2d.f32", a -> 1f / (float) Math.sqrt(a));
        unaryInt(module, "ctlz.2d.i32", Integer::numberOfLeadingZeros);

        binaryFloat(module, "add.2d.f32", (a, b) -> a + b);
        binaryFloat(module, "sub.2d.f32", (a, b) -> a - b);
        binaryFloat(module, "mul.2d.f32", (a, b) -> a * b);
        binaryFloat(module, "div.2d.f32", (a, b) -> a / b);
        binaryInt(module, "add.2d.i32", (a, b) -> a + b);
        binaryInt(module, "sub.2d.i32", (a, b) -> a - b);
        binaryInt(module, "mul.2d.i32", (a, b) -> a * b);
        binaryInt(module, "and.2d.i32", (a, b) -> a & b);
        binaryInt(module, "or.2d.i32", (a, b) -> a | b);
        binaryInt(module, "xor.2d.i32", (a, b) -> a ^ b);
        binaryInt(module, "shl.2d.i32", (a, b) -> a << b);
        binaryInt(module, "shrs.2d.i32", (a, b) -> a >> b);
        binaryInt(module, "shru.2d.i32", (a, b) -> a >>> b);
        binaryInt(module, "divs.2d.i32", (a, b) -> a / divisor(b));
        binaryInt(module, "divu.2d.i32", (a, b) -> Integer.divideUnsigned(a, divisor(b)));

        copy(module, "copy.2d.x8", 1, (in, from, out, to) -> out.set(BYTE, to, in.get(BYTE, from)));
        copy(module, "copy.2d.x16", 2, (in, from, out, to) -> out.set(SHORT, to, in.get(SHORT, from)));
        copy(module, "copy.2d.x32", 4, (in, from, out, to) -> out.set(INT, to, in.get(INT, from)));
        copy(module, "copy.2d.x64", 8, (in, from, out, to) -> out.set(LONG, to, in.get(LONG, from)));
        module.function("fill.2d.x32", "0irIIII_v", (state, call) -> fill(call));
    }

    private static int divisor(int b) {
        if (b == 0) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "division of an integer by zero");
        }
        return b;
    }

    private static void unaryFloat(NativeModule.Builder<VmvxModule.State> module, String name, FloatUnary op) {
        copy(module, name, 4, (in, from, out, to) -> out.set(FLOAT, to, op.apply(in.get(FLOAT, from))));
    }

    private static void unaryInt(NativeModule.Builder<VmvxModule.State> module, String name, IntUnary op) {
        copy(module, name, 4, (in, from, out, to) -> out.set(INT, to, op.apply(in.get(INT, from))));
    }

    private static void binaryFloat(NativeModule.Builder<VmvxModule.State> module, String name, FloatBinary op) {
        combine(
                module,
                name,
                (lhs, l, rhs, r, out, to) -> out.set(FLOAT, to, op.apply(lhs.get(FLOAT, l), rhs.get(FLOAT, r))));
    }

    private static void binaryInt(NativeModule.Builder<VmvxModule.State> module, String name, IntBinary op) {
        combine(
                module,
                name,
                (lhs, l, rhs, r, out, to) -> out.set(INT, to, op.apply(lhs.get(INT, l), rhs.get(INT, r))));
    }

    /** Writes one element made from one other; positions are in bytes. */
    @FunctionalInterface
    private interface Move {
        void apply(MemorySegment in, long from, MemorySegment out, long to);
    }

    private static void copy(NativeModule.Builder<VmvxModule.State> module, String name, int elementSize, Move move) {
        module.function(name, UNARY, (state, call) -> {
            Grid in = Grid.read(call, "in");
            Grid out = Grid.read(call, "out");
            long size0 = call.i64();
            long size1 = call.i64();
            if (Grid.isEmpty(size0, size1)) {
                return;
            }
            MemorySegment source = in.readable(size0, size1, elementSize);
            MemorySegment target = out.writable(size0, size1, elementSize);
            for (long i = 0; i < size0; i++) {
                long from = i * in.stride0() * elementSize;
                long to = i * out.stride0() * elementSize;
                for (long j = 0; j < size1; j++) {
                    move.apply(source, from, target, to);
                    from += in.stride1() * elementSize;
                    to += out.stride1() * elementSize;
                }
            }
        });
    }

    /** Writes one element made from two others; positions are in bytes. */
    @FunctionalInterface
    private interface Combine {
        void apply(MemorySegment lhs, long l, MemorySegment rhs, long r, MemorySegment out, long to);
    }

    private static void combine(NativeModule.Builder<VmvxModule.State> module, String name, Combine combine) {
        module.function(name, BINARY, (state, call) -> {
            Grid lhs = Grid.read(call, "lhs");
            Grid rhs = Grid.read(call, "rhs");
            Grid out = Grid.read(call, "out");
            long size0 = call.i64();
            long size1 = call.i64();
            if (Grid.isEmpty(size0, size1)) {
                return;
            }
            MemorySegment left = lhs.readable(size0, size1, 4);
            MemorySegment right = rhs.readable(size0, size1, 4);
            MemorySegment target = out.writable(size0, size1, 4);
            for (long i = 0; i < size0; i++) {
                long l = i * lhs.stride0() * 4;
                long r = i * rhs.stride0() * 4;
                long to = i * out.stride0() * 4;
                for (long j = 0; j < size1; j++) {
                    combine.apply(left, l, right, r, target, to);
                    l += lhs.stride1() * 4;
                    r += rhs.stride1() * 4;
                    to += out.stride1() * 4;
                }
            }
        });
    }

    private static void fill(VmCall call) {
        int value = call.i32();
        Grid out = new Grid("out", call.required(VmBuffer.class), call.i64(), call.i64(), 1);
        long size0 = call.i64();
        long size1 = call.i64();
        if (Grid.isEmpty(size0, size1)) {
            return;
        }
        MemorySegment target = out.writable(size0, size1, 4);
        for (long i = 0; i < size0; i++) {
            for (long j = 0; j < size1; j++) {
                target.set(INT, (i * out.stride0() + j) * 4, value);
            }
        }
    }
}
