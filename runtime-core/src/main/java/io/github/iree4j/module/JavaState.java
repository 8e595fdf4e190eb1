package io.github.iree4j.module;

import io.github.iree4j.module.ImportedInterface.Imported;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmCallable;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModuleState;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A Java module's state in a context: the called object, the linked imports, and the active calls. */
final class JavaState implements VmModuleState {
    /** Limit on nested calls of the module's methods; each nested call takes some of the thread's stack. */
    static final int MAX_DEPTH = 64;

    private final JavaModule module;
    private final Object instance;
    private final boolean owned;
    private final List<NestedCall> imports = new ArrayList<>();
    private final List<Map<Method, NestedCall>> interfaces = new ArrayList<>();
    private final @Nullable Object[] implementations;
    private final ArrayList<Scope> scopes = new ArrayList<>();
    private int depth;
    private @Nullable Context context;

    JavaState(JavaModule module, Object instance, boolean owned) {
        this.module = module;
        this.instance = instance;
        this.owned = owned;
        for (ImportedInterface type : module.interfaces()) {
            Map<Method, NestedCall> calls = new LinkedHashMap<>();
            for (Imported imported : type.methods()) {
                NestedCall call = new NestedCall(this, imported);
                calls.put(imported.method(), call);
                if (!imported.late()) {
                    imports.add(call);
                }
            }
            interfaces.add(calls);
        }
        implementations = new Object[interfaces.size()];
    }

    @Override
    public void attach(Context attached) {
        context = attached;
    }

    @Override
    public void link(int importOrdinal, VmFunction function, VmCallable target) {
        NestedCall call = imports.get(importOrdinal);
        if (!function.convention().matches(call.imported().convention())) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "module '%s' calls '%s' with convention '%s', but it has '%s'"
                            .formatted(
                                    moduleName(),
                                    call.imported().fullName(),
                                    call.imported().convention(),
                                    function.convention()));
        }
        call.link(function);
    }

    @Override
    public VmCallable callable(VmFunction export) {
        return new Bound(this, module.function(export));
    }

    private record Bound(JavaState state, JavaFunction function) implements VmCallable {
        @Override
        public void call(VmCall call) {
            function.call(state, call);
        }
    }

    Context context() {
        return Objects.requireNonNull(context);
    }

    String moduleName() {
        return module.name();
    }

    Object instance() {
        return instance;
    }

    /** The implementation of an interface; created on first use, once everything is linked. */
    Object imported(int index) {
        Object made = implementations[index];
        if (made == null) {
            Map<Method, NestedCall> calls = interfaces.get(index);
            made = module.interfaces()
                    .get(index)
                    .implement(
                            method -> Objects.requireNonNull(calls.get(method)).handle());
            implementations[index] = made;
        }
        return made;
    }

    Scope enter(VmCall call, String function) {
        if (depth == MAX_DEPTH) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "'%s' is called within %d other calls of module '%s', the maximum"
                            .formatted(function, MAX_DEPTH, moduleName()));
        }
        if (depth == scopes.size()) {
            scopes.add(new Scope(this));
        }
        Scope scope = scopes.get(depth++);
        scope.enter(call);
        return scope;
    }

    /** The innermost call. */
    Scope scope() {
        if (depth == 0) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "functions of a program can be called by module '%s' only while it is called itself"
                            .formatted(moduleName()));
        }
        return scopes.get(depth - 1);
    }

    /** Ends a call; a deferred call keeps the scope until results arrive. */
    void leave(Scope scope, boolean later) {
        depth--;
        scope.leave();
        if (later) {
            scopes.set(depth, new Scope(this));
        } else {
            scope.close();
        }
    }

    @Override
    public void close() {
        interfaces.forEach(calls -> calls.values().forEach(NestedCall::close));
        if (owned && instance instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw Failures.of(e, moduleName(), instance.getClass().getSimpleName() + ".close()");
            }
        }
    }
}
