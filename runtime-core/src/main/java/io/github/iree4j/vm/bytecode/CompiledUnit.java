package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;

/** Functions of one module that were compiled together. Subclasses are generated. */
abstract class CompiledUnit {

    /**
     * Calls a function from outside.
     *
     * @param index which function of the unit
     * @param x the stack
     * @param state the module's state
     * @param call arguments and results
     * @param frame the function's frame
     * @return false when it has deferred; the interpreter continues with its frames
     */
    abstract boolean enter(int index, Execution x, BytecodeState state, VmCall call, Frame frame);

    /**
     * Calls a function from an interpreted frame, or one whose registers for this call are in its arrays.
     *
     * @param index which function of the unit
     * @param x the stack
     * @param state the module's state
     * @param caller the frame below
     * @param site the arguments, and where results go
     * @return false when it has deferred; the interpreter continues with its frame and those above, the caller handles its own frame
     */
    abstract boolean call(int index, Execution x, BytecodeState state, Frame caller, CallSite site);

    /**
     * Continues a frame of the interpreter in a part.
     *
     * @param index which entry of the unit's parts
     * @param x the stack
     * @param frame the frame, which holds all registers
     * @param state the module's state
     * @return as specified by {@link FunctionEmitter}
     */
    abstract int part(int index, Execution x, Frame frame, BytecodeState state);

    /**
     * One function of a unit.
     *
     * @param unit the unit
     * @param index which of its functions
     */
    record Entry(CompiledUnit unit, int index) {}
}
