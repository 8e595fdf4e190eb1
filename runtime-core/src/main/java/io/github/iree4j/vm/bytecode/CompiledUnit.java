package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;

/** Functions of a module compiled together. Subclasses are generated. */
abstract class CompiledUnit {

    /**
     * Calls a function from outside.
     *
     * @param index the index of the function in the unit
     * @param x the stack
     * @param state the module's state
     * @param call arguments and results
     * @param frame the function's frame
     * @return false when the function has deferred; the interpreter continues with the function's frames
     */
    abstract boolean enter(int index, Execution x, BytecodeState state, VmCall call, Frame frame);

    /**
     * Calls a function from an interpreted frame, or from a compiled frame with the registers for this call in the
     * frame's arrays.
     *
     * @param index the index of the function in the unit
     * @param x the stack
     * @param state the module's state
     * @param caller the frame below
     * @param site the registers of arguments and results
     * @return false when the function has deferred; the interpreter continues with the function's frame and the frames
     *     above, and the caller handles the caller's frame
     */
    abstract boolean call(int index, Execution x, BytecodeState state, Frame caller, CallSite site);

    /**
     * Continues a frame of the interpreter in a part.
     *
     * @param index the index of the entry among the unit's parts
     * @param x the stack
     * @param frame the frame holding all registers
     * @param state the module's state
     * @return as specified by {@link FunctionEmitter}
     */
    abstract int part(int index, Execution x, Frame frame, BytecodeState state);

    /**
     * A function of a unit.
     *
     * @param unit the unit
     * @param index the index of the function in the unit
     */
    record Entry(CompiledUnit unit, int index) {}
}
