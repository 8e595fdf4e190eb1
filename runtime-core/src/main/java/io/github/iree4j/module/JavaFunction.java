package io.github.iree4j.module;

import io.github.iree4j.async.Fence;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.NativeFunction;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmFunction;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A method as a function of programs: the calling convention, and a single handle to convert arguments, call the method and set results. */
final class JavaFunction {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

    private final String name;
    private final String fullName;
    private final String method;
    private final CallingConvention convention;
    private final Map<String, String> attributes = new LinkedHashMap<>();
    private final NativeFunction<Scope> body;

    private JavaFunction(Builder builder, Method method, String name, String fullName) {
        this.name = name;
        this.fullName = fullName;
        this.method = Handles.text(method);
        List<MethodHandle> readers = new ArrayList<>();
        if (!Modifier.isStatic(method.getModifiers())) {
            readers.add(find(Scope.class, "instance", Object.class)
                    .asType(MethodType.methodType(method.getDeclaringClass(), Scope.class)));
        }
        StringBuilder letters = new StringBuilder("0");
        Type[] types = method.getGenericParameterTypes();
        Parameter[] parameters = method.getParameters();
        for (int i = 0; i < types.length; i++) {
            readers.add(parameter(builder, parameters[i], types[i], letters));
        }
        if (letters.length() == 1) {
            letters.append('v');
        }
        letters.append('_');
        MethodHandle handle = Handles.collect(Handles.unreflect(method), readers);
        Type result = method.getGenericReturnType();
        if (result == void.class) {
            letters.append('v');
        } else if (result instanceof ParameterizedType later
                && later.getRawType() instanceof Class<?> stage
                && CompletionStage.class.isAssignableFrom(stage)) {
            MethodHandle writer = result(builder, later.getActualTypeArguments()[0], letters);
            handle = Handles.write(handle, LaterResult.writer(this, writer, stage));
        } else {
            handle = Handles.write(handle, result(builder, result, letters));
        }
        convention = CallingConvention.parse(letters.toString());
        attributes.put(VmFunction.DECLARATION, this.method);
        int count = parameters.length;
        if (count >= 2
                && parameters[count - 1].getType() == Fence.class
                && parameters[count - 2].getType() == Fence.class) {
            attributes.put("iree.abi.model", "coarse-fences");
        }
        body = body(handle);
    }

    /** Collects a function's requirements of the module: adapters, types, and the import interfaces among the parameters. */
    interface Builder {
        References references();

        /** Records a type usable in programs. */
        void seen(Type type);

        /** Records an interface of imports and returns the interface's index. */
        int imports(Class<?> type);
    }

    static JavaFunction of(Builder builder, Method method, String name, String fullName) {
        return new JavaFunction(builder, method, name, fullName);
    }

    @SuppressWarnings("unchecked")
    private static NativeFunction<Scope> body(MethodHandle handle) {
        // A hidden class per handle makes the handle a constant, and the JIT compiler inlines constants.
        return MethodHandleProxies.asInterfaceInstance(
                NativeFunction.class, MethodHandles.dropArguments(handle, 1, VmCall.class));
    }

    private MethodHandle parameter(Builder builder, Parameter parameter, Type type, StringBuilder letters) {
        String where = "argument '%s' of '%s' (%s)".formatted(parameter.getName(), fullName, method);
        Class<?> raw = parameter.getType();
        if (ImportedInterface.isOne(raw)) {
            int index = builder.imports(raw);
            return MethodHandles.insertArguments(find(Scope.class, "imported", Object.class, int.class), 1, index)
                    .asType(MethodType.methodType(raw, Scope.class));
        }
        if (raw.isArray() && raw != byte[].class) {
            letters.append('C');
            MethodHandle element = element(builder, raw.getComponentType(), where, letters);
            letters.append('D');
            return Span.reader(raw, element);
        }
        builder.seen(type);
        ValueType value = ValueType.of(type, builder.references(), where);
        letters.append(value.letter());
        return value.reader(where, Handles.isNullable(parameter, parameter.getAnnotatedType()));
    }

