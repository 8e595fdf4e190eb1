package io.github.iree4j.modules.vmvx;

import static io.github.iree4j.modules.vmvx.Grid.BYTE;
import static io.github.iree4j.modules.vmvx.Grid.FLOAT;
import static io.github.iree4j.modules.vmvx.Grid.INT;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/**
 * Matrix multiplication over tiled operands, and the functions that tile and untile them.
 *
 * <p>A tiled matrix is [outer0][outer1][tile0][tile1] with the inner three dimensions contiguous; only the outermost has a stride. Flag
 * values are those of {@code iree/builtins/ukernel/exported_bits.h}.
 */
final class Microkernels {
    private static final int TYPE_MASK = 0xFF;

    private static final int MMT4D_F32 = 1;
    private static final int MMT4D_S8_S32 = 2;
    private static final int MMT4D_ACCUMULATE = 0x100;

    private static final int PACK_F32 = 1;
    private static final int PACK_I8 = 2;
    private static final int PACK_I32 = 3;
    private static final int TRANSPOSE_INNER = 0x100;
    private static final int TRANSPOSE_OUTER = 0x200;

    private static final int ROLE_LHS = 1;
    private static final int ROLE_RHS = 2;
    private static final int ROLE_RESULT = 3;

    // The tile that IREE's generic kernels ask for, whatever the types.
    private static final int TILE_M = 8;
    private static final int TILE_N = 8;
    private static final int TILE_K = 4;

    private Microkernels() {}

    static void register(NativeModule.Builder<VmvxModule.State> module) {
        module.function("mmt4d", "0rIIrIIrIIIIIiiii_v", (state, call) -> mmt4d(call));
        module.function("pack", "0rIIIrIIIIIIIIIIi_v", (state, call) -> pack(call));
        module.function("unpack", "0rIIIrIIIIIIIIIi_v", (state, call) -> unpack(call));
        module.function("query_tile_sizes.2d", "0IIi_II", (state, call) -> queryTileSizes(call));
    }

