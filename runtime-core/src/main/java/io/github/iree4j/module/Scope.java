package io.github.iree4j.module;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmCall;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call of a Java method: the borrowed references, and the objects to free at the end of the call. Reused for later calls. */
final class Scope implements AutoCloseable {
    private final JavaState state;
    private final List<Object> borrowed = new ArrayList<>();
    private final List<RefCounted> kept = new ArrayList<>();
    /** Pairs of an adapter and a value to be freed by the adapter. */
    private final List<Object> opened = new ArrayList<>();

    private @Nullable VmCall call;
    private @Nullable Thread thread;
    private boolean deferred;

    Scope(JavaState state) {
        this.state = state;
    }

    JavaState state() {
        return state;
    }

    void enter(VmCall entered) {
        call = entered;
        thread = Thread.currentThread();
        deferred = false;
    }

    /** The method has returned, though results may be pending. */
    void leave() {
        call = null;
        thread = null;
    }

    VmCall call() {
        VmCall current = call;
        if (current == null || !Thread.currentThread().equals(thread)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "functions of a program can be called by a Java module only while it is called itself, on the thread of that call");
        }
        return current;
    }

    /** The object called by the context. */
    Object instance() {
        return state.instance();
    }

    /** The implementation of an interface of imports. */
    Object imported(int index) {
        return state.imported(index);
    }

    /** The method returned an incomplete future: nothing is freed before completion. */
    void defer() {
        deferred = true;
    }

    boolean isDeferred() {
        return deferred;
    }

    void borrow(Object reference) {
        borrowed.add(reference);
    }

    @SuppressWarnings("ReferenceEquality") // the very same object
    boolean isBorrowed(Object reference) {
        for (Object each : borrowed) {
            if (each == reference) {
                return true;
            }
        }
        return false;
    }

    /** Takes ownership of a reference returned by a nested call, until the end. */
    void keep(Object reference) {
        if (reference instanceof RefCounted counted) {
            kept.add(counted);
            borrowed.add(reference);
        }
    }

    void open(ReferenceAdapter<Object> adapter, Object value) {
        opened.add(adapter);
        opened.add(value);
    }

    /** Frees the opened values and kept references. */
    @Override
    @SuppressWarnings("unchecked")
    public void close() {
        borrowed.clear();
        try {
            for (int i = opened.size() - 2; i >= 0; i -= 2) {
                ((ReferenceAdapter<Object>) opened.get(i)).done(opened.get(i + 1));
            }
        } finally {
            opened.clear();
            kept.forEach(RefCounted::release);
            kept.clear();
        }
    }
}
