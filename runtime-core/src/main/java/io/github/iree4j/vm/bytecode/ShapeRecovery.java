package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmImport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the shapes proven by functions of a module, callees first. Work is limited for each function and for all
 * functions. Functions beyond the limit, recursive functions and too deeply nested functions prove nothing.
 */
final class ShapeRecovery {
    /** Approximate work limits, in registers visited. */
    static final long MAX_WORK_OF_FUNCTION = 8_000_000;

    static final long MAX_WORK = 32_000_000;

    private static final int MAX_DEPTH = 16;

    /** The effect of an import. */
    enum Role {
        /** Fails unless a view has this type and shape. */
        CHECK,
        /** Returns a view. */
        CREATE,
        /** Returns a dimension of a view. */
        DIMENSION,
        /** Anything else. */
        OTHER
    }

    private final FunctionCode[] functions;
    private final IntFunction<FunctionGraph> graphs;
    private final Role[] roles; // per import
    // null while a summary is being made
    private final Map<Integer, @Nullable ShapeSummary> summaries = new HashMap<>();
    private long left = MAX_WORK;

    /**
     * Prepares the recovery.
     *
     * @param functions the functions of the module
     * @param graphs decodes a function
     * @param imports the imports of the module
     * @param views prefixes of the names of the imports on views
     */
    ShapeRecovery(
            FunctionCode[] functions, IntFunction<FunctionGraph> graphs, List<VmImport> imports, Set<String> views) {
        this.functions = functions;
        this.graphs = graphs;
        roles = imports.stream().map(each -> roleOf(each, views)).toArray(Role[]::new);
    }

    private static Role roleOf(VmImport function, Set<String> views) {
        String name = function.fullName();
        int end = name.lastIndexOf('.');
        if (end < 0 || !views.contains(name.substring(0, end))) {
            return Role.OTHER;
        }
        return switch (name.substring(end + 1) + " " + function.callingConvention()) {
            case "assert 0rriiCID_v" -> Role.CHECK;
            case "create 0rIIiiCID_r" -> Role.CREATE;
            case "dim 0ri_I" -> Role.DIMENSION;
            default -> Role.OTHER;
        };
    }

    Role role(int importOrdinal) {
        return roles[importOrdinal];
    }

    /** Returns the facts at returns of a function examined earlier; null when nothing is known. */
    @Nullable
    ShapeSummary known(int function) {
        return summaries.get(function);
    }

    /** Returns the shapes proven by a function. */
    ProvenShapes proven(int function) {
        find(function, 0);
        ShapeSummary summary = known(function);
        return summary != null
                ? summary.proven()
                : new ProvenShapes(
                        new ProvenShape
                                [functions[function].convention.arguments().length()],
                        new ProvenShape[functions[function].convention.results().length()]);
    }

    private void find(int function, int depth) {
        if (depth > MAX_DEPTH || summaries.containsKey(function)) {
            return;
        }
        summaries.put(function, null);
        for (FunctionCode.CallSite site : functions[function].sites) {
            if (!site.isImport) {
                find(site.callee, depth + 1);
            }
        }
        long allowed = Math.min(left, MAX_WORK_OF_FUNCTION);
        if (allowed > 0) {
            ShapeFlow flow = new ShapeFlow(graphs.apply(function), this, allowed);
            summaries.put(function, flow.summary());
            left -= allowed - flow.left();
        }
    }
}
