package io.github.iree4j.modules.vmvx;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * {@code mmt4d}: the product of a matrix and a transposed matrix, all three tiled. Flags and types are defined in
 * {@code iree/builtins/ukernel/exported_bits.h}.
 */
final class MatrixProduct {
    /*
     * Row r of the result is row r % m0 of tile r / m0, and likewise for column c; depth d is d % k0 in tile d / k0.
     * The result is computed in blocks of ROWS by COLUMNS, kept in an array of sums per row, each piece of the depth
     * after the previous. For each piece, the right side is loaded into arrays, an array per step of depth with
     * adjacent columns, so that the innermost loop runs over columns: sums[i] += left * right[i], for two rows and four
     * steps of depth at a time so that sums and right side are loaded once for several products. HotSpot vectorises
     * this only when each array is indexed by the loop variable itself; rows of a single large array, each at an
     * offset, take five times as long.
     *
     * Each sum is accumulated in order of depth, without fused multiply-add, so that results equal the results of the
     * plain loop to the last bit.
     */
    private static final int ROWS = 256;
    private static final int COLUMNS = 256;
    private static final int DEPTH = 128;

    private static final int TYPE_MASK = 0xFF;
    private static final int ACCUMULATE = 0x100;
    private static final int SKIP_INTERMEDIATE_ROUNDINGS = 0x400;
    /** Includes the flag allowing generic kernels, the only kernels here. */
    private static final int KNOWN_FLAGS = TYPE_MASK | ACCUMULATE | 0x200 | SKIP_INTERMEDIATE_ROUNDINGS;

    /** Element types of left side, right side and result, indexed by the type in the flags. */
    private record Types(ElementKind lhs, ElementKind rhs, ElementKind out) {}

    private static final Types[] TYPES = {
        null,
        new Types(ElementKind.F32, ElementKind.F32, ElementKind.F32),
        new Types(ElementKind.S8, ElementKind.S8, ElementKind.S32),
        new Types(ElementKind.F16, ElementKind.F16, ElementKind.F32),
        new Types(ElementKind.F16, ElementKind.F16, ElementKind.F16),
        new Types(ElementKind.BF16, ElementKind.BF16, ElementKind.F32),
        new Types(ElementKind.BF16, ElementKind.BF16, ElementKind.BF16),
        new Types(ElementKind.S16, ElementKind.S16, ElementKind.S32),
        new Types(ElementKind.S16, ElementKind.U4, ElementKind.S32),
        new Types(ElementKind.S16, ElementKind.S8, ElementKind.S32),
        new Types(ElementKind.S8, ElementKind.S4, ElementKind.S32),
    };

    private final VmCall call;
    private final Scratch scratch;
    private final Types types;
    private final boolean accumulate;
    private final boolean roundEachStep;
    private final Side lhs;
    private final Side rhs;
    private final MemorySegment out;
    private final long outStride;
    private final long rows;
    private final long columns;
    private final long depth;

    private MatrixProduct(
            VmCall call,
            Scratch scratch,
            Types types,
            int flags,
            Side lhs,
            Side rhs,
            MemorySegment out,
            long outStride,
            long depth) {
        this.call = call;
        this.scratch = scratch;
        this.types = types;
        this.accumulate = (flags & ACCUMULATE) != 0;
        this.roundEachStep = types.out.bits() == 16 && (flags & SKIP_INTERMEDIATE_ROUNDINGS) == 0;
        this.lhs = lhs;
        this.rhs = rhs;
        this.out = out;
        this.outStride = outStride;
        this.rows = lhs.count;
        this.columns = rhs.count;
        this.depth = depth;
    }

