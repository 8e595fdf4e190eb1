package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmCallable;
import io.github.iree4j.vm.VmFunction;
import org.jspecify.annotations.Nullable;

/**
 * The binding of an import.
 *
 * @param function the function found
 * @param target the callable form of the function
 * @param code the code of a bytecode function, able to run on the caller's stack; else null
 * @param state the state of a bytecode function; else null
 */
record LinkedImport(
        VmFunction function,
        VmCallable target,
        @Nullable FunctionCode code,
        @Nullable BytecodeState state) {}
