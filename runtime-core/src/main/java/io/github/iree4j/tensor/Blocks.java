package io.github.iree4j.tensor;

import io.github.iree4j.hal.Shape;
import java.lang.foreign.MemorySegment;

/** Copies between dense arrays of different shapes. */
public final class Blocks {
    private Blocks() {}

    /**
     * Copies the first elements of each dimension.
     *
     * @param from dense, row-major
     * @param fromShape the source shape
     * @param to dense, row-major
     * @param toShape the target shape, of the same rank
     * @param part number of elements in each dimension; no more than either shape has
     * @param bytes bytes of an element
     */
    public static void copy(
            MemorySegment from, Shape fromShape, MemorySegment to, Shape toShape, Shape part, long bytes) {
        if (part.elementCount() > 0) {
            copy(from, fromShape.dimensions(), to, toShape.dimensions(), part.dimensions(), bytes);
        }
    }

    private static void copy(
            MemorySegment from, long[] fromShape, MemorySegment to, long[] toShape, long[] part, long bytes) {
        int outer = part.length; // outer dimensions iterated over; inner dimensions are contiguous in both
        long run = bytes;
        while (outer > 0) {
            outer--;
            run *= part[outer];
            if (part[outer] != fromShape[outer] || part[outer] != toShape[outer]) {
                break;
            }
        }
        long[] fromStep = steps(fromShape, bytes);
        long[] toStep = steps(toShape, bytes);
        long[] at = new long[outer];
        long source = 0;
        long target = 0;
        while (true) {
            MemorySegment.copy(from, source, to, target, run);
            int dimension = outer - 1;
            while (dimension >= 0 && ++at[dimension] == part[dimension]) {
                source -= (part[dimension] - 1) * fromStep[dimension];
                target -= (part[dimension] - 1) * toStep[dimension];
                at[dimension--] = 0;
            }
            if (dimension < 0) {
                return;
            }
            source += fromStep[dimension];
            target += toStep[dimension];
        }
    }

    /** Returns the bytes from an element to the next in each dimension. */
    private static long[] steps(long[] shape, long bytes) {
        long[] steps = new long[shape.length];
        long step = bytes;
        for (int i = shape.length - 1; i >= 0; i--) {
            steps[i] = step;
            step *= shape[i];
        }
        return steps;
    }

    /** Returns whether the first elements of each dimension are contiguous, before all others. */
    static boolean comeFirst(Shape shape, Shape part) {
        int last = part.rank() - 1;
        while (last >= 0 && part.dimension(last) == shape.dimension(last)) {
            last--;
        }
        for (int i = 0; i < last; i++) {
            if (part.dimension(i) > 1) {
                return part.elementCount() == 0;
            }
        }
        return true;
    }
}
