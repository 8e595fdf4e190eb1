package io.github.iree4j.modules.vmvx;

import static io.github.iree4j.modules.vmvx.Grid.BYTE;
import static io.github.iree4j.modules.vmvx.Grid.INT;
import static io.github.iree4j.modules.vmvx.Grid.LONG;
import static io.github.iree4j.modules.vmvx.Grid.SHORT;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The two-dimensional unary, binary, copy and fill functions of the {@code vmvx} module.
 *
 * <p>Operands are loaded into arrays piece by piece, computed there, and written back. Each function has a separate
 * loop, so that HotSpot vectorises each loop.
 */
final class Elementwise {
    private static final String UNARY = "0rIIIrIIIII_v";
    private static final String BINARY = "0rIIIrIIIrIIIII_v";

    /** Computes the first {@code count} elements of {@code out}. */
    @FunctionalInterface
    private interface FloatLoop {
        void run(float[] a, float[] b, float[] out, int count);
    }

    /** Computes the first {@code count} elements of {@code out}. */
    @FunctionalInterface
    private interface IntLoop {
        void run(int[] a, int[] b, int[] out, int count);
    }

    private Elementwise() {}

    static void register(NativeModule.Builder<VmvxModule.State> module) {
        registerFloats(module);
        registerInts(module);
        copy(module, "copy.2d.x8", 1);
        copy(module, "copy.2d.x16", 2);
        copy(module, "copy.2d.x32", 4);
        copy(module, "copy.2d.x64", 8);
        module.function("fill.2d.x32", "0irIIII_v", (state, call) -> fill(state.scratch, call));
    }

