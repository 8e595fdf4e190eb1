package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;

/** The dimensions of a tensor, outermost first; a scalar has none. Immutable. */
public final class Shape {
    /** Maximum number of dimensions of a shape. */
    public static final int MAXIMUM_RANK = 128;

    /** The shape of a scalar: no dimensions, one element. */
    public static final Shape SCALAR = new Shape(new long[0]);

    private final long[] dimensions;
    private final long elementCount;

    private Shape(long[] dimensions) {
        this.dimensions = dimensions;
        this.elementCount = count(dimensions);
    }

    /**
     * Creates a shape.
     *
     * @param dimensions none negative, outermost first; copied
     * @return the shape; {@link #SCALAR} without dimensions
     * @throws IreeException INVALID_ARGUMENT for a negative dimension or more than {@link #MAXIMUM_RANK}, OUT_OF_RANGE
     *     when the number of elements exceeds a long
     */
    public static Shape of(long... dimensions) {
        return dimensions.length == 0 ? SCALAR : new Shape(dimensions.clone());
    }

    /**
     * Parses the text printed by {@link #toString()}.
     *
     * @param text dimensions joined by {@code x}; empty is a scalar
     * @return the shape
     * @throws IreeException INVALID_ARGUMENT when the text is not a shape, OUT_OF_RANGE as {@link #of}
     */
    public static Shape parse(String text) {
        if (text.isEmpty()) {
            return SCALAR;
        }
        String[] parts = text.split("x", -1);
        long[] dimensions = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            try {
                dimensions[i] = Long.parseLong(parts[i]);
            } catch (NumberFormatException e) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT, "'" + text + "' is not a shape; write it like 1x28x28", e);
            }
        }
        return new Shape(dimensions);
    }

    private static long count(long[] dimensions) {
        if (dimensions.length > MAXIMUM_RANK) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "shape has " + dimensions.length + " dimensions, the limit is " + MAXIMUM_RANK);
        }
        boolean empty = false;
        for (int i = 0; i < dimensions.length; i++) {
            if (dimensions[i] < 0) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "dimension " + i + " of shape " + text(dimensions) + " is negative");
            }
            empty |= dimensions[i] == 0;
        }
        if (empty) {
            return 0;
        }
        long count = 1;
        for (long dimension : dimensions) {
            long product = count * dimension;
            if (product < 0 || Math.multiplyHigh(count, dimension) != 0) { // a division would double the cost
                throw IreeException.of(
                        StatusCode.OUT_OF_RANGE, "shape " + text(dimensions) + " has more than 2^63 - 1 elements");
            }
            count = product;
        }
        return count;
    }

    /**
     * Returns the number of dimensions.
     *
     * @return 0 for a scalar, at most {@link #MAXIMUM_RANK}
     */
    public int rank() {
        return dimensions.length;
    }

    /**
     * Returns a dimension.
     *
     * @param index 0 is the outermost
     * @return number of elements along the dimension, at least 0
     * @throws IreeException OUT_OF_RANGE when there is no such dimension
     */
    public long dimension(int index) {
        if (index < 0 || index >= dimensions.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "dimension " + index + " of a shape of rank " + dimensions.length + " does not exist");
        }
        return dimensions[index];
    }

    /**
     * Returns all dimensions.
     *
     * @return a new array, outermost first; empty for a scalar
     */
    public long[] dimensions() {
        return dimensions.clone();
    }

    /**
     * Returns the number of elements.
     *
     * @return the product of the dimensions; 1 for a scalar
     */
    public long elementCount() {
        return elementCount;
    }

    /**
     * Prints the shape with an element type.
     *
     * @param type the type of the elements
     * @return for example {@code 4xf32}; {@code f32} for a scalar
     */
    public String format(ElementType type) {
        return dimensions.length == 0 ? type.toString() : this + "x" + type;
    }

    /** Prints the dimensions, for example {@code 1x28x28}; empty for a scalar. */
    @Override
    public String toString() {
        return text(dimensions);
    }

    private static String text(long[] dimensions) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < dimensions.length; i++) {
            text.append(i == 0 ? "" : "x").append(dimensions[i]);
        }
        return text.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape shape && Arrays.equals(dimensions, shape.dimensions);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(dimensions);
    }
}
