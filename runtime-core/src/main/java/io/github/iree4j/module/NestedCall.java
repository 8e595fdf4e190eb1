package io.github.iree4j.module;

import io.github.iree4j.module.ImportedInterface.Imported;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Calls a function of the context from Java methods called by the context. Belongs to a single state. */
final class NestedCall implements AutoCloseable {
    private final JavaState state;
    private final Imported imported;
    private final @Nullable MethodHandle record;
    /** Idle invocations; recursive calls alone use several. */
    private final ArrayDeque<Invocation> idle = new ArrayDeque<>();

    private @Nullable VmFunction function;

    NestedCall(JavaState state, Imported imported) {
        this.state = state;
        this.imported = imported;
        Class<?> type = imported.record();
        record = type == null
                ? null
                : Handles.constructor(type)
                        .asSpreader(Object[].class, type.getRecordComponents().length)
                        .asType(MethodType.methodType(Object.class, Object[].class));
    }

    Imported imported() {
        return imported;
    }

    void link(VmFunction linked) {
        function = linked;
    }

    /** The implementation of the interface's method; null to run the method's own body. */
    @Nullable
    MethodHandle handle() {
        if (function == null && imported.late()) {
            function = lookup();
        }
        if (function == null && imported.optional()) {
            return null;
        }
        MethodType type = MethodType.methodType(
                imported.method().getReturnType(), imported.method().getParameterTypes());
        try {
            return MethodHandles.lookup()
                    .findVirtual(NestedCall.class, "call", MethodType.methodType(Object.class, Object[].class))
                    .bindTo(this)
                    .asCollector(Object[].class, type.parameterCount())
                    .asType(type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private @Nullable VmFunction lookup() {
        List<VmModule> modules = state.context().modules().reversed();
        for (VmModule module : modules) {
            if (module.name().equals(imported.moduleName())) {
                VmFunction found = module.resolve(
                        imported.functionName(), imported.convention().text());
                if (found != null && found.convention().matches(imported.convention())) {
                    return found;
                }
                List<String> others = module.exports().stream()
                        .filter(f -> f.name().equals(imported.functionName()))
                        .map(f -> "'" + f.convention() + "' " + f.declaration())
                        .toList();
                if (!others.isEmpty()) {
                    throw IreeException.of(
                            StatusCode.INTERNAL,
                            "module '%s' imports '%s' with convention '%s' (%s), but module '%s' has it with %s"
                                    .formatted(
                                            state.moduleName(),
                                            imported.fullName(),
                                            imported.convention(),
                                            Handles.text(imported.method()),
                                            module.name(),
                                            String.join(", ", others)));
                }
                break;
            }
        }
        if (imported.optional()) {
            return null;
        }
        throw IreeException.of(
                StatusCode.NOT_FOUND,
                "module '%s' imports '%s' (%s), which no module of the context has (%s)"
                        .formatted(
                                state.moduleName(),
                                imported.fullName(),
                                Handles.text(imported.method()),
                                modules.reversed().stream().map(VmModule::name).collect(Collectors.joining(", "))));
    }

    @Nullable
    Object call(@Nullable Object[] arguments) throws Throwable {
        Scope scope = state.scope();
        VmCall outer = scope.call();
        Invocation invocation = take();
        try {
            List<ValueType> types = imported.arguments();
            for (int i = 0; i < arguments.length; i++) {
                types.get(i).pass(invocation, arguments[i]);
            }
            invocation.runWithin(outer);
            return results(invocation, scope);
        } finally {
            // VM-4: after this call has ended, a thread cancelling the outer call has either been noticed or leaves
            // this invocation alone.
            if (outer.isCancelled() || idle.size() > JavaState.MAX_DEPTH) {
                invocation.close();
            } else {
                invocation.reset();
                idle.push(invocation);
            }
        }
    }

    private Invocation take() {
        Invocation used = idle.poll();
        if (used != null) {
            return used;
        }
        Context context = state.context();
        VmFunction target = function;
        if (target == null) {
            throw IreeException.of(StatusCode.INTERNAL, "'" + imported.fullName() + "' is not linked");
        }
        return context.nestedInvocation(target);
    }

    private @Nullable Object results(Invocation invocation, Scope scope) throws Throwable {
        List<ValueType> types = imported.results();
        if (record == null) {
            return types.isEmpty() ? null : types.getFirst().result(invocation, scope);
        }
        @Nullable Object[] values = new Object[types.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = types.get(i).result(invocation, scope);
        }
        return (Object) record.invokeExact(values);
    }

    @Override
    public void close() {
        idle.forEach(Invocation::close);
        idle.clear();
    }
}
