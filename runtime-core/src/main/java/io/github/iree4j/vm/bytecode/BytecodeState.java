package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.MemoryBudget;
import io.github.iree4j.vm.UnresolvedImport;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmCallable;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmImport;
import io.github.iree4j.vm.VmModuleState;
import io.github.iree4j.vm.VmType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The state of a bytecode module in a context: globals and bound imports. Retains the module. */
final class BytecodeState implements VmModuleState {
    private final BytecodeModule module;
    private final ContextOptions options;
    final FunctionCode[] functions;
    final @Nullable LinkedImport[] imports;
    final byte[] globals;
    final @Nullable Object[] globalRefs;
    final MemoryBudget budget;
    final VmType[] types;
    final VmBuffer[] rodata;
    private boolean closed;

    /** Call sites in compiled code with imports linked here as constants; null once this state is closed. Guarded by this. */
    private @Nullable List<ImportSite> bound = new ArrayList<>();

    BytecodeState(
            BytecodeModule module, ContextOptions options, FunctionCode[] functions, int globalBytes, int globalRefs) {
        module.retain();
        this.module = module;
        this.options = options;
        this.functions = functions;
        imports = new LinkedImport[module.imports().size()];
        globals = new byte[globalBytes];
        this.globalRefs = new Object[globalRefs];
        types = module.types();
        rodata = module.rodata();
        budget = new MemoryBudget(options.maxMemory());
    }

    BytecodeModule module() {
        return module;
    }

    @Override
    public void link(int importOrdinal, VmFunction function, VmCallable target) {
        VmImport wanted = module.imports().get(importOrdinal);
        CallingConvention convention = module.importConvention(importOrdinal);
        if (!function.convention().matches(convention)) {
            throw IreeException.of(
                    StatusCode.INTERNAL,
                    "module '%s' calls '%s' with convention '%s', but it has '%s'"
                            .formatted(module.name(), wanted.fullName(), convention, function.convention()));
        }
        imports[importOrdinal] = target instanceof Entry entry
                ? new LinkedImport(function, target, entry.code, entry.state)
                : new LinkedImport(function, target, null, null);
    }

    @Override
    public VmCallable callable(VmFunction export) {
        return new Entry(this, functions[export.ordinal()]);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            List<ImportSite> sites;
            synchronized (this) {
                sites = bound;
                bound = null;
            }
            if (sites != null) {
                sites.forEach(ImportSite::unbind);
            }
            References.clear(globalRefs, globalRefs.length);
            module.release();
        }
    }

    /** Registers a call site to be unbound when this state is closed; returns false when already closed. */
    synchronized boolean isToldWhenClosed(ImportSite site) {
        return bound != null && bound.add(site);
    }

    /** Returns the function bound to an import. */
    LinkedImport linked(int ordinal) {
        LinkedImport linked = imports[ordinal];
        if (linked == null) {
            throw missing(module.imports().get(ordinal));
        }
        return linked;
    }

    private IreeException missing(VmImport wanted) {
        boolean moduleIsThere = IntStream.range(0, imports.length)
                .anyMatch(i ->
                        imports[i] != null && module.imports().get(i).module().equals(wanted.module()));
        return IreeException.of(
                StatusCode.NOT_FOUND,
                "optional import '%s' with convention '%s' was not found when module '%s' was linked"
                        .formatted(wanted.fullName(), wanted.callingConvention(), module.name()),
                null,
                new UnresolvedImport(module.name(), wanted.module(), moduleIsThere));
    }

    /** The entry of an export called from outside. */
    private static final class Entry implements VmCallable {
        private final BytecodeState state;
        private final FunctionCode code;

        Entry(BytecodeState state, FunctionCode code) {
            this.state = state;
            this.code = code;
        }

        @Override
        public void call(VmCall call) {
            Execution execution;
            if (call.attachment() instanceof Execution kept) {
                execution = kept;
            } else if (call.resumed()) {
                throw IreeException.of(
                        StatusCode.INTERNAL, "a call of '" + code.name + "' was resumed but has no stack");
            } else {
                CallTracer tracer = state.module.tracer();
                execution = tracer == null ? new Execution(state.options) : new TracedExecution(state.options, tracer);
                call.attach(execution);
            }
            if (call.resumed()) {
                execution.resume();
            } else {
                execution.start(code, state, call);
            }
        }
    }
}
