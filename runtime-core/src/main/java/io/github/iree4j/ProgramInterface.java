package io.github.iree4j;

import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.module.FunctionInterface;
import io.github.iree4j.module.Import;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
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
     * @param results the conversion of the results
     */
    private record Call(ProgramFunction function, ResultType<?> results) {
        static Call of(Method method, ProgramFunction function) {
            String text = ProgramInterface.text(method);
            requireCount(
                    text,
                    function,
                    "takes %d arguments, and the function %d",
                    method.getParameterCount(),
                    function.argumentKinds().size());
            for (int i = 0; i < method.getParameterCount(); i++) {
                Class<?> parameter = method.getParameterTypes()[i];
                if (parameter.isPrimitive()) {
                    checkNumber(
                            text,
                            function,
                            "argument " + i,
                            parameter,
                            function.argumentKinds().get(i));
                }
            }
            ResultType<?> results = ResultType.ofReferences(value(method));
            List<Class<?>> types = results.components();
            if (value(method) != Results.class) {
                requireCount(
                        text,
                        function,
                        "returns %d values, and the function %d",
                        types.size(),
                        function.resultKinds().size());
            }
            for (int i = 0; i < types.size(); i++) {
                Class<?> number = MethodType.methodType(types.get(i)).unwrap().returnType();
                checkNumber(
                        text,
                        function,
                        "result " + i,
                        number,
                        function.resultKinds().get(i));
            }
            return new Call(function, results);
        }

        private static boolean isLater(Class<?> type) {
            return type == IreeFuture.class || type == CompletableFuture.class;
        }

        /** The type of the value returned by a method, now or later. */
        private static Type value(Method method) {
            return !isLater(method.getReturnType())
                    ? method.getGenericReturnType()
                    : method.getGenericReturnType() instanceof ParameterizedType later
                            ? later.getActualTypeArguments()[0]
                            : Object.class;
        }

        private static void requireCount(String text, ProgramFunction function, String what, int own, int wanted) {
            if (own != wanted) {
                throw mismatch(text, function, what.formatted(own, wanted));
            }
        }

        private static void checkNumber(
                String text, ProgramFunction function, String what, Class<?> type, ValueKind kind) {
            boolean fits = switch (kind) {
                case I32 -> type == int.class || type == boolean.class || type == short.class || type == byte.class;
                case I64 -> type == long.class || type == int.class && what.startsWith("argument");
                case F32 -> type == float.class;
                case F64 -> type == double.class || type == float.class && what.startsWith("argument");
                case REFERENCE -> true;
            };
            if (!fits && type != Object.class && type != Number.class) {
                throw mismatch(
                        text, function, "%s is %s, and %s in the function".formatted(what, type.getSimpleName(), kind));
            }
        }

        private static IreeException mismatch(String text, ProgramFunction function, String what) {
            return IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%s does not fit '%s': it %s (%s)"
                            .formatted(text, function.fullName(), what, function.declaration()));
        }

        MethodHandle handle(MethodType type) {
            try {
                return MethodHandles.lookup()
                        .findVirtual(
                                Call.class,
                                isLater(type.returnType()) ? "callLater" : "call",
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
        Object call(@Nullable Object[] inputs) {
            return results.read(function.invoke(inputs));
        }

        @SuppressWarnings("UnusedMethod") // found by name
        Object callLater(@Nullable Object[] inputs) {
            return results.read(function.invokeAsync(inputs));
        }
    }
}
