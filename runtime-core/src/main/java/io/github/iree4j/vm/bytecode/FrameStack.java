package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.ContextOptions;
import org.jspecify.annotations.Nullable;

/** Creates frames and their registers, within the limits. */
final class FrameStack {
    private static final int MIN_REGISTERS = 8;

    private final ContextOptions limits;
    private @Nullable Frame bottom;

    /** Registers of all frames, used or not. */
    private int registers;

    FrameStack(ContextOptions limits) {
        this.limits = limits;
    }

    /** Returns the first frame. */
    Frame bottom(FunctionCode function, BytecodeState state) {
        Frame frame = bottom;
        if (frame == null) {
            frame = new Frame(null, function, state);
            bottom = frame;
        }
        return frame;
    }

    Frame bottom() {
        Frame frame = bottom;
        if (frame == null) {
            throw new IllegalStateException("nothing has been called");
        }
        return frame;
    }

    /** Adds a frame above the topmost frame. */
    Frame add(Frame caller, FunctionCode function, BytecodeState state) {
        if (caller.depth >= limits.maxCallDepth()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "calling '%s' needs frame %d and the limit is %d; is the recursion endless?"
                            .formatted(function.name, caller.depth + 1, limits.maxCallDepth()));
        }
        Frame frame = new Frame(caller, function, state);
        caller.next = frame;
        return frame;
    }

    /** Makes room in a frame for a compiled function's registers. */
    void fit(Frame frame, FunctionCode function, BytecodeState state) {
        own(frame, function, state);
        frame.pc = 0;
        if (function.words > frame.words.length || function.refs > frame.refs.length) {
            grow(frame);
        }
    }

    /** Assigns a frame to a function: makes room for the function's registers, and zeroes the words. */
    void ready(Frame frame, FunctionCode function, BytecodeState state) {
        own(frame, function, state);
        int[] words = frame.words;
        if (function.words > words.length || function.refs > frame.refs.length) {
            grow(frame);
        } else {
            // Argument registers need no zeroing.
            for (int i = function.firstZeroed; i < function.words; i++) {
                words[i] = 0;
            }
        }
    }

    /** Sets the owner without needless writes. Frames are old objects, and writing references to old objects is expensive (GC barriers). */
    private static void own(Frame frame, FunctionCode function, BytecodeState state) {
        if (frame.function != function) {
            frame.function = function;
        }
        if (frame.state != state) {
            frame.state = state;
        }
    }

    private void grow(Frame frame) {
        FunctionCode function = frame.function;
        int words = Math.max(function.words, Math.max(MIN_REGISTERS, frame.words.length));
        int refs = Math.max(function.refs, Math.max(MIN_REGISTERS, frame.refs.length));
        int more = words - frame.words.length + refs - frame.refs.length;
        if (more > limits.maxStackWords() - registers) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "calling '%s' takes %d registers on top of %d and the limit is %d; is the recursion endless?"
                            .formatted(function.name, more, registers, limits.maxStackWords()));
        }
        registers += more;
        frame.words = new int[words];
        frame.refs = new Object[refs];
    }
}
