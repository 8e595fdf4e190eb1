package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.isa.Isa;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether and when functions of a module are compiled together: a frequently called function with the callees,
 * on a thread shared by all modules.
 *
 * <p>VM-3: interpreters see a compiled function completely or not at all; interpreters read
 * {@link FunctionCode#compiled()} on each call, and an interpreted frame stays interpreted until reaching a compiled
 * part.
 */
final class ModuleCompiler {
    /** Calls of a function before compilation. */
    static final int CALLS = 500;

    /** The number of calls counted for ten thousand backward jumps in one function. */
    static final int LOOP = 250;

    /** Rounds of ten thousand backward jumps in an interpreted function before the current loop is compiled. */
    static final int LOOPS = 3;

    /** Most loops of a function compiled in this way. */
    private static final int MAX_LOOPS = 8;

    /** Most longs of code in a class. */
    private static final int MAX_UNIT = 20_000;

    /** Most longs of code compiled for a module, counting recompilations. */
    private static final int MAX_MODULE = 2_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(ModuleCompiler.class);

    private final String name;
    private final FunctionCode[] functions;
    private final Isa isa;
    private final ModuleDef def;
    private final Map<String, String> refused = new LinkedHashMap<>();
    private final boolean[] given;
    private int spent;

    ModuleCompiler(String name, FunctionCode[] functions, Isa isa, ModuleDef def) {
        this.name = name;
        this.functions = functions;
        this.isa = isa;
        this.def = def;
        given = new boolean[functions.length];
    }

    /** Starts counting calls, to compile frequently called functions. */
    void watch() {
        for (FunctionCode function : functions) {
            function.heat = CALLS;
        }
        watchLoops();
    }

    /** Starts counting backward jumps, to compile loops that threads are executing. */
    private void watchLoops() {
        for (FunctionCode function : functions) {
            function.loopHeat = LOOPS;
        }
    }

    /** Compiles everything now. */
    void compileAll() {
        List<FunctionCode> unit = new ArrayList<>();
        int size = 0;
        for (FunctionCode function : functions) {
            if (size + function.code.length > MAX_UNIT && !unit.isEmpty()) {
                compile(unit, null, 0);
                unit = new ArrayList<>();
                size = 0;
            }
            if (isAffordable(function)) {
                unit.add(function);
                size += function.code.length;
            }
        }
        compile(unit, null, 0);
        watchLoops(); // for functions that have deferred and continue interpreted
    }

    /** Compiles a function soon. Never blocks and never fails; a function that cannot be compiled stays interpreted. */
    void request(FunctionCode function) {
        boolean taken = CompilerThread.execute(() -> {
            if (function.compiled() == null && function.parts() == null) {
                compile(unitOf(function), null, 0);
            }
        });
        if (!taken) {
            function.heat = CALLS; // request again later
        }
    }

    /** Compiles the loop around an instruction soon, so that threads in the loop continue in compiled code. As {@link #request}. */
    void requestLoop(FunctionCode function, int pc) {
        boolean taken = CompilerThread.execute(() -> {
            CompiledParts known = function.parts();
            int before = known == null ? 0 : known.entries();
            if (before < MAX_LOOPS) {
                compile(unitOf(function), function, pc);
                CompiledParts now = function.parts();
                if (now != null && now.entries() > before) {
                    function.loopHeat = LOOPS; // the next loop
                }
            }
        });
        if (!taken) {
            function.loopHeat = LOOPS;
        }
    }

    CompilationReport report() {
        int compiled = 0;
        for (FunctionCode function : functions) {
            boolean isEntered = function.parts() != null && (char) function.running()[0] == Code.ENTER;
            compiled += function.compiled() != null || isEntered ? 1 : 0;
        }
        synchronized (refused) {
            return new CompilationReport(functions.length, compiled, refused);
        }
    }

    /** Called by one thread at a time: the thread reading the module, or the compiler thread. */
    private void compile(List<FunctionCode> unit, @Nullable FunctionCode looping, int pc) {
        if (unit.isEmpty() && looping == null) {
            return;
        }
        try {
            UnitCompiler compiler = new UnitCompiler(functions, isa, def);
            compiler.compile(unit, looping, pc);
            compiler.refused().forEach(this::refuse);
        } catch (RuntimeException | LinkageError | OutOfMemoryError | StackOverflowError e) {
            LOG.warn(
                    "function '{}' of module '{}' and {} others stay interpreted, with the same results but slower",
                    (looping == null ? unit.getFirst() : looping).name,
                    name,
                    Math.max(0, unit.size() - 1),
                    e);
            unit.forEach(function -> refuse(function.ordinal, e.toString()));
        }
    }

    private void refuse(int ordinal, String reason) {
        given[ordinal] = true;
        synchronized (refused) {
            refused.put(functions[ordinal].name, reason);
        }
    }

    private boolean isAffordable(FunctionCode function) {
        if (spent + function.code.length > MAX_MODULE) {
            refuse(function.ordinal, "%d instruction words were compiled before it".formatted(spent));
            return false;
        }
        spent += function.code.length;
        return true;
    }

    /**
     * Collects a function and all callees, so that calls stay within one class. Callees compiled earlier are compiled
     * again, since callers become hot after callees.
     */
    private List<FunctionCode> unitOf(FunctionCode hot) {
        List<FunctionCode> unit = new ArrayList<>();
        boolean[] seen = given.clone();
        ArrayDeque<FunctionCode> pending = new ArrayDeque<>();
        if (!seen[hot.ordinal]) {
            pending.add(hot);
            seen[hot.ordinal] = true;
        }
        int size = 0;
        while (!pending.isEmpty()) {
            FunctionCode function = pending.remove();
            if (size + function.code.length > MAX_UNIT && !unit.isEmpty()) {
                continue;
            }
            if (!isAffordable(function)) {
                continue;
            }
            size += function.code.length;
            unit.add(function);
            for (FunctionCode.CallSite site : function.sites) {
                if (!site.isImport && !seen[site.callee]) {
                    seen[site.callee] = true;
                    pending.add(functions[site.callee]);
                }
            }
        }
        return unit;
    }
}