    private MethodHandle element(Builder builder, Class<?> type, String where, StringBuilder letters) {
        if (type.isRecord() && !type.isAnnotationPresent(ReferenceType.class)) {
            List<MethodHandle> readers = new ArrayList<>();
            for (RecordComponent component : type.getRecordComponents()) {
                ValueType value = ValueType.of(component.getGenericType(), builder.references(), where);
                builder.seen(component.getGenericType());
                letters.append(value.letter());
                readers.add(value.reader(where, Handles.isNullable(component, component.getAnnotatedType())));
            }
            if (readers.isEmpty()) {
                throw new IllegalArgumentException("%s has tuples without components".formatted(where));
            }
            return Handles.collect(Handles.constructor(type), readers);
        }
        builder.seen(type);
        ValueType value = ValueType.of(type, builder.references(), where);
        letters.append(value.letter());
        return value.reader(where, true);
    }

    /** {@code (Scope, type)void} */
    private MethodHandle result(Builder builder, Type type, StringBuilder letters) {
        String where = "result of '%s' (%s)".formatted(fullName, method);
        if (type == Void.class) {
            letters.append('v');
            return MethodHandles.empty(MethodType.methodType(void.class, Scope.class, Void.class));
        }
        if (type instanceof Class<?> record && record.isRecord() && !record.isAnnotationPresent(ReferenceType.class)) {
            List<MethodHandle> writers = new ArrayList<>();
            for (RecordComponent component : record.getRecordComponents()) {
                ValueType value = ValueType.of(component.getGenericType(), builder.references(), where);
                builder.seen(component.getGenericType());
                letters.append(value.letter());
                writers.add(value.writer());
            }
            if (writers.isEmpty()) {
                letters.append('v');
            }
            return Handles.writeRecord(record, writers);
        }
        // Results of futures are boxed.
        Class<?> unboxed =
                type instanceof Class<?> c ? MethodType.methodType(c).unwrap().returnType() : null;
        builder.seen(type);
        ValueType value =
                ValueType.of(unboxed != null && unboxed.isPrimitive() ? unboxed : type, builder.references(), where);
        letters.append(value.letter());
        return value.writer();
    }

    private static MethodHandle find(Class<?> owner, String name, Class<?> result, Class<?>... parameters) {
        try {
            return LOOKUP.findVirtual(owner, name, MethodType.methodType(result, parameters));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    CallingConvention convention() {
        return convention;
    }

    Map<String, String> attributes() {
        return attributes;
    }

    String method() {
        return method;
    }

    /** Runs the method, or resumes after completion of the returned future. */
    void call(JavaState state, VmCall call) {
        if (call.resumed()) {
            if (!(call.attachment() instanceof LaterResult.Pending pending)) {
                throw IreeException.of(StatusCode.INTERNAL, "'" + fullName + "' was resumed without having waited");
            }
            resume(pending, call);
            return;
        }
        Scope scope = state.enter(call, fullName);
        boolean later = false;
        try {
            body.call(scope, call);
            later = scope.isDeferred();
        } catch (Throwable e) {
            throw Failures.of(e, fullName, method);
        } finally {
            state.leave(scope, later);
        }
    }

    private void resume(LaterResult.Pending pending, VmCall call) {
        Scope scope = pending.scope();
        scope.enter(call);
        try {
            pending.finish();
        } catch (Throwable e) {
            throw Failures.of(e, fullName, method);
        } finally {
            scope.leave();
            scope.close();
            call.attach(null);
        }
    }

    @Nullable
    String duplicateOf(JavaFunction other) {
        return name.equals(other.name) && convention.matches(other.convention) ? other.method : null;
    }

    @Override
    public String toString() {
        return fullName;
    }
}
