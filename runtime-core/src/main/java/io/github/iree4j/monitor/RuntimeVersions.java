package io.github.iree4j.monitor;

import java.util.List;

/**
 * The versions of a runtime and of the supported programs.
 *
 * @param runtime the runtime's version; {@code development} outside a jar
 * @param bytecode the supported versions of bytecode, such as {@code 17.0}, oldest first
 * @param hal the version of the device imports provided to programs
 */
public record RuntimeVersions(String runtime, List<String> bytecode, int hal) {
    /** Copies. */
    public RuntimeVersions {
        bytecode = List.copyOf(bytecode);
    }
}
