package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import java.util.Map;

/**
 * How much of a module runs as Java bytecode.
 *
 * @param functions functions of the module
 * @param compiled functions currently running as Java bytecode
 * @param refused functions that could not be compiled and stay interpreted, with the reason, by name
 */
@NotForApplications
public record CompilationReport(int functions, int compiled, Map<String, String> refused) {
    /**
     * Creates a report.
     *
     * @param refused copied
     */
    public CompilationReport {
        refused = Map.copyOf(refused);
    }
}
