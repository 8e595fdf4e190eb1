package io.github.iree4j.modules.vmvx;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/**
 * {@code mmt4d}: the product of a matrix and a transposed one, all three in tiles. Flags and types are those of
 * {@code iree/builtins/ukernel/exported_bits.h}.
 */
final class MatrixProduct {
    /*
     * Row r of the result is row r % m0 of tile r / m0, and column c alike; depth d is d % k0 in tile d / k0. A result is computed in blocks
     * of ROWS by COLUMNS that stay in an array of sums, over one piece of the depth after the other. For each piece the right side is
     * brought into an array with a column beside the next, so that the innermost loop runs over columns, of which HotSpot makes
     * vectors: sums[c] += left * right[c], for four steps of depth at a time so that sums are loaded and stored once for four.
     *
     * Each sum is added up in order of depth, without a fused step, so that results are those of the plain loop to the last bit.
     */
    private static final int ROWS = 256;
    private static final int COLUMNS = 256;
    private static final int DEPTH = 128;

    private static final int TYPE_MASK = 0xFF;
    private static final int ACCUMULATE = 0x100;
    private static final int SKIP_INTERMEDIATE_ROUNDINGS = 0x400;
    /** Also whether generic kernels may be used, which is all that there are. */
    private static final int KNOWN_FLAGS = TYPE_MASK | ACCUMULATE | 0x200 | SKIP_INTERMEDIATE_ROUNDINGS;

