package io.github.iree4j.module;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import org.jspecify.annotations.Nullable;

/**
 * A variadic argument of numbers, references or tuples: an array in Java.
 *
 * @param component type of the elements
 * @param element reads an element, {@code (Scope)Object}
 */
record Span(Class<?> component, MethodHandle element) {
    static MethodHandle reader(Class<?> array, MethodHandle element) {
        Span span =
                new Span(array.getComponentType(), element.asType(MethodType.methodType(Object.class, Scope.class)));
        try {
            return MethodHandles.lookup()
                    .findVirtual(Span.class, "take", MethodType.methodType(Object.class, Scope.class))
                    .bindTo(span)
                    .asType(MethodType.methodType(array, Scope.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    Object take(Scope scope) throws Throwable {
        int count = scope.call().spanCount();
        Object values = Array.newInstance(component, count);
        switch (values) {
            case int[] ints -> {
                for (int i = 0; i < count; i++) {
                    ints[i] = scope.call().i32();
                }
            }
            case long[] longs -> {
                for (int i = 0; i < count; i++) {
                    longs[i] = scope.call().i64();
                }
            }
            default -> {
                for (int i = 0; i < count; i++) {
                    @Nullable Object value = (Object) element.invokeExact(scope);
                    Array.set(values, i, value);
                }
            }
        }
        return values;
    }
}