    static void run(Scratch scratch, VmCall call) {
        VmBuffer lhsBuffer = call.required(VmBuffer.class);
        long lhsOffset = call.i64();
        long lhsStride = call.i64();
        VmBuffer rhsBuffer = call.required(VmBuffer.class);
        long rhsOffset = call.i64();
        long rhsStride = call.i64();
        VmBuffer outBuffer = call.required(VmBuffer.class);
        long outOffset = call.i64();
        long outStride = call.i64();
        long m = Microkernels.size(call.i64(), "m");
        long n = Microkernels.size(call.i64(), "n");
        long k = Microkernels.size(call.i64(), "k");
        int m0 = (int) Microkernels.size(call.i32(), "m0");
        int n0 = (int) Microkernels.size(call.i32(), "n0");
        int k0 = (int) Microkernels.size(call.i32(), "k0");
        int flags = call.i32();
        Types types = types(flags);
        if (m == 0 || n == 0 || m0 == 0 || n0 == 0) {
            return;
        }
        boolean nothingToSum = k == 0 || k0 == 0;
        if (nothingToSum && (flags & ACCUMULATE) != 0) {
            return;
        }
        MemorySegment out = new Grid("out", outBuffer, outOffset, outStride, 1)
                .writable(m, Microkernels.product(n, m0, n0), types.out.bits() / 8);
        Side lhs;
        Side rhs;
        if (nothingToSum) {
            lhs = new Side(MemorySegment.NULL, types.lhs, 0, m0, 1, Microkernels.product(1, m, m0));
            rhs = new Side(MemorySegment.NULL, types.rhs, 0, n0, 1, Microkernels.product(1, n, n0));
        } else {
            lhs = side("lhs", lhsBuffer, lhsOffset, lhsStride, types.lhs, m, k, m0, k0);
            rhs = side("rhs", rhsBuffer, rhsOffset, rhsStride, types.rhs, n, k, n0, k0);
        }
        new MatrixProduct(call, scratch, types, flags, lhs, rhs, out, outStride, nothingToSum ? 0 : k * k0).run();
    }

