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
     * @return false when it has deferred; its frames are what the interpreter goes on with
     */
    abstract boolean enter(int index, Execution x, BytecodeState state, VmCall call, Frame frame);

    /**
     * Calls a function from a frame that is interpreted, or whose registers for this call are in its arrays.
     *
     * @param index which function of the unit
     * @param x the stack
     * @param state the module's state
     * @param caller the frame below
     * @param site what is passed and where results go
     * @return false when it has deferred; its frame and those above are what the interpreter goes on with, the caller's is up to the caller
     */
    abstract boolean call(int index, Execution x, BytecodeState state, Frame caller, CallSite site);

    /**
     * Goes on with a frame of the interpreter in a part.
     *
     * @param index which entry of the unit's parts
     * @param x the stack
     * @param frame the frame, where everything is
     * @param state the module's state
     * @return as {@link FunctionEmitter} says
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