    private static void registerFloats(NativeModule.Builder<VmvxModule.State> module) {
        unary(module, "abs.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = Math.abs(a[i]);
            }
        });
        unary(module, "ceil.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = (float) Math.ceil(a[i]);
            }
        });
        unary(module, "exp.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = (float) Math.exp(a[i]);
            }
        });
        unary(module, "floor.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = (float) Math.floor(a[i]);
            }
        });
        unary(module, "log.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = (float) Math.log(a[i]);
            }
        });
        unary(module, "neg.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = -a[i];
            }
        });
        unary(module, "rsqrt.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = 1f / (float) Math.sqrt(a[i]);
            }
        });
        binary(module, "add.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] + b[i];
            }
        });
        binary(module, "sub.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] - b[i];
            }
        });
        binary(module, "mul.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] * b[i];
            }
        });
        binary(module, "div.2d.f32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] / b[i];
            }
        });
    }

    private static void registerInts(NativeModule.Builder<VmvxModule.State> module) {
        unaryInt(module, "ctlz.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = Integer.numberOfLeadingZeros(a[i]);
            }
        });
        binaryInt(module, "add.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] + b[i];
            }
        });
        binaryInt(module, "sub.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] - b[i];
            }
        });
        binaryInt(module, "mul.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] * b[i];
            }
        });
        binaryInt(module, "and.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] & b[i];
            }
        });
        binaryInt(module, "or.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] | b[i];
            }
        });
        binaryInt(module, "xor.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] ^ b[i];
            }
        });
        binaryInt(module, "shl.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] << b[i];
            }
        });
        binaryInt(module, "shrs.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] >> b[i];
            }
        });
        binaryInt(module, "shru.2d.i32", (a, b, out, count) -> {
            for (int i = 0; i < count; i++) {
                out[i] = a[i] >>> b[i];
            }
        });
        binaryInt(module, "divs.2d.i32", (a, b, out, count) -> {
            checkDivisors(b, count);
            for (int i = 0; i < count; i++) {
                out[i] = a[i] / b[i];
            }
        });
        binaryInt(module, "divu.2d.i32", (a, b, out, count) -> {
            checkDivisors(b, count);
            for (int i = 0; i < count; i++) {
                out[i] = Integer.divideUnsigned(a[i], b[i]);
            }
        });
    }

    private static void checkDivisors(int[] divisors, int count) {
        for (int i = 0; i < count; i++) {
            if (divisors[i] == 0) {
                throw IreeException.of(StatusCode.INVALID_ARGUMENT, "division of an integer by zero");
            }
        }
    }

    private static void unary(NativeModule.Builder<VmvxModule.State> module, String name, FloatLoop loop) {
        module.function(name, UNARY, (state, call) -> {
            Grid in = Grid.read(call, "in");
            floats(state.scratch, call, in, null, loop);
        });
    }

    private static void binary(NativeModule.Builder<VmvxModule.State> module, String name, FloatLoop loop) {
        module.function(name, BINARY, (state, call) -> {
            Grid lhs = Grid.read(call, "lhs");
            Grid rhs = Grid.read(call, "rhs");
            floats(state.scratch, call, lhs, rhs, loop);
        });
    }

    private static void unaryInt(NativeModule.Builder<VmvxModule.State> module, String name, IntLoop loop) {
        module.function(name, UNARY, (state, call) -> {
            Grid in = Grid.read(call, "in");
            ints(state.scratch, call, in, null, loop);
        });
    }

    private static void binaryInt(NativeModule.Builder<VmvxModule.State> module, String name, IntLoop loop) {
        module.function(name, BINARY, (state, call) -> {
            Grid lhs = Grid.read(call, "lhs");
            Grid rhs = Grid.read(call, "rhs");
            ints(state.scratch, call, lhs, rhs, loop);
        });
    }

    /** Reads output and sizes, and computes. */
    private static void floats(Scratch scratch, VmCall call, Grid lhs, @Nullable Grid rhs, FloatLoop loop) {
        Grid out = Grid.read(call, "out");
        long size0 = call.i64();
        long size1 = call.i64();
        if (Grid.isEmpty(size0, size1)) {
            return;
        }
        MemorySegment left = lhs.readable(size0, size1, Float.BYTES);
        MemorySegment right = rhs == null ? left : rhs.readable(size0, size1, Float.BYTES);
        MemorySegment target = out.writable(size0, size1, Float.BYTES);
        Rows rows = rhs == null ? new Rows(size0, size1, lhs, out) : new Rows(size0, size1, lhs, out, rhs);
        int piece = Rows.piece(size0, size1);
        float[] a = scratch.floats(0, piece);
        float[] b = scratch.floats(1, piece);
        float[] c = scratch.floats(2, piece);
        rows.forEach(call, piece, (row, first, count) -> {
            Rows.load(left, rows.at(0, row, first), rows.stride(0), a, count);
            if (rhs != null) {
                Rows.load(right, rows.at(2, row, first), rows.stride(2), b, count);
            }
            loop.run(a, b, c, count);
            Rows.store(c, target, rows.at(1, row, first), rows.stride(1), count);
        });
    }

    /** As {@link #floats}. */
    private static void ints(Scratch scratch, VmCall call, Grid lhs, @Nullable Grid rhs, IntLoop loop) {
        Grid out = Grid.read(call, "out");
        long size0 = call.i64();
        long size1 = call.i64();
        if (Grid.isEmpty(size0, size1)) {
            return;
        }
        MemorySegment left = lhs.readable(size0, size1, Integer.BYTES);
        MemorySegment right = rhs == null ? left : rhs.readable(size0, size1, Integer.BYTES);
        MemorySegment target = out.writable(size0, size1, Integer.BYTES);
        Rows rows = rhs == null ? new Rows(size0, size1, lhs, out) : new Rows(size0, size1, lhs, out, rhs);
        int piece = Rows.piece(size0, size1);
        int[] a = scratch.ints(0, piece);
        int[] b = scratch.ints(1, piece);
        int[] c = scratch.ints(2, piece);
        rows.forEach(call, piece, (row, first, count) -> {
            Rows.load(left, rows.at(0, row, first), rows.stride(0), a, count);
            if (rhs != null) {
                Rows.load(right, rows.at(2, row, first), rows.stride(2), b, count);
            }
            loop.run(a, b, c, count);
            Rows.store(c, target, rows.at(1, row, first), rows.stride(1), count);
        });
    }

    private static void copy(NativeModule.Builder<VmvxModule.State> module, String name, int elementSize) {
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
            Rows rows = new Rows(size0, size1, in, out);
            rows.forEach(
                    call,
                    1 << 20,
                    (row, first, count) -> move(
                            source,
                            rows.at(0, row, first),
                            rows.stride(0),
                            target,
                            rows.at(1, row, first),
                            rows.stride(1),
                            elementSize,
                            count));
        });
    }

    /** Positions and strides are in elements. */
    private static void move(
            MemorySegment in,
            long from,
            long fromStride,
            MemorySegment out,
            long to,
            long toStride,
            int size,
            int count) {
        if (fromStride == 1 && toStride == 1) {
            MemorySegment.copy(in, from * size, out, to * size, (long) count * size);
            return;
        }
        switch (size) {
            case 1 -> {
                for (int i = 0; i < count; i++) {
                    out.set(BYTE, to + i * toStride, in.get(BYTE, from + i * fromStride));
                }
            }
            case 2 -> {
                for (int i = 0; i < count; i++) {
                    out.set(SHORT, (to + i * toStride) * 2, in.get(SHORT, (from + i * fromStride) * 2));
                }
            }
            case 4 -> {
                for (int i = 0; i < count; i++) {
                    out.set(INT, (to + i * toStride) * 4, in.get(INT, (from + i * fromStride) * 4));
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    out.set(LONG, (to + i * toStride) * 8, in.get(LONG, (from + i * fromStride) * 8));
                }
            }
        }
    }

    private static void fill(Scratch scratch, VmCall call) {
        int value = call.i32();
        Grid out = new Grid("out", call.required(VmBuffer.class), call.i64(), call.i64(), 1);
        long size0 = call.i64();
        long size1 = call.i64();
        if (Grid.isEmpty(size0, size1)) {
            return;
        }
        MemorySegment target = out.writable(size0, size1, Integer.BYTES);
        int piece = Rows.piece(size0, size1);
        int[] values = scratch.ints(0, piece);
        Arrays.fill(values, 0, piece, value);
        Rows rows = new Rows(size0, size1, out);
        rows.forEach(
                call,
                piece,
                (row, first, count) -> Rows.store(values, target, rows.at(0, row, first), rows.stride(0), count));
    }
}
