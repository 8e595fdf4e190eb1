package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import org.jspecify.annotations.Nullable;

/**
 * The type of a tensor, as declared by a function.
 *
 * @param type the element type
 * @param shape the dimensions, -1 for a dimension chosen by the caller
 */
public record TensorType(ElementType type, long[] shape) {
    /**
     * Returns whether a tensor may be passed. Integers count by width only, as in the checks of compiled programs.
     *
     * @param other the element type of the tensor
     * @param otherShape the shape of the tensor
     * @return true if the tensor may be passed
     */
    public boolean accepts(ElementType other, Shape otherShape) {
        if (!sameElement(type, other) || shape.length != otherShape.rank()) {
            return false;
        }
        for (int i = 0; i < shape.length; i++) {
            if (shape[i] >= 0 && shape[i] != otherShape.dimension(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the type described by this and another type, with the sizes given by either.
     *
     * @param other further knowledge about the same tensor; integers count by width only
     * @return null if the two contradict each other
     */
    public @Nullable TensorType and(TensorType other) {
        if (!sameElement(type, other.type) || shape.length != other.shape.length) {
            return null;
        }
        long[] sizes = shape.clone();
        for (int i = 0; i < sizes.length; i++) {
            if (sizes[i] >= 0 && other.shape[i] >= 0 && sizes[i] != other.shape[i]) {
                return null;
            }
            sizes[i] = Math.max(sizes[i], other.shape[i]);
        }
        return new TensorType(type, sizes);
    }

    private static boolean sameElement(ElementType declared, ElementType actual) {
        int a = declared.encoding();
        int b = actual.encoding();
        boolean integers = (a >>> 28) == 1 && (b >>> 28) == 1; // 0x10 to 0x13, including the boolean
        return a == b || b >>> 24 == 0 || integers && (a & 0xFF) == (b & 0xFF);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("tensor<");
        for (long dim : shape) {
            text.append(dim < 0 ? "?" : Long.toString(dim)).append('x');
        }
        return text.append(type).append('>').toString();
    }
}
