package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** Converts a primitive result, or a tensor with one element, to a Java number or boolean. */
final class Scalars {
    private Scalars() {}

    static Object read(Results results, int index, Class<?> type) {
        Object value = results.get(index);
        Number number = switch (value) {
            case Number primitive -> primitive;
            case Tensor tensor when tensor.shape().elementCount() == 1 -> element(tensor);
            case null, default ->
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "%s is %s, not one %s"
                                .formatted(results.describe(index), describe(value), type.getSimpleName()));
        };
        if (type == Boolean.class) {
            return number.doubleValue() != 0;
        }
        if (type == Float.class) {
            return number.floatValue();
        }
        if (type == Double.class) {
            return number.doubleValue();
        }
        if (!(number instanceof Long || number instanceof Integer)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s is %s, which is not a %s".formatted(results.describe(index), number, type.getSimpleName()));
        }
        return whole(number.longValue(), results, index, type);
    }

    private static Number whole(long value, Results results, int index, Class<?> type) {
        Number converted = type == Integer.class
                ? (Number) (int) value
                : type == Short.class ? (Number) (short) value : type == Byte.class ? (Number) (byte) value : value;
        if (converted.longValue() != value) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%s is %d, which does not fit %s".formatted(results.describe(index), value, type.getSimpleName()));
        }
        return converted;
    }

    private static Number element(Tensor tensor) {
        return tensor.elementType().isFloat() ? tensor.toDoubleArray()[0] : tensor.toLongArray()[0];
    }

    private static String describe(@Nullable Object value) {
        return value == null
                ? "null"
                : value instanceof Tensor tensor
                        ? "a tensor of %d elements".formatted(tensor.shape().elementCount())
                        : "a " + value.getClass().getSimpleName();
    }
}
