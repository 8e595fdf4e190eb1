package io.github.iree4j.spring.client;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ResultType;
import io.github.iree4j.Tensor;
import io.github.iree4j.TransferredTensor;
import io.github.iree4j.hal.BufferView;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Converts an argument of a client method to inputs. */
@FunctionalInterface
interface ArgumentMapper {

    void add(@Nullable Object value, List<@Nullable Object> inputs);

    /** Returns the mapper of an argument type; throws IllegalArgumentException for an unsupported type. */
    static ArgumentMapper of(Type type) {
        return of(type, List.of());
    }

    private static ArgumentMapper of(Type type, List<Class<?>> within) {
        Class<?> raw = ClassUtils.resolvePrimitiveIfNecessary(
                ResolvableType.forType(type).toClass());
        if (raw.isRecord()) {
            return ofRecord(raw, within);
        }
        if (raw == CallOptions.class
                || raw == Tensor.class
                || raw == TransferredTensor.class
                || raw == BufferView.class
                || raw == Object.class
                || raw == Boolean.class
                || Number.class.isAssignableFrom(raw)
                || ResultType.isArray(raw)) {
            return (value, inputs) -> inputs.add(value);
        }
        throw new IllegalArgumentException("an argument of type %s is not a tensor, array, number or record of these"
                .formatted(type.getTypeName()));
    }

    /** Returns the types of the inputs made from an argument of a supported type; primitive types for boxed numbers. */
    static List<Class<?>> types(Type type) {
        Class<?> raw = ResolvableType.forType(type).toClass();
        if (raw == CallOptions.class) {
            return List.of();
        }
        if (!raw.isRecord()) {
            return List.of(MethodType.methodType(raw).unwrap().returnType());
        }
        List<Class<?>> types = new ArrayList<>();
        for (RecordComponent component : raw.getRecordComponents()) {
            types.addAll(types(component.getGenericType()));
        }
        return types;
    }

    private static ArgumentMapper ofRecord(Class<?> type, List<Class<?>> within) {
        if (within.contains(type)) {
            throw new IllegalArgumentException(
                    "record '%s' has itself as a component of record '%s', and would be inputs without end"
                            .formatted(type.getName(), within.getLast().getName()));
        }
        List<Class<?>> enclosing = new ArrayList<>(within);
        enclosing.add(type);
        List<Method> accessors = new ArrayList<>();
        List<ArgumentMapper> mappers = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            ReflectionUtils.makeAccessible(component.getAccessor());
            accessors.add(component.getAccessor());
            mappers.add(of(component.getGenericType(), enclosing));
        }
        return (@Nullable Object value, List<@Nullable Object> inputs) -> {
            if (value == null) {
                throw new IllegalArgumentException("record '%s' must not be null".formatted(type.getSimpleName()));
            }
            for (int i = 0; i < mappers.size(); i++) {
                mappers.get(i).add(ReflectionUtils.invokeMethod(accessors.get(i), value), inputs);
            }
        };
    }
}
