package io.github.iree4j.spring.client;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Converts the results of a call to the return value of a client method; closes the results unless returned as the value. */
@FunctionalInterface
interface ResultMapper {

    @Nullable
    Object read(Results results);

    /** Converts a result. */
    @FunctionalInterface
    interface Single {
        @Nullable
        Object read(Results results, int index);
    }

    /** Returns the mapper of a return type; throws IllegalArgumentException for an unsupported type. */
    static ResultMapper of(Type type) {
        Class<?> raw = ClassUtils.resolvePrimitiveIfNecessary(
                ResolvableType.forType(type).toClass());
        if (raw == Results.class) {
            return results -> results;
        }
        if (raw == Void.class || raw == void.class) {
            return results -> {
                results.close();
                return null;
            };
        }
        if (raw.isRecord()) {
            return ofRecord(raw);
        }
        Single single = single(type, raw);
        return results -> {
            try (results) {
                requireCount(results, 1, raw);
                return single.read(results, 0);
            }
        };
    }

    /** Returns the number of results read by the mapper of a supported type; -1 for any number. */
    static int count(Type type) {
        Class<?> raw = ResolvableType.forType(type).toClass();
        if (raw == Results.class || raw == Void.class || raw == void.class) {
            return -1;
        }
        return raw.isRecord() ? raw.getRecordComponents().length : 1;
    }

    private static ResultMapper ofRecord(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        List<Single> singles = new ArrayList<>();
        Class<?>[] types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            singles.add(single(components[i].getGenericType(), ClassUtils.resolvePrimitiveIfNecessary(types[i])));
        }
        Constructor<?> constructor;
        try {
            constructor = type.getDeclaredConstructor(types);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("record '%s' has no canonical constructor".formatted(type.getName()), e);
        }
        return results -> {
            @Nullable Object[] values = new @Nullable Object[components.length];
            boolean made = false;
            try (results) {
                requireCount(results, components.length, type);
                for (int i = 0; i < values.length; i++) {
                    values[i] = singles.get(i).read(results, i);
                }
                Object record = BeanUtils.instantiateClass(constructor, values);
                made = true;
                return record;
            } finally {
                for (int i = 0; i < values.length && !made; i++) {
                    drop(values[i]);
                }
            }
        };
    }

    private static void requireCount(Results results, int wanted, Class<?> type) {
        if (results.size() != wanted) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "the function has %d results, but '%s' takes %d"
                            .formatted(results.size(), type.getSimpleName(), wanted));
        }
    }

    private static Single single(Type type, Class<?> raw) {
        if (raw == Tensor.class) {
            return Results::take;
        }
        Class<?> element = elementType(raw);
        if (element != null) {
            return (results, i) -> NestedArrays.of(results.tensor(i), raw);
        }
        if (raw == Boolean.class || (Number.class.isAssignableFrom(raw) && raw != Number.class)) {
            return (results, i) -> Scalars.read(results.get(i), raw, i);
        }
        throw new IllegalArgumentException(
                "a result of type %s is not a tensor, array, number or record of these".formatted(type.getTypeName()));
    }

    /** Returns the element type of an array, nested or not; null for a type that is not an array of numbers or booleans. */
    static @Nullable Class<?> elementType(Class<?> type) {
        Class<?> element = type;
        while (element.isArray()) {
            element = element.getComponentType();
        }
        return type.isArray() && element.isPrimitive() && element != char.class ? element : null;
    }

    /** Closes an undelivered value. */
    static void drop(@Nullable Object value) {
        if (value instanceof Record record) {
            for (RecordComponent component : record.getClass().getRecordComponents()) {
                if (component.getType() == Tensor.class) {
                    drop(org.springframework.util.ReflectionUtils.invokeMethod(component.getAccessor(), record));
                }
            }
        } else if (value instanceof Tensor tensor) {
            tensor.close();
        } else if (value instanceof Results results) {
            results.close();
        }
    }
}
