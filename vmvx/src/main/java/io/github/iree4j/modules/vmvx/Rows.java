package io.github.iree4j.modules.vmvx;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The iteration order of a two-dimensional function over its operands: rows as few and as long as possible, each in
 * pieces fitting the scratch arrays.
 */
final class Rows {
    /** Elements of a piece: three such arrays fit in the L1 cache. */
    static final int PIECE = 2048;

    private long rows;
    private long length;
    private final long[] rowStrides;
    private final long[] strides;

    Rows(long size0, long size1, Grid... operands) {
        rows = size0;
        length = size1;
        rowStrides = Arrays.stream(operands).mapToLong(Grid::stride0).toArray();
        strides = Arrays.stream(operands).mapToLong(Grid::stride1).toArray();
        if (length == 1 || (rows > 1 && isDense(rowStrides) && !isDense(strides))) {
            swap();
        }
        boolean oneRow = true;
        for (int i = 0; i < strides.length; i++) {
            oneRow &= rowStrides[i] == strides[i] * length;
        }
        if (oneRow) {
            length *= rows;
            rows = 1;
        }
    }

    private static boolean isDense(long[] strides) {
        return Arrays.stream(strides).allMatch(stride -> stride <= 1);
    }

    private void swap() {
        long size = rows;
        rows = length;
        length = size;
        for (int i = 0; i < strides.length; i++) {
            long stride = rowStrides[i];
            rowStrides[i] = strides[i];
            strides[i] = stride;
        }
    }

    /** The computation on a piece of a row; {@link #at} gives the positions of the first elements. */
    @FunctionalInterface
    interface Piece {
        void run(long row, long first, int count);
    }

    void forEach(VmCall call, int limit, Piece piece) {
        for (long row = 0; row < rows; row++) {
            for (long first = 0; first < length; first += limit) {
                if (call.isCancelled()) {
                    throw cancelled(call);
                }
                piece.run(row, first, (int) Math.min(limit, length - first));
            }
        }
    }

    /** Returns the size of the largest piece for these sizes. */
    static int piece(long size0, long size1) {
        return size0 >= PIECE || size1 >= PIECE ? PIECE : (int) Math.min(PIECE, size0 * size1);
    }

    static IreeException cancelled(VmCall call) {
        return IreeException.of(
                StatusCode.CANCELLED, "call of '" + call.function().fullName() + "' was cancelled");
    }

    /** Returns the position of an element of an operand, in elements. */
    long at(int operand, long row, long element) {
        return row * rowStrides[operand] + element * strides[operand];
    }

    long stride(int operand) {
        return strides[operand];
    }

    static void load(MemorySegment from, long at, long stride, float[] to, int count) {
        if (stride == 1) {
            MemorySegment.copy(from, Grid.FLOAT, at * Float.BYTES, to, 0, count);
        } else if (stride == 0) {
            Arrays.fill(to, 0, count, from.get(Grid.FLOAT, at * Float.BYTES));
        } else {
            for (int i = 0; i < count; i++) {
                to[i] = from.get(Grid.FLOAT, (at + i * stride) * Float.BYTES);
            }
        }
    }

    static void load(MemorySegment from, long at, long stride, int[] to, int count) {
        if (stride == 1) {
            MemorySegment.copy(from, Grid.INT, at * Integer.BYTES, to, 0, count);
        } else if (stride == 0) {
            Arrays.fill(to, 0, count, from.get(Grid.INT, at * Integer.BYTES));
        } else {
            for (int i = 0; i < count; i++) {
                to[i] = from.get(Grid.INT, (at + i * stride) * Integer.BYTES);
            }
        }
    }

    static void store(float[] from, MemorySegment to, long at, long stride, int count) {
        if (stride == 1) {
            MemorySegment.copy(from, 0, to, Grid.FLOAT, at * Float.BYTES, count);
        } else {
            for (int i = 0; i < count; i++) {
                to.set(Grid.FLOAT, (at + i * stride) * Float.BYTES, from[i]);
            }
        }
    }

    static void store(int[] from, MemorySegment to, long at, long stride, int count) {
        if (stride == 1) {
            MemorySegment.copy(from, 0, to, Grid.INT, at * Integer.BYTES, count);
        } else {
            for (int i = 0; i < count; i++) {
                to.set(Grid.INT, (at + i * stride) * Integer.BYTES, from[i]);
            }
        }
    }
}
