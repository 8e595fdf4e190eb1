package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

/**
 * A call of an import in compiled code. The import's binding in the first context reaching the site becomes a constant,
 * so that HotSpot inlines functions written in Java. When another context reaches the site or the first context ends,
 * the call is resolved again.
 *
 * <p>Any thread may bind the site. The winning binding is correct for its context, and checks for other contexts.
 */
final class ImportSite extends MutableCallSite {
    /** Most successive bindings; afterwards the site resolves the target on each call. */
    private static final int MAX_BINDINGS = 4;

    private static final MethodHandle BIND;
    private static final MethodHandle IS_BOUND;
    private static final MethodHandle CALL_BYTECODE;
    private static final MethodHandle CALL_NATIVE;
    private static final MethodHandle CALL_ANY;

    static {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        try {
            MethodType type = MethodType.methodType(
                    boolean.class, Execution.class, BytecodeState.class, CallSite.class, Frame.class);
            BIND = lookup.findVirtual(ImportSite.class, "bindAndCall", type);
            CALL_ANY = lookup.findVirtual(Execution.class, "callImport", type.dropParameterTypes(0, 1));
            IS_BOUND = lookup.findStatic(
                    ImportSite.class,
                    "isBound",
                    MethodType.methodType(boolean.class, BytecodeState.class, Execution.class, BytecodeState.class));
            MethodType linked = type.insertParameterTypes(0, LinkedImport.class);
            CALL_BYTECODE = lookup.findStatic(ImportSite.class, "callBytecode", linked);
            CALL_NATIVE = lookup.findStatic(ImportSite.class, "callNative", linked);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int bindings;

    private ImportSite(MethodType type) {
        super(type);
        setTarget(BIND.bindTo(this));
    }

    /** The bootstrap method of calls in compiled classes. */
    static java.lang.invoke.CallSite bind(MethodHandles.Lookup caller, String name, MethodType type, CallSite site) {
        return new ImportSite(type);
    }

    /** Binds at the first call, and at the first call after a context has ended. */
    @SuppressWarnings("unused") // called through BIND
    private boolean bindAndCall(Execution x, BytecodeState state, CallSite site, Frame frame) {
        LinkedImport linked = state.linked(site.callee);
        synchronized (this) {
            if (bindings++ < MAX_BINDINGS && state.isToldWhenClosed(this)) {
                MethodHandle call = linked.code() == null ? CALL_NATIVE : CALL_BYTECODE;
                setTarget(MethodHandles.guardWithTest(IS_BOUND.bindTo(state), call.bindTo(linked), CALL_ANY));
            } else {
                setTarget(CALL_ANY);
            }
        }
        return x.callImport(state, site, frame);
    }

    /** Forgets a context that has ended, so the context is not retained. */
    synchronized void unbind() {
        setTarget(bindings < MAX_BINDINGS ? BIND.bindTo(this) : CALL_ANY);
    }

    @SuppressWarnings({"unused", "ReferenceEquality"}) // called through IS_BOUND
    private static boolean isBound(BytecodeState bound, Execution x, BytecodeState state) {
        return bound == state;
    }

    @SuppressWarnings({"unused", "NullAway"}) // called through CALL_BYTECODE, for imports that are bytecode
    private static boolean callBytecode(
            LinkedImport linked, Execution x, BytecodeState state, CallSite site, Frame frame) {
        return x.callFunction(linked.code(), linked.state(), site, frame);
    }

    @SuppressWarnings("unused") // called through CALL_NATIVE
    private static boolean callNative(
            LinkedImport linked, Execution x, BytecodeState state, CallSite site, Frame frame) {
        return x.callNativeImport(linked, site, frame);
    }
}
