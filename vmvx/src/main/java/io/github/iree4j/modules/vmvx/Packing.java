package io.github.iree4j.modules.vmvx;

import static io.github.iree4j.modules.vmvx.Grid.BYTE;
import static io.github.iree4j.modules.vmvx.Grid.INT;
import static io.github.iree4j.modules.vmvx.Grid.SHORT;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;

/**
 * {@code pack} and {@code unpack}: convert matrices to tiles and back. Flags and types are defined in
 * {@code iree/builtins/ukernel/exported_bits.h}; elements are moved as bits.
 */
final class Packing {
    private static final int TYPE_MASK = 0xFF;
    private static final int F32 = 1;
    private static final int I8 = 2;
    private static final int I32 = 3;
    private static final int F16 = 4;
    private static final int BF16 = 5;
    private static final int UNPACK_I32_OF_2023 = 2;
    private static final int TRANSPOSE_INNER = 0x100;
    private static final int TRANSPOSE_OUTER = 0x200;
    private static final int KNOWN_FLAGS = TYPE_MASK | TRANSPOSE_INNER | TRANSPOSE_OUTER;

    private Packing() {}

    static void pack(VmCall call) {
        pack(call, Grid.read(call, "in"), true);
    }

    /** The form of compilers from April 2023 to May 2024: rows are contiguous. */
    static void packContiguous(VmCall call) {
        pack(call, Grid.readContiguous(call, "in"), false);
    }

    private static void pack(VmCall call, Grid in, boolean hasInnerStride) {
        VmBuffer outBuffer = call.required(VmBuffer.class);
        long outOffset = call.i64();
        long outStride0 = call.i64();
        if (hasInnerStride) {
            call.i64(); // the stride of contiguous tiles
        }
        long inSize0 = Microkernels.size(call.i64(), "in_size0");
        long inSize1 = Microkernels.size(call.i64(), "in_size1");
        long outer0 = Microkernels.size(call.i64(), "out_size0");
        long outer1 = Microkernels.size(call.i64(), "out_size1");
        long tile0 = Microkernels.size(call.i64(), "out_size2");
        long tile1 = Microkernels.size(call.i64(), "out_size3");
        long padding = call.i64();
        int flags = call.i32();
        int elementSize = elementSize(flags, true);
        if (outer0 == 0 || outer1 == 0 || tile0 == 0 || tile1 == 0) {
            return;
        }
        Tiling tiling = new Tiling(flags, outer0, outer1, tile0, tile1, outStride0);
        MemorySegment out = new Grid("out", outBuffer, outOffset, outStride0, 1)
                .writable(outer0, Microkernels.product(outer1, tile0, tile1), elementSize);
        boolean noInput = inSize0 == 0 || inSize1 == 0;
        MemorySegment source = noInput ? MemorySegment.NULL : in.readable(inSize0, inSize1, elementSize);
        tiling.checkCovers(inSize0, inSize1);
        for (long row = 0; row < tiling.rows(); row++) {
            if (call.isCancelled()) {
                throw Rows.cancelled(call);
            }
            long width = row < inSize0 ? inSize1 : 0;
            long from = row < inSize0 ? row * in.stride0() : 0;
            long column = 0;
            for (long tile = 0; tile < tiling.columnTiles; tile++) {
                long to = tiling.position(row, tile);
                long copied = Math.clamp(width - column, 0, tiling.columnsPerTile);
                if (copied > 0) {
                    long start = from + column * in.stride1();
                    move(source, start, in.stride1(), out, to, tiling.columnStride, elementSize, copied);
                }
                if (copied < tiling.columnsPerTile) {
                    long start = to + copied * tiling.columnStride;
                    fill(padding, out, start, tiling.columnStride, elementSize, tiling.columnsPerTile - copied);
                }
                column += tiling.columnsPerTile;
            }
        }
    }

    static void unpack(VmCall call) {
        unpack(call, true);
    }

    /** The form of compilers from April 2023 to May 2024: rows are contiguous, and at first integers had a separate type number. */
    static void unpackContiguous(VmCall call) {
        unpack(call, false);
    }