    private static Types types(int flags) {
        int type = flags & TYPE_MASK;
        if (type == 0 || type >= TYPES.length) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "mmt4d of type %d; known are 1 to %d".formatted(type, TYPES.length - 1));
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "mmt4d with flags %08X, of which %08X are unknown".formatted(flags, flags & ~KNOWN_FLAGS));
        }
        return TYPES[type];
    }

    private static Side side(
            String name,
            VmBuffer buffer,
            long offset,
            long stride,
            ElementKind kind,
            long outer,
            long k,
            int tile,
            int k0) {
        long width = Microkernels.product(k, tile, k0);
        long count = Microkernels.product(1, outer, tile);
        if (kind.bits() >= 8) {
            MemorySegment bytes = new Grid(name, buffer, offset, stride, 1).readable(outer, width, kind.bits() / 8);
            return new Side(bytes, kind, stride, tile, k0, count);
        }
        if (k0 % 2 != 0 || offset % 2 != 0 || (outer > 1 && stride % 2 != 0)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' of 4-bit elements has k0 %d, offset %d and stride %d, which must be even"
                            .formatted(name, k0, offset, stride));
        }
        MemorySegment bytes = new Grid(name, buffer, offset / 2, stride / 2, 1).readable(outer, width / 2, 1);
        return new Side(bytes, kind, stride, tile, k0, count);
    }

    /**
     * An operand, as rows of some depth.
     *
     * @param bytes the operand's bytes, from the first element on
     * @param kind the kind of elements
     * @param stride elements from one row of tiles to the next
     * @param tile rows in a tile
     * @param k0 depth of a tile
     * @param count total number of rows
     */
    private record Side(MemorySegment bytes, ElementKind kind, long stride, int tile, int k0, long count) {
        /** Loads a piece of a row's depth into an array. */
        void load(long row, long from, int length, float[] to) {
            int inTile = (int) (from % k0);
            kind.load(bytes, position(row, from, inTile), k0 - inTile, k0, (tile - 1L) * k0, to, length);
        }

        void load(long row, long from, int length, int[] to) {
            int inTile = (int) (from % k0);
            kind.load(bytes, position(row, from, inTile), k0 - inTile, k0, (tile - 1L) * k0, to, length);
        }

        private long position(long row, long from, int inTile) {
            return row / tile * stride + from / k0 * tile * k0 + row % tile * k0 + inTile;
        }
    }

    private void run() {
        for (long row = 0; row < rows; row += ROWS) {
            int height = (int) Math.min(ROWS, rows - row);
            for (long column = 0; column < columns; column += COLUMNS) {
                int width = (int) Math.min(COLUMNS, columns - column);
                if (types.out.isFloat()) {
                    floats(row, height, column, width);
                } else {
                    ints(row, height, column, width);
                }
            }
        }
    }

    private void checkCancelled() {
        if (call.isCancelled()) {
            throw Rows.cancelled(call);
        }
    }

    /** Returns the start of a row of the result, in elements. */
    private long rowStart(long row) {
        return row / lhs.tile * outStride + row % lhs.tile * rhs.tile;
    }

    /** Returns the offset of an element from the start of the row, in elements. */
    private long inRow(long column) {
        return column / rhs.tile * lhs.tile * rhs.tile + column % rhs.tile;
    }

    /** Returns how many of {@code width} elements are contiguous from a column on. */
    private int run(long column, int width) {
        return (int) Math.min(rhs.tile - column % rhs.tile, width);
    }

    private void load(float[] sums, long row, long column, int width) {
        if (!accumulate) {
            Arrays.fill(sums, 0, width, 0f);
            return;
        }
        long start = rowStart(row);
        for (int c = 0; c < width; ) {
            long at = start + inRow(column + c);
            for (int end = c + run(column + c, width - c); c < end; c++) {
                sums[c] = types.out.toFloat(out, at++);
            }
        }
    }

    private void store(float[] sums, long row, long column, int width) {
        long start = rowStart(row);
        for (int c = 0; c < width; ) {
            long at = start + inRow(column + c);
            for (int end = c + run(column + c, width - c); c < end; c++) {
                types.out.store(sums[c], out, at++);
            }
        }
    }

    private void load(int[] sums, long row, long column, int width) {
        if (!accumulate) {
            Arrays.fill(sums, 0, width, 0);
            return;
        }
        long start = rowStart(row);
        for (int c = 0; c < width; ) {
            long at = start + inRow(column + c);
            for (int end = c + run(column + c, width - c); c < end; c++) {
                sums[c] = out.get(Grid.INT, at++ * Integer.BYTES);
            }
        }
    }

    private void store(int[] sums, long row, long column, int width) {
        long start = rowStart(row);
        for (int c = 0; c < width; ) {
            long at = start + inRow(column + c);
            for (int end = c + run(column + c, width - c); c < end; c++) {
                out.set(Grid.INT, at++ * Integer.BYTES, sums[c]);
            }
        }
    }

    private void floats(long row, int height, long column, int width) {
        float[][] sums = scratch.floatRows(0, height, width);
        float[][] right = scratch.floatRows(1, (int) Math.min(DEPTH, depth), width);
        float[] left = scratch.floats(0, DEPTH);
        float[] next = scratch.floats(1, DEPTH);
        for (int r = 0; r < height; r++) {
            load(sums[r], row + r, column, width);
        }
        for (long d = 0; d < depth; d += DEPTH) {
            checkCancelled();
            int length = (int) Math.min(DEPTH, depth - d);
            for (int c = 0; c < width; c++) {
                rhs.load(column + c, d, length, left);
                for (int i = 0; i < length; i++) {
                    right[i][c] = left[i];
                }
            }
            for (int r = 0; r < height; r++) {
                lhs.load(row + r, d, length, left);
                if (roundEachStep) {
                    addRounded(sums[r], left, right, width, length, types.out);
                } else if (r + 1 < height) {
                    lhs.load(row + ++r, d, length, next);
                    addTwo(sums[r - 1], sums[r], left, next, right, width, length);
                } else {
                    addOne(sums[r], left, right, width, length);
                }
            }
        }
        for (int r = 0; r < height; r++) {
            store(sums[r], row + r, column, width);
        }
    }

    private static void addTwo(
            float[] sums, float[] sums2, float[] left, float[] left2, float[][] right, int width, int length) {
        int d = 0;
        for (; d + 4 <= length; d += 4) {
            step(
                    sums,
                    right[d],
                    right[d + 1],
                    right[d + 2],
                    right[d + 3],
                    width,
                    left[d],
                    left[d + 1],
                    left[d + 2],
                    left[d + 3],
                    sums2,
                    left2[d],
                    left2[d + 1],
                    left2[d + 2],
                    left2[d + 3]);
        }
        for (; d < length; d++) {
            step(sums, right[d], width, left[d]);
            step(sums2, right[d], width, left2[d]);
        }
    }

    private static void addOne(float[] sums, float[] left, float[][] right, int width, int length) {
        for (int d = 0; d < length; d++) {
            step(sums, right[d], width, left[d]);
        }
    }

    /** Computes four steps of depth for two rows. */
    private static void step(
            float[] sums,
            float[] r0,
            float[] r1,
            float[] r2,
            float[] r3,
            int width,
            float a0,
            float a1,
            float a2,
            float a3,
            float[] sums2,
            float b0,
            float b1,
            float b2,
            float b3) {
        for (int i = 0; i < width; i++) {
            float v0 = r0[i];
            float v1 = r1[i];
            float v2 = r2[i];
            float v3 = r3[i];
            sums[i] = sums[i] + a0 * v0 + a1 * v1 + a2 * v2 + a3 * v3;
            sums2[i] = sums2[i] + b0 * v0 + b1 * v1 + b2 * v2 + b3 * v3;
        }
    }

    private static void step(float[] sums, float[] right, int width, float a) {
        for (int i = 0; i < width; i++) {
            sums[i] += a * right[i];
        }
    }

    private static void addRounded(
            float[] sums, float[] left, float[][] right, int width, int length, ElementKind kind) {
        for (int d = 0; d < length; d++) {
            float a = left[d];
            float[] values = right[d];
            if (kind == ElementKind.F16) {
                for (int i = 0; i < width; i++) {
                    sums[i] = Float.float16ToFloat(Float.floatToFloat16(sums[i] + a * values[i]));
                }
            } else {
                for (int i = 0; i < width; i++) {
                    sums[i] = kind.round(sums[i] + a * values[i]);
                }
            }
        }
    }

    private void ints(long row, int height, long column, int width) {
        int[][] sums = scratch.intRows(0, height, width);
        int[][] right = scratch.intRows(1, (int) Math.min(DEPTH, depth), width);
        int[] left = scratch.ints(0, DEPTH);
        int[] next = scratch.ints(1, DEPTH);
        for (int r = 0; r < height; r++) {
            load(sums[r], row + r, column, width);
        }
        for (long d = 0; d < depth; d += DEPTH) {
            checkCancelled();
            int length = (int) Math.min(DEPTH, depth - d);
            for (int c = 0; c < width; c++) {
                rhs.load(column + c, d, length, left);
                for (int i = 0; i < length; i++) {
                    right[i][c] = left[i];
                }
            }
            for (int r = 0; r < height; r++) {
                lhs.load(row + r, d, length, left);
                if (r + 1 < height) {
                    lhs.load(row + ++r, d, length, next);
                    addTwo(sums[r - 1], sums[r], left, next, right, width, length);
                } else {
                    addOne(sums[r], left, right, width, length);
                }
            }
        }
        for (int r = 0; r < height; r++) {
            store(sums[r], row + r, column, width);
        }
    }

    private static void addTwo(int[] sums, int[] sums2, int[] left, int[] left2, int[][] right, int width, int length) {
        int d = 0;
        for (; d + 4 <= length; d += 4) {
            step(
                    sums,
                    right[d],
                    right[d + 1],
                    right[d + 2],
                    right[d + 3],
                    width,
                    left[d],
                    left[d + 1],
                    left[d + 2],
                    left[d + 3],
                    sums2,
                    left2[d],
                    left2[d + 1],
                    left2[d + 2],
                    left2[d + 3]);
        }
        for (; d < length; d++) {
            step(sums, right[d], width, left[d]);
            step(sums2, right[d], width, left2[d]);
        }
    }

    private static void addOne(int[] sums, int[] left, int[][] right, int width, int length) {
        for (int d = 0; d < length; d++) {
            step(sums, right[d], width, left[d]);
        }
    }

    /** Computes four steps of depth for two rows. */
    private static void step(
            int[] sums,
            int[] r0,
            int[] r1,
            int[] r2,
            int[] r3,
            int width,
            int a0,
            int a1,
            int a2,
            int a3,
            int[] sums2,
            int b0,
            int b1,
            int b2,
            int b3) {
        for (int i = 0; i < width; i++) {
            int v0 = r0[i];
            int v1 = r1[i];
            int v2 = r2[i];
            int v3 = r3[i];
            sums[i] = sums[i] + a0 * v0 + a1 * v1 + a2 * v2 + a3 * v3;
            sums2[i] = sums2[i] + b0 * v0 + b1 * v1 + b2 * v2 + b3 * v3;
        }
    }

    private static void step(int[] sums, int[] right, int width, int a) {
        for (int i = 0; i < width; i++) {
            sums[i] += a * right[i];
        }
    }
}
