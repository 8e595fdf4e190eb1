package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;

/** Utilities for shapes: arrays of dimensions, outermost first; rank 0 is a scalar. */
public final class Shape {
    /** Maximum number of dimensions of a shape. */
    public static final int MAXIMUM_RANK = 128;

    private Shape() {}

    /**
     * Checks a shape and returns the number of elements.
     *
     * @param shape dimensions, none negative
     * @return product of the dimensions; 1 for a scalar
     * @throws IreeException INVALID_ARGUMENT for a negative dimension or more than {@link #MAXIMUM_RANK}, OUT_OF_RANGE
     *     when the product exceeds a long
     */
    public static long elementCount(long... shape) {
        if (shape.length > MAXIMUM_RANK) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "shape has " + shape.length + " dimensions, the limit is " + MAXIMUM_RANK);
        }
        long count = 1;
        boolean empty = false;
        for (int i = 0; i < shape.length; i++) {
            if (shape[i] < 0) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT, "dimension " + i + " of shape " + format(shape) + " is negative");
            }
            empty |= shape[i] == 0;
        }
        if (empty) {
            return 0;
        }
        for (long dimension : shape) {
            long product = count * dimension;
            if (product < 0 || Math.multiplyHigh(count, dimension) != 0) { // a division would double the cost
                throw new IreeException(
                        StatusCode.OUT_OF_RANGE, "shape " + format(shape) + " has more than 2^63 - 1 elements");
            }
            count = product;
        }
        return count;
    }

    /**
     * Prints a shape.
     *
     * @param shape dimensions
     * @return for example {@code 1x28x28}; empty for a scalar
     */
    public static String format(long... shape) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < shape.length; i++) {
            text.append(i == 0 ? "" : "x").append(shape[i]);
        }
        return text.toString();
    }

    /**
     * Prints a shape with its element type.
     *
     * @param shape dimensions
     * @param type the type of the elements
     * @return for example {@code 4xf32}; {@code f32} for a scalar
     */
    public static String format(long[] shape, ElementType type) {
        return shape.length == 0 ? type.toString() : format(shape) + "x" + type;
    }

    /**
     * Parses the text printed by {@link #format(long...)}.
     *
     * @param text dimensions joined by {@code x}; empty is a scalar
     * @return the dimensions
     * @throws IreeException INVALID_ARGUMENT when the text is not a shape
     */
    public static long[] parse(String text) {
        if (text.isEmpty()) {
            return new long[0];
        }
        String[] parts = text.split("x", -1);
        long[] shape = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            try {
                shape[i] = Long.parseLong(parts[i]);
            } catch (NumberFormatException e) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT, "'" + text + "' is not a shape; write it like 1x28x28", e);
            }
        }
        elementCount(shape);
        return shape;
    }

    /**
     * Returns whether two shapes are equal.
     *
     * @param a a shape
     * @param b another shape
     * @return true if rank and all dimensions are equal
     */
    public static boolean equal(long[] a, long[] b) {
        return Arrays.equals(a, b);
    }
}
