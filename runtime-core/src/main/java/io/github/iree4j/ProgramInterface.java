package io.github.iree4j;

import io.github.iree4j.module.FunctionInterface;
import io.github.iree4j.module.Import;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmTypes;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Implements interfaces by functions of a program; see {@link Program#bind}. */
final class ProgramInterface {
    private final Program program;

    ProgramInterface(Program program) {
        this.program = program;
    }

    <T> T bind(Class<T> type) {
        return FunctionInterface.of(type).implement(this::handle);
    }

    private @Nullable MethodHandle handle(Method method) {
        Import declared = method.getAnnotation(Import.class);
        ProgramFunction function;
        try {
            function = program.function(declared == null ? method.getName() : declared.value());
        } catch (IreeException e) {
            if (method.isDefault() && e.code() == StatusCode.NOT_FOUND) {
                return null;
            }
            throw e.during("wanted by " + text(method));
        }
        MethodType type = MethodType.methodType(method.getReturnType(), method.getParameterTypes());
        return Call.of(method, function).handle(type);
    }

    private static String text(Method method) {
        return "'%s.%s'".formatted(method.getDeclaringClass().getSimpleName(), method.getName());
    }

    /**
     * A method of the interface.
     *
     * @param function the function called by the method
     * @param text the method's name in messages
     * @param later whether the method returns a future
     * @param results types of the results, in order; null when all results are returned unconverted
     * @param record constructs the record of several results, {@code (Object[])Object}; null for fewer results
     */
    private record Call(
            ProgramFunction function,
            String text,
            boolean later,
            @Nullable List<Class<?>> results,
            @Nullable MethodHandle record) {
        static Call of(Method method, ProgramFunction function) {
            String text = ProgramInterface.text(method);
            if (method.getParameterCount() != function.argumentKinds().length()) {
                throw mismatch(
                        text,
                        function,
                        "takes %d arguments, and the function %d"
                                .formatted(
                                        method.getParameterCount(),
                                        function.argumentKinds().length()));
            }
            for (int i = 0; i < method.getParameterCount(); i++) {
                Class<?> parameter = method.getParameterTypes()[i];
                if (parameter.isPrimitive()
                        && "iIfF".indexOf(function.argumentKinds().charAt(i)) >= 0) {
                    checkNumber(
                            text,
                            function,
                            "argument " + i,
                            parameter,
                            function.argumentKinds().charAt(i));
                }
            }
            Type result = method.getGenericReturnType();
            boolean later = method.getReturnType() == CompletableFuture.class;
            if (later) {
                result = result instanceof ParameterizedType p ? p.getActualTypeArguments()[0] : Object.class;
            }
            if (result == Results.class) {
                return new Call(function, text, later, null, null);
            }
            Class<?> raw = result instanceof Class<?> c
                    ? c
                    : result instanceof ParameterizedType p && p.getRawType() instanceof Class<?> c ? c : Object.class;
            List<Class<?>> results = new ArrayList<>();
            MethodHandle record = null;
            if (raw.isRecord()) {
                for (RecordComponent component : raw.getRecordComponents()) {
                    results.add(component.getType());
                }
                record = constructor(raw, results);
            } else if (raw != void.class && raw != Void.class) {
                results.add(raw);
            }
            if (results.size() != function.resultKinds().length()) {
                throw mismatch(
                        text,
                        function,
                        "returns %d values, and the function %d"
                                .formatted(
                                        results.size(), function.resultKinds().length()));
            }
            for (int i = 0; i < results.size(); i++) {
                Class<?> number = MethodType.methodType(results.get(i)).unwrap().returnType();
                char kind = function.resultKinds().charAt(i);
                if (kind != 'r') {
                    checkNumber(text, function, "result " + i, number, kind);
                }
            }
            return new Call(function, text, later, results, record);
        }

        private static void checkNumber(String text, ProgramFunction function, String what, Class<?> type, char kind) {
            boolean fits = switch (kind) {
                case 'i' -> type == int.class || type == boolean.class || type == short.class || type == byte.class;
                case 'I' -> type == long.class || type == int.class && what.startsWith("argument");
                case 'f' -> type == float.class;
                default -> type == double.class || type == float.class && what.startsWith("argument");
            };
            if (!fits && type != Object.class && type != Number.class) {
                throw mismatch(
                        text,
                        function,
                        "%s is %s, and '%s' in the function".formatted(what, type.getSimpleName(), kind));
            }
        }

        private static IreeException mismatch(String text, ProgramFunction function, String what) {
            return new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "%s does not fit '%s': it %s (%s)"
                            .formatted(text, function.fullName(), what, function.declaration()));
        }

        private static MethodHandle constructor(Class<?> type, List<Class<?>> components) {
            try {
                JavaModule.class.getModule().addReads(type.getModule());
                return MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                        .findConstructor(type, MethodType.methodType(void.class, components))
                        .asSpreader(Object[].class, components.size())
                        .asType(MethodType.methodType(Object.class, Object[].class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalArgumentException("'%s' cannot be made: %s".formatted(type.getName(), e), e);
            }
        }

        MethodHandle handle(MethodType type) {
            try {
                return MethodHandles.lookup()
                        .findVirtual(
                                Call.class,
                                later ? "callLater" : "call",
                                MethodType.methodType(Object.class, Object[].class))
                        .bindTo(this)
                        .asCollector(Object[].class, type.parameterCount())
                        .asType(type);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        @SuppressWarnings("UnusedMethod") // found by name
        @Nullable
        Object call(@Nullable Object[] inputs) throws Throwable {
            return read(function.invoke(inputs));
        }

        @SuppressWarnings("UnusedMethod") // found by name
        Object callLater(@Nullable Object[] inputs) {
            CompletableFuture<Results> call = function.invokeAsync(inputs);
            CompletableFuture<@Nullable Object> read = call.thenApply(results -> {
                try {
                    return read(results);
                } catch (RuntimeException | Error e) {
                    throw e;
                } catch (Throwable e) {
                    throw new AssertionError(e); // constructors of records
                }
            });
            // Completing the returned future from outside ends the call.
            read.whenComplete((value, failure) -> {
                if (failure != null) {
                    call.completeExceptionally(failure);
                }
            });
            return read;
        }

        private @Nullable Object read(Results returned) throws Throwable {
            if (results == null) {
                return returned;
            }
            try (returned) {
                @Nullable Object[] values = new Object[results.size()];
                try {
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value(returned, i, results.get(i));
                    }
                    return record != null ? (Object) record.invokeExact(values) : values.length == 0 ? null : values[0];
                } catch (Throwable e) {
                    Results.free(values);
                    throw e;
                }
            }
        }

        private @Nullable Object value(Results returned, int index, Class<?> type) {
            Object value = returned.get(index);
            if (type == Tensor.class) {
                return value == null ? null : returned.take(index);
            }
            if (value instanceof Tensor tensor) {
                Object array = array(tensor, type);
                if (array != null) {
                    return array;
                }
            }
            if (value instanceof VmBuffer buffer && type == String.class) {
                return buffer.utf8();
            }
            if (value instanceof VmBuffer buffer && type == byte[].class) {
                return buffer.segment().toArray(ValueLayout.JAVA_BYTE);
            }
            Class<?> boxed = MethodType.methodType(type).wrap().returnType();
            if (value instanceof Integer number) {
                if (boxed == Boolean.class) {
                    return number != 0;
                }
                if (boxed == Short.class) {
                    return number.shortValue();
                }
                if (boxed == Byte.class) {
                    return number.byteValue();
                }
            }
            if (value == null || boxed.isInstance(value)) {
                return returned.takeAny(index);
            }
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "result %d of '%s' is a %s, and %s returns a %s"
                            .formatted(index, function.fullName(), VmTypes.nameOf(value), text, type.getSimpleName()));
        }

        private static @Nullable Object array(Tensor tensor, Class<?> type) {
            if (type == float[].class) {
                return tensor.toFloatArray();
            } else if (type == double[].class) {
                return tensor.toDoubleArray();
            } else if (type == int[].class) {
                return tensor.toIntArray();
            } else if (type == long[].class) {
                return tensor.toLongArray();
            } else if (type == byte[].class) {
                return tensor.toByteArray();
            } else if (type == boolean[].class) {
                return tensor.toBooleanArray();
            } else if (type == short[].class) {
                return tensor.toShortArray();
            }
            boolean scalar = tensor.elementCount() == 1;
            Class<?> number = MethodType.methodType(type).unwrap().returnType();
            if (scalar && number == float.class) {
                return tensor.toFloatArray()[0];
            } else if (scalar && number == double.class) {
                return tensor.toDoubleArray()[0];
            } else if (scalar && number == int.class) {
                return tensor.toIntArray()[0];
            } else if (scalar && number == long.class) {
                return tensor.toLongArray()[0];
            } else if (scalar && number == boolean.class) {
                return tensor.toBooleanArray()[0];
            }
            return null;
        }
    }
}
