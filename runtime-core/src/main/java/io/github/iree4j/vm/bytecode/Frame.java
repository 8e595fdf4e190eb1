package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.ProgramTrace;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An activation of a function. Pooled. */
final class Frame {
    private static final int MAX_FRAMES_TOLD = 16;

    /** The frame below; null at the bottom. */
    final @Nullable Frame caller;

    /** Depth on the stack, 1 at the bottom. */
    final int depth;

    /** The frame above, or null if none has been created. */
    @Nullable
    Frame next;

    FunctionCode function;
    BytecodeState state;

    /** The call site of this activation; undefined at the bottom. */
    @Nullable
    CallSite site;

    int[] words = {};

    @Nullable
    Object[] refs = {};

    /** Index after the current instruction, while another frame is above or the call is deferred. */
    int pc;

    Frame(@Nullable Frame caller, FunctionCode function, BytecodeState state) {
        this.caller = caller;
        this.function = function;
        this.state = state;
        depth = caller == null ? 1 : caller.depth + 1;
    }

    CallSite site() {
        return Objects.requireNonNull(site);
    }

    /** Returns the positions of this frame and of the frames below. */
    ProgramTrace trace() {
        List<ProgramTrace.Frame> frames = new ArrayList<>();
        for (Frame frame = this; frame != null && frames.size() < MAX_FRAMES_TOLD; frame = frame.caller) {
            int offset = frame.function.offsetOf(frame.pc - 1);
            frames.add(new ProgramTrace.Frame(
                    frame.state.module().name(),
                    frame.function.name,
                    offset,
                    frame.state.module().sourcesOf(frame.function.ordinal, offset)));
        }
        return new ProgramTrace(frames);
    }

    /** Formats a trace as a line of text. */
    String text(ProgramTrace trace) {
        List<String> lines = new ArrayList<>();
        for (ProgramTrace.Frame frame : trace.frames()) {
            lines.add("in @%s.%s+0x%x%s"
                    .formatted(
                            frame.module(),
                            frame.function(),
                            frame.offset(),
                            frame.sources().isEmpty()
                                    ? ""
                                    : " (" + frame.sources().getFirst() + ")"));
        }
        if (depth > MAX_FRAMES_TOLD) {
            lines.add("and %d more".formatted(depth - MAX_FRAMES_TOLD));
        }
        return String.join(", ", lines);
    }
}