    private static void unpack(VmCall call, boolean hasInnerStrides) {
        VmBuffer inBuffer = call.required(VmBuffer.class);
        long inOffset = call.i64();
        long inStride0 = call.i64();
        if (hasInnerStrides) {
            call.i64(); // the stride of contiguous tiles
        }
        Grid out = hasInnerStrides ? Grid.read(call, "out") : Grid.readContiguous(call, "out");
        long outer0 = Microkernels.size(call.i64(), "in_size0");
        long outer1 = Microkernels.size(call.i64(), "in_size1");
        long tile0 = Microkernels.size(call.i64(), "in_size2");
        long tile1 = Microkernels.size(call.i64(), "in_size3");
        long outSize0 = Microkernels.size(call.i64(), "out_size0");
        long outSize1 = Microkernels.size(call.i64(), "out_size1");
        int flags = call.i32();
        if (!hasInnerStrides && (flags & TYPE_MASK) == UNPACK_I32_OF_2023) {
            flags = flags & ~TYPE_MASK | I32;
        }
        int elementSize = elementSize(flags, false);
        if (outSize0 == 0 || outSize1 == 0) {
            return;
        }
        Tiling tiling = new Tiling(flags, outer0, outer1, tile0, tile1, inStride0);
        tiling.checkCovers(outSize0, outSize1);
        MemorySegment in = new Grid("in", inBuffer, inOffset, inStride0, 1)
                .readable(outer0, Microkernels.product(outer1, tile0, tile1), elementSize);
        MemorySegment target = out.writable(outSize0, outSize1, elementSize);
        for (long row = 0; row < outSize0; row++) {
            if (call.isCancelled()) {
                throw Rows.cancelled(call);
            }
            long to = row * out.stride0();
            long tile = 0;
            for (long column = 0; column < outSize1; column += tiling.columnsPerTile) {
                long count = Math.min(tiling.columnsPerTile, outSize1 - column);
                long from = tiling.position(row, tile++);
                long start = to + column * out.stride1();
                move(in, from, tiling.columnStride, target, start, out.stride1(), elementSize, count);
            }
        }
    }

    private static int elementSize(int flags, boolean bytesToo) {
        if ((flags & ~KNOWN_FLAGS) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "packing with flags %08X, of which %08X are unknown".formatted(flags, flags & ~KNOWN_FLAGS));
        }
        int type = flags & TYPE_MASK;
        if (type == F32 || type == I32) {
            return 4;
        }
        if (type == F16 || type == BF16) {
            return 2;
        }
        if (type == I8 && bytesToo) {
            return 1;
        }
        throw IreeException.of(
                StatusCode.UNIMPLEMENTED,
                "packing of type %d; known are 1 (f32), 3 (i32), 4 (f16), 5 (bf16), and 2 (i8) for pack"
                        .formatted(type));
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
            long count) {
        switch (size) {
            case 1 -> {
                for (long i = 0; i < count; i++) {
                    out.set(BYTE, to + i * toStride, in.get(BYTE, from + i * fromStride));
                }
            }
            case 2 -> {
                for (long i = 0; i < count; i++) {
                    out.set(SHORT, (to + i * toStride) * 2, in.get(SHORT, (from + i * fromStride) * 2));
                }
            }
            default -> {
                for (long i = 0; i < count; i++) {
                    out.set(INT, (to + i * toStride) * 4, in.get(INT, (from + i * fromStride) * 4));
                }
            }
        }
    }

    private static void fill(long value, MemorySegment out, long to, long stride, int size, long count) {
        switch (size) {
            case 1 -> {
                for (long i = 0; i < count; i++) {
                    out.set(BYTE, to + i * stride, (byte) value);
                }
            }
            case 2 -> {
                for (long i = 0; i < count; i++) {
                    out.set(SHORT, (to + i * stride) * 2, (short) value);
                }
            }
            default -> {
                for (long i = 0; i < count; i++) {
                    out.set(INT, (to + i * stride) * 4, (int) value);
                }
            }
        }
    }

    /** Positions of a matrix's elements in the tiled form, in elements. */
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
            long tileSize = Microkernels.product(1, tile0, tile1);
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

        void checkCovers(long size0, long size1) {
            if (Microkernels.product(1, rowTiles, rowsPerTile) < size0
                    || Microkernels.product(1, columnTiles, columnsPerTile) < size1) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "tiles of %d x %d elements, %d x %d of them, do not cover a matrix of %d x %d"
                                .formatted(rowsPerTile, columnsPerTile, rowTiles, columnTiles, size0, size1));
            }
        }

        /** Returns the first element of a row in a tile. */
        long position(long row, long columnTile) {
            return row / rowsPerTile * rowTileStride + columnTile * columnTileStride + row % rowsPerTile * rowStride;
        }
    }
}
