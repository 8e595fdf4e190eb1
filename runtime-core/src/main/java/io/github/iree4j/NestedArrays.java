package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.reflect.Array;
import java.util.Arrays;

/** Converts a tensor to a Java array: flat, or nested by dimension. */
final class NestedArrays {
    private NestedArrays() {}

    static Object of(Results results, int index, Class<?> type) {
        Tensor tensor = results.tensor(index);
        Class<?> element = type;
        int depth = 0;
        while (element.isArray()) {
            element = element.getComponentType();
            depth++;
        }
        Object flat = flat(tensor, element);
        if (depth == 1) {
            return flat;
        }
        long[] shape = tensor.shape().dimensions();
        if (shape.length != depth) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s has shape %s, and cannot be a %s, which has %d dimensions"
                            .formatted(results.describe(index), Arrays.toString(shape), type.getSimpleName(), depth));
        }
        return nest(flat, type, shape, 0, 0, Array.getLength(flat));
    }

    private static Object flat(Tensor tensor, Class<?> element) {
        return switch (element.getName()) {
            case "float" -> tensor.toFloatArray();
            case "double" -> tensor.toDoubleArray();
            case "int" -> tensor.toIntArray();
            case "long" -> tensor.toLongArray();
            case "short" -> tensor.toShortArray();
            case "byte" -> tensor.toByteArray();
            default -> tensor.toBooleanArray();
        };
    }

    private static Object nest(Object flat, Class<?> type, long[] shape, int depth, int from, int length) {
        int count = Math.toIntExact(shape[depth]);
        Object array = Array.newInstance(type.getComponentType(), count);
        if (depth == shape.length - 1) {
            System.arraycopy(flat, from, array, 0, count);
            return array;
        }
        int each = count == 0 ? 0 : length / count;
        for (int i = 0; i < count; i++) {
            Array.set(array, i, nest(flat, type.getComponentType(), shape, depth + 1, from + i * each, each));
        }
        return array;
    }
}
