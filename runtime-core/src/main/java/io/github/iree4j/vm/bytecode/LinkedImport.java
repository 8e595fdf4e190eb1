package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmCallable;
import io.github.iree4j.vm.VmFunction;
import org.jspecify.annotations.Nullable;

/**
 * The binding of an import.
 *
 * @param function the function found
 * @param target how to call it
 * @param code the function's code, if it is bytecode, which can run on the caller's stack
 * @param state the state it runs in, if it is bytecode
 */
record LinkedImport(
        VmFunction function,
        VmCallable target,
        @Nullable FunctionCode code,
        @Nullable BytecodeState state) {}