    /** Element types of left side, right side and result, by the number in the flags. */
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
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED, "mmt4d of type %d; known are 1 to %d".formatted(type, TYPES.length - 1));
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "mmt4d with flags %08X, of which %08X are not known".formatted(flags, flags & ~KNOWN_FLAGS));
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
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' of 4-bit elements has k0 %d, offset %d and stride %d, which must be even"
                            .formatted(name, k0, offset, stride));
        }
        MemorySegment bytes = new Grid(name, buffer, offset / 2, stride / 2, 1).readable(outer, width / 2, 1);
        return new Side(bytes, kind, stride, tile, k0, count);
    }

    /**
     * One side, as rows of some depth.
     *
     * @param bytes from its first element on
     * @param kind its elements
     * @param stride elements from one row of tiles to the next
     * @param tile rows in a tile
     * @param k0 depth of a tile
     * @param count rows altogether
     */
    private record Side(MemorySegment bytes, ElementKind kind, long stride, int tile, int k0, long count) {
        /** Brings a piece of a row's depth into an array. */
        void load(long row, long from, int length, float[] to, int at, int step) {
            int inTile = (int) (from % k0);
            kind.load(bytes, position(row, from, inTile), k0 - inTile, k0, (tile - 1L) * k0, to, at, step, length);
        }

        void load(long row, long from, int length, int[] to, int at, int step) {
            int inTile = (int) (from % k0);
            kind.load(bytes, position(row, from, inTile), k0 - inTile, k0, (tile - 1L) * k0, to, at, step, length);
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

    /** Where an element of the result lies, in elements. */
    private long position(long row, long column) {
        int m0 = lhs.tile;
        int n0 = rhs.tile;
        return row / m0 * outStride + column / n0 * m0 * n0 + row % m0 * n0 + column % n0;
    }

    private void floats(long row, int height, long column, int width) {
        float[] sums = scratch.floats(0, height * width);
        float[] right = scratch.floats(1, (int) Math.min(DEPTH, depth) * width);
        float[] left = scratch.floats(2, DEPTH);
        for (int r = 0; r < height; r++) {
            for (int c = 0; c < width; c++) {
                sums[r * width + c] = accumulate ? types.out.toFloat(out, position(row + r, column + c)) : 0f;
            }
        }
        for (long d = 0; d < depth; d += DEPTH) {
            checkCancelled();
            int length = (int) Math.min(DEPTH, depth - d);
            for (int c = 0; c < width; c++) {
                rhs.load(column + c, d, length, right, c, width);
            }
            for (int r = 0; r < height; r++) {
                lhs.load(row + r, d, length, left, 0, 1);
                if (roundEachStep) {
                    addRounded(sums, r * width, left, right, width, length, types.out);
                } else {
                    add(sums, r * width, left, right, width, length);
                }
            }
        }
        for (int r = 0; r < height; r++) {
            for (int c = 0; c < width; c++) {
                types.out.store(sums[r * width + c], out, position(row + r, column + c));
            }
        }
    }

    private static void add(float[] sums, int at, float[] left, float[] right, int width, int length) {
        int d = 0;
        for (; d + 4 <= length; d += 4) {
            add4(sums, at, right, d * width, width, left[d], left[d + 1], left[d + 2], left[d + 3]);
        }
        for (; d < length; d++) {
            add1(sums, at, right, d * width, width, left[d]);
        }
    }

    private static void add4(
            float[] sums, int at, float[] right, int from, int width, float a, float b, float c, float d) {
        int second = from + width;
        int third = second + width;
        int fourth = third + width;
        for (int i = 0; i < width; i++) {
            sums[at + i] = sums[at + i]
                    + a * right[from + i]
                    + b * right[second + i]
                    + c * right[third + i]
                    + d * right[fourth + i];
        }
    }

    private static void add1(float[] sums, int at, float[] right, int from, int width, float a) {
        for (int i = 0; i < width; i++) {
            sums[at + i] += a * right[from + i];
        }
    }

    private static void addRounded(
            float[] sums, int at, float[] left, float[] right, int width, int length, ElementKind kind) {
        for (int d = 0; d < length; d++) {
            float a = left[d];
            if (kind == ElementKind.F16) {
                for (int i = 0; i < width; i++) {
                    sums[at + i] = Float.float16ToFloat(Float.floatToFloat16(sums[at + i] + a * right[d * width + i]));
                }
            } else {
                for (int i = 0; i < width; i++) {
                    sums[at + i] = kind.round(sums[at + i] + a * right[d * width + i]);
                }
            }
        }
    }

    private void ints(long row, int height, long column, int width) {
        int[] sums = scratch.ints(0, height * width);
        int[] right = scratch.ints(1, (int) Math.min(DEPTH, depth) * width);
        int[] left = scratch.ints(2, DEPTH);
        for (int r = 0; r < height; r++) {
            for (int c = 0; c < width; c++) {
                sums[r * width + c] = accumulate ? out.get(Grid.INT, position(row + r, column + c) * Integer.BYTES) : 0;
            }
        }
        for (long d = 0; d < depth; d += DEPTH) {
            checkCancelled();
            int length = (int) Math.min(DEPTH, depth - d);
            for (int c = 0; c < width; c++) {
                rhs.load(column + c, d, length, right, c, width);
            }
            for (int r = 0; r < height; r++) {
                lhs.load(row + r, d, length, left, 0, 1);
                add(sums, r * width, left, right, width, length);
            }
        }
        for (int r = 0; r < height; r++) {
            for (int c = 0; c < width; c++) {
                out.set(Grid.INT, position(row + r, column + c) * Integer.BYTES, sums[r * width + c]);
            }
        }
    }

    private static void add(int[] sums, int at, int[] left, int[] right, int width, int length) {
        int d = 0;
        for (; d + 4 <= length; d += 4) {
            add4(sums, at, right, d * width, width, left[d], left[d + 1], left[d + 2], left[d + 3]);
        }
        for (; d < length; d++) {
            add1(sums, at, right, d * width, width, left[d]);
        }
    }

    private static void add4(int[] sums, int at, int[] right, int from, int width, int a, int b, int c, int d) {
        int second = from + width;
        int third = second + width;
        int fourth = third + width;
        for (int i = 0; i < width; i++) {
            sums[at + i] += a * right[from + i] + b * right[second + i] + c * right[third + i] + d * right[fourth + i];
        }
    }

    private static void add1(int[] sums, int at, int[] right, int from, int width, int a) {
        for (int i = 0; i < width; i++) {
            sums[at + i] += a * right[from + i];
        }
    }
}
