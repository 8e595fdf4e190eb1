package io.github.iree4j.vm.bytecode;

import java.util.Map;

/**
 * How much of a module runs as Java bytecode.
 *
 * @param functions functions of the module
 * @param compiled those that run as Java bytecode by now
 * @param refused those that stay interpreted although they were to be compiled, and why, by name
 */
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