    private static void queryTileSizes(VmCall call) {
        call.i64();
        call.i64();
        int flags = call.i32();
        int operation = (flags >>> 8) & 0xFF;
        int role = flags & TYPE_MASK;
        if (operation < 1 || operation > 6 || role < ROLE_LHS || role > ROLE_RESULT) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "flags %08X: operation must be 1 to 6 and the operand's role 1 to 3".formatted(flags));
        }
        call.returnI64(role == ROLE_RHS ? TILE_N : TILE_M);
        call.returnI64(role == ROLE_RESULT ? TILE_N : TILE_K);
    }

    private static void mmt4d(VmCall call) {
        VmBuffer lhsBuffer = call.required(VmBuffer.class);
        long lhsOffset = call.i64();
        long lhsStride = call.i64();
        VmBuffer rhsBuffer = call.required(VmBuffer.class);
        long rhsOffset = call.i64();
        long rhsStride = call.i64();
        VmBuffer outBuffer = call.required(VmBuffer.class);
        long outOffset = call.i64();
        long outStride = call.i64();
        long m = size(call.i64(), "m");
        long n = size(call.i64(), "n");
        long k = size(call.i64(), "k");
        int m0 = (int) size(call.i32(), "m0");
        int n0 = (int) size(call.i32(), "n0");
        int k0 = (int) size(call.i32(), "k0");
        int flags = call.i32();
        int type = flags & TYPE_MASK;
        if (type != MMT4D_F32 && type != MMT4D_S8_S32) {
            throw new IreeException(
                    StatusCode.UNIMPLEMENTED,
                    "mmt4d of type %d; VMVX has 1 (f32 x f32 -> f32) and 2 (s8 x s8 -> s32)".formatted(type));
        }
        if (m == 0 || n == 0 || m0 == 0 || n0 == 0) {
            return;
        }
        boolean accumulate = (flags & MMT4D_ACCUMULATE) != 0;
        boolean nothingToSum = k == 0 || k0 == 0;
        if (nothingToSum && accumulate) {
            return;
        }
        int inSize = type == MMT4D_F32 ? 4 : 1;
        MemorySegment out = new Grid("out", outBuffer, outOffset, outStride, 1).writable(m, product(n, m0, n0), 4);
        if (nothingToSum) {
            for (long i = 0; i < m; i++) {
                out.asSlice(i * outStride * 4, n * m0 * n0 * 4).fill((byte) 0);
            }
            return;
        }
        MemorySegment lhs = new Grid("lhs", lhsBuffer, lhsOffset, lhsStride, 1).readable(m, product(k, m0, k0), inSize);
        MemorySegment rhs = new Grid("rhs", rhsBuffer, rhsOffset, rhsStride, 1).readable(n, product(k, n0, k0), inSize);
        for (long i = 0; i < m; i++) {
            for (long j = 0; j < n; j++) {
                MemorySegment lhsPanel = lhs.asSlice(i * lhsStride * inSize);
                MemorySegment rhsPanel = rhs.asSlice(j * rhsStride * inSize);
                MemorySegment tile = out.asSlice((i * outStride + j * m0 * n0) * 4);
                if (type == MMT4D_F32) {
                    tileF32(lhsPanel, rhsPanel, tile, k, m0, n0, k0, accumulate);
                } else {
                    tileS8(lhsPanel, rhsPanel, tile, k, m0, n0, k0, accumulate);
                }
            }
        }
    }

    private static void tileF32(
            MemorySegment lhs,
            MemorySegment rhs,
            MemorySegment out,
            long k,
            int m0,
            int n0,
            int k0,
            boolean accumulate) {
        for (int i = 0; i < m0; i++) {
            for (int j = 0; j < n0; j++) {
                long at = ((long) i * n0 + j) * 4;
                float sum = accumulate ? out.get(FLOAT, at) : 0f;
                for (long p = 0; p < k; p++) {
                    long l = (p * m0 + i) * k0 * 4;
                    long r = (p * n0 + j) * k0 * 4;
                    for (int q = 0; q < k0; q++) {
                        sum += lhs.get(FLOAT, l + q * 4L) * rhs.get(FLOAT, r + q * 4L);
                    }
                }
                out.set(FLOAT, at, sum);
            }
        }
    }

    private static void tileS8(
            MemorySegment lhs,
            MemorySegment rhs,
            MemorySegment out,
            long k,
            int m0,
            int n0,
            int k0,
            boolean accumulate) {
        for (int i = 0; i < m0; i++) {
            for (int j = 0; j < n0; j++) {
                long at = ((long) i * n0 + j) * 4;
                int sum = accumulate ? out.get(INT, at) : 0;
                for (long p = 0; p < k; p++) {
                    long l = (p * m0 + i) * k0;
                    long r = (p * n0 + j) * k0;
                    for (int q = 0; q < k0; q++) {
                        sum += lhs.get(BYTE, l + q) * rhs.get(BYTE, r + q);
                    }
                }
                out.set(INT, at, sum);
            }
        }
    }

    private static void pack(VmCall call) {
        Grid in = Grid.read(call, "in");
        VmBuffer outBuffer = call.required(VmBuffer.class);
        long outOffset = call.i64();
        long outStride0 = call.i64();
        call.i64(); // the inner stride is that of contiguous tiles
        long inSize0 = size(call.i64(), "in_size0");
        long inSize1 = size(call.i64(), "in_size1");
        long outer0 = size(call.i64(), "out_size0");
        long outer1 = size(call.i64(), "out_size1");
        long tile0 = size(call.i64(), "out_size2");
        long tile1 = size(call.i64(), "out_size3");
        long padding = call.i64();
        int flags = call.i32();
        int elementSize = packedElementSize(flags, true);
        if (outer0 == 0 || outer1 == 0 || tile0 == 0 || tile1 == 0) {
            return;
        }
        Tiling tiling = new Tiling(flags, outer0, outer1, tile0, tile1, outStride0);
        MemorySegment out = new Grid("out", outBuffer, outOffset, outStride0, 1)
                .writable(outer0, product(outer1, tile0, tile1), elementSize);
        boolean noInput = inSize0 == 0 || inSize1 == 0;
        MemorySegment source = noInput ? MemorySegment.NULL : in.readable(inSize0, inSize1, elementSize);
        tiling.checkCovers(inSize0, inSize1);
        for (long row = 0; row < tiling.rows(); row++) {
            for (long column = 0; column < tiling.columns(); column++) {
                long to = tiling.position(row, column) * elementSize;
                boolean padded = row >= inSize0 || column >= inSize1;
                long from = padded ? 0 : (row * in.stride0() + column * in.stride1()) * elementSize;
                if (elementSize == 4) {
                    out.set(INT, to, padded ? (int) padding : source.get(INT, from));
                } else {
                    out.set(BYTE, to, padded ? (byte) padding : source.get(BYTE, from));
                }
            }
        }
    }

    private static void unpack(VmCall call) {
        VmBuffer inBuffer = call.required(VmBuffer.class);
        long inOffset = call.i64();
        long inStride0 = call.i64();
        call.i64(); // the inner stride is that of contiguous tiles
        Grid out = Grid.read(call, "out");
        long outer0 = size(call.i64(), "in_size0");
        long outer1 = size(call.i64(), "in_size1");
        long tile0 = size(call.i64(), "in_size2");
        long tile1 = size(call.i64(), "in_size3");
        long outSize0 = size(call.i64(), "out_size0");
        long outSize1 = size(call.i64(), "out_size1");
        int flags = call.i32();
        int elementSize = packedElementSize(flags, false);
        if (outSize0 == 0 || outSize1 == 0) {
            return;
        }
        Tiling tiling = new Tiling(flags, outer0, outer1, tile0, tile1, inStride0);
        tiling.checkCovers(outSize0, outSize1);
        MemorySegment in = new Grid("in", inBuffer, inOffset, inStride0, 1)
                .readable(outer0, product(outer1, tile0, tile1), elementSize);
        MemorySegment target = out.writable(outSize0, outSize1, elementSize);
        for (long row = 0; row < outSize0; row++) {
            for (long column = 0; column < outSize1; column++) {
                int value = in.get(INT, tiling.position(row, column) * elementSize);
                target.set(INT, (row * out.stride0() + column * out.stride1()) * elementSize, value);
            }
        }
    }

    private static int packedElementSize(int flags, boolean bytesToo) {
        int type = flags & TYPE_MASK;
        if (type == PACK_F32 || type == PACK_I32) {
            return 4;
        }
        if (type == PACK_I8 && bytesToo) {
            return 1;
        }
        throw new IreeException(
                StatusCode.UNIMPLEMENTED,
                "packing of type %d; VMVX has 1 (f32), 3 (i32), and 2 (i8) for pack".formatted(type));
    }

    private static long size(long value, String name) {
        if (value < 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT, "'%s' is %d, must not be negative".formatted(name, value));
        }
        return value;
    }

    private static long product(long a, long b, long c) {
        try {
            return Math.multiplyExact(a, Math.multiplyExact(b, c));
        } catch (ArithmeticException e) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE, "%d x %d x %d elements are more than any buffer has".formatted(a, b, c));
        }
    }

    /** Where element (row, column) of a matrix lies in its tiled form, in elements. */
    private static final class Tiling {
        private final long rowTiles;
        private final long columnTiles;
        private final long rowsPerTile;
        private final long columnsPerTile;
        private final long rowTileStride;
        private final long columnTileStride;
        private final long rowStride;
        private final long columnStride;

        Tiling(int flags, long outer0, long outer1, long tile0, long tile1, long stride0) {
            boolean outer = (flags & TRANSPOSE_OUTER) != 0;
            boolean inner = (flags & TRANSPOSE_INNER) != 0;
            long tileSize = product(1, tile0, tile1);
            rowTiles = outer ? outer1 : outer0;
            columnTiles = outer ? outer0 : outer1;
            rowTileStride = outer ? tileSize : stride0;
            columnTileStride = outer ? stride0 : tileSize;
            rowsPerTile = inner ? tile1 : tile0;
            columnsPerTile = inner ? tile0 : tile1;
            rowStride = inner ? 1 : tile1;
            columnStride = inner ? tile1 : 1;
        }

        long rows() {
            return rowTiles * rowsPerTile;
        }

        long columns() {
            return columnTiles * columnsPerTile;
        }

        void checkCovers(long size0, long size1) {
            if (product(1, rowTiles, rowsPerTile) < size0 || product(1, columnTiles, columnsPerTile) < size1) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "tiles of %d x %d elements, %d x %d of them, do not cover a matrix of %d x %d"
                                .formatted(rowsPerTile, columnsPerTile, rowTiles, columnTiles, size0, size1));
            }
        }

        long position(long row, long column) {
            return row / rowsPerTile * rowTileStride
                    + column / columnsPerTile * columnTileStride
                    + row % rowsPerTile * rowStride
                    + column % columnsPerTile * columnStride;
        }
    }
}
