package io.github.iree4j.spring.client;

import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.springframework.util.NumberUtils;

/** Converts a primitive result, or a tensor with one element, to a Java number or boolean. */
final class Scalars {
    private Scalars() {}

    @SuppressWarnings("unchecked")
    static Object read(@Nullable Object value, Class<?> type, int index) {
        Number number = switch (value) {
            case Number primitive -> primitive;
            case Tensor tensor when tensor.elementCount() == 1 -> element(tensor);
            case null, default ->
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "result %d is %s, not one %s".formatted(index, describe(value), type.getSimpleName()));
        };
        if (type == Boolean.class) {
            return number.doubleValue() != 0;
        }
        boolean whole = number instanceof Long || number instanceof Integer;
        if (!whole && type != Float.class && type != Double.class) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "result %d is %s, which is not a %s".formatted(index, number, type.getSimpleName()));
        }
        try {
            return NumberUtils.convertNumberToTargetClass(number, (Class<? extends Number>) type);
        } catch (IllegalArgumentException e) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "result %d is %s, which does not fit %s".formatted(index, number, type.getSimpleName()),
                    e);
        }
    }

    private static Number element(Tensor tensor) {
        return tensor.elementType().isFloat() ? tensor.toDoubleArray()[0] : tensor.toLongArray()[0];
    }

    private static String describe(@Nullable Object value) {
        return value == null
                ? "null"
                : value instanceof Tensor tensor
                        ? "a tensor of %d elements".formatted(tensor.elementCount())
                        : "a " + value.getClass().getSimpleName();
    }
}
