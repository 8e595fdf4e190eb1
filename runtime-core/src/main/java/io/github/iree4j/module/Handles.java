package io.github.iree4j.module;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Method handles over scopes. */
final class Handles {
    private Handles() {}

    /** Reads all arguments of a target from a scope, in order: {@code (Scope)R}. */
    static MethodHandle collect(MethodHandle target, List<MethodHandle> readers) {
        if (readers.isEmpty()) {
            return MethodHandles.dropArguments(target, 0, Scope.class);
        }
        MethodHandle handle = target;
        // The outermost handle is evaluated first, so process the first argument last.
        for (int i = readers.size() - 1; i >= 0; i--) {
            handle = MethodHandles.collectArguments(handle, i, readers.get(i));
        }
        return onOneScope(handle);
    }

    /** Sets a handle's return value as a result: {@code (Scope)void}. */
    static MethodHandle write(MethodHandle value, MethodHandle writer) {
        return onOneScope(MethodHandles.collectArguments(writer, 1, value));
    }

    private static MethodHandle onOneScope(MethodHandle handle) {
        return MethodHandles.permuteArguments(
                handle,
                MethodType.methodType(handle.type().returnType(), Scope.class),
                new int[handle.type().parameterCount()]);
    }

    /** Sets the components of a record as results, in order: {@code (Scope, record)void}. */
    static MethodHandle writeRecord(Class<?> type, List<MethodHandle> writers) {
        RecordComponent[] components = type.getRecordComponents();
        MethodHandle all = MethodHandles.empty(MethodType.methodType(void.class, Scope.class, type));
        for (int i = components.length - 1; i >= 0; i--) {
            MethodHandle one = MethodHandles.filterArguments(writers.get(i), 1, unreflect(components[i].getAccessor()));
            all = MethodHandles.foldArguments(all, one);
        }
        return all;
    }

    /** The constructor of a record: {@code (components)record}. */
    static MethodHandle constructor(Class<?> type) {
        Class<?>[] components = Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getType)
                .toArray(Class<?>[]::new);
        try {
            return lookup(type).findConstructor(type, MethodType.methodType(void.class, components));
        } catch (ReflectiveOperationException e) {
            throw inaccessible(type, e);
        }
    }

    static MethodHandle unreflect(Method method) {
        Class<?> type = method.getDeclaringClass();
        try {
            return lookup(type).unreflect(method).asFixedArity();
        } catch (IllegalAccessException e) {
            throw inaccessible(type, e);
        }
    }

    /** A lookup with full access to a user's class. */
    static MethodHandles.Lookup lookup(Class<?> type) {
        try {
            Handles.class.getModule().addReads(type.getModule());
            return MethodHandles.privateLookupIn(type, MethodHandles.lookup());
        } catch (IllegalAccessException e) {
            throw inaccessible(type, e);
        }
    }

    private static IllegalArgumentException inaccessible(Class<?> type, Exception cause) {
        return new IllegalArgumentException(
                "'%s' cannot be reached; let module '%s' open package '%s' to '%s'"
                        .formatted(
                                type.getName(),
                                type.getModule().getName(),
                                type.getPackageName(),
                                Handles.class.getModule().getName()),
                cause);
    }

    /** Whether an annotation {@code Nullable} of any library is present. */
    static boolean isNullable(AnnotatedElement declaration, AnnotatedElement type) {
        return isNullable(declaration) || isNullable(type);
    }

    private static boolean isNullable(AnnotatedElement element) {
        return Arrays.stream(element.getAnnotations())
                .anyMatch(a -> a.annotationType().getSimpleName().equals("Nullable"));
    }

    /** A readable signature such as {@code float Scaler.scale(float)}. */
    static String text(Executable method) {
        String result = method instanceof Method m ? m.getReturnType().getSimpleName() + " " : "";
        return result + method.getDeclaringClass().getSimpleName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
