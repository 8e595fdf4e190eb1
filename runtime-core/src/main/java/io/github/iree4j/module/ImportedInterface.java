package io.github.iree4j.module;

import io.github.iree4j.vm.CallingConvention;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An interface whose methods are functions of the context. Immutable. */
final class ImportedInterface {
    private final FunctionInterface<?> type;
    private final List<Imported> methods = new ArrayList<>();

    ImportedInterface(Class<?> type, References references, TypeListener seen) {
        this.type = FunctionInterface.of(type);
        for (Method method : this.type.methods()) {
            Import declared = method.getAnnotation(Import.class);
            if (declared == null) {
                throw new IllegalArgumentException("'%s' is not annotated @Import".formatted(Handles.text(method)));
            }
            methods.add(Imported.of(method, declared, references, seen));
        }
    }

    /** Receives the types allowed in programs. */
    interface TypeListener {
        void seen(Type type);
    }

    static boolean isOne(Class<?> type) {
        return type.isInterface()
                && Arrays.stream(type.getMethods()).anyMatch(m -> m.isAnnotationPresent(Import.class));
    }

    Class<?> type() {
        return type.type();
    }

    List<Imported> methods() {
        return methods;
    }

    Object implement(FunctionInterface.Binding binding) {
        return type.implement(binding);
    }

    /**
     * An imported function.
     *
     * @param method the method calling the function
     * @param fullName {@code module.function}
     * @param optional whether the method has a body for the case that the function is absent
     * @param late whether the function is looked up at the first call
     * @param arguments types of the arguments
     * @param results types of the results
     * @param record the record type of several results; null for less than two results
     * @param convention the calling convention
     */
    record Imported(
            Method method,
            String fullName,
            boolean optional,
            boolean late,
            List<ValueType> arguments,
            List<ValueType> results,
            @Nullable Class<?> record,
            CallingConvention convention) {
        static Imported of(Method method, Import declared, References references, TypeListener seen) {
            if (declared.value().indexOf('.') <= 0) {
                throw new IllegalArgumentException("'%s' imports '%s', which is not of the form 'module.function'"
                        .formatted(Handles.text(method), declared.value()));
            }
            String where = "import '%s' (%s)".formatted(declared.value(), Handles.text(method));
            List<ValueType> arguments = new ArrayList<>();
            for (Type type : method.getGenericParameterTypes()) {
                seen.seen(type);
                arguments.add(ValueType.of(type, references, where));
            }
            List<ValueType> results = new ArrayList<>();
            Class<?> record = null;
            Type result = method.getGenericReturnType();
            if (result instanceof Class<?> type && type.isRecord() && !type.isAnnotationPresent(ReferenceType.class)) {
                record = type;
                for (RecordComponent component : type.getRecordComponents()) {
                    seen.seen(component.getGenericType());
                    results.add(ValueType.of(component.getGenericType(), references, where));
                }
            } else if (result != void.class) {
                seen.seen(result);
                results.add(ValueType.of(result, references, where));
            }
            return new Imported(
                    method,
                    declared.value(),
                    method.isDefault(),
                    declared.late(),
                    arguments,
                    results,
                    record,
                    CallingConvention.parse("0" + letters(arguments) + "_" + letters(results)));
        }

        private static String letters(List<ValueType> types) {
            StringBuilder letters = new StringBuilder();
            types.forEach(type -> letters.append(type.letter()));
            return letters.isEmpty() ? "v" : letters.toString();
        }

        String moduleName() {
            return fullName.substring(0, fullName.indexOf('.'));
        }

        String functionName() {
            return fullName.substring(fullName.indexOf('.') + 1);
        }
    }
}
