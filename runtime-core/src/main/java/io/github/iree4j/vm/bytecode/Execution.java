package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.ProgramTrace;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmWait;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionCode.ReturnSite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The stack of an invocation: frames of bytecode functions of any modules. Reused for successive calls. The stack grows
 * and never shrinks, so calls allocate nothing once the stack is deep enough.
 */
class Execution implements AutoCloseable {
    /*
     * Frames form a list that only grows, starting at the bottom. The frames up to the top frame are in use. The
     * interpreter tracks the top while running; otherwise the field top holds the top frame. Each frame has its own
     * arrays, at least as long as required by the frame's function, so that a register's ordinal is the index in the
     * array. References of unused frames are null; words of unused frames are undefined. A frame in use owns all of its
     * references.
     */
    /** Most frames in a failure, counting nested programs. */
    private static final int MAX_FRAMES_TRACED = 64;

    /** Calls between two cancellation checks. */
    private static final int CALLS = 100;

    /** Backward jumps in compiled code between two cancellation checks. */
    static final int JUMPS = 10_000;

    /**
     * Most frames of compiled functions on the thread's stack. Deeper functions are interpreted, with frames on the
     * heap, so the depth of recursion depends on {@link ContextOptions} and not on the thread.
     */
    private static final int COMPILED_FRAMES = 100;

    private final FrameStack frames;
    private final ImportCaller imports = new ImportCaller(this);
    private @Nullable VmCall root;
    private boolean busy;
    private @Nullable Frame top;
    private int callsUntilLook;

    /** Whether the running code has just deferred; compiled functions then save their registers, function by function, and return. */
    boolean deferred;

    /** Always zero, unknown to HotSpot. For {@link LoopEmitter#pad}. */
    int zero;

    /** Results of compiled functions without exactly one result. */
    long[] wordResults = {};

    private @Nullable Object[] refResults = {};

    /** Compiled functions called by the interpreter and still running. */
    private int nesting;

    /** Deepest frame that compiled code may use. */
    private int compiledDepth;

    /** The frame where the failure being propagated arose. */
    private @Nullable Frame failedAt;

    Execution(ContextOptions limits) {
        frames = new FrameStack(limits);
    }

    VmCall root() {
        return Objects.requireNonNull(root);
    }

    Frame top() {
        return Objects.requireNonNull(top);
    }

    /** Runs a root call until it returns or defers. */
    @SuppressWarnings("ReferenceEquality") // the same call need not be written again
    void start(FunctionCode function, BytecodeState state, VmCall call) {
        if (busy) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "a call is in progress on this stack");
        }
        busy = true;
        if (root != call) {
            root = call;
        }
        Frame frame = frames.bottom(function, state);
        deferred = false;
        CompiledUnit.Entry compiled = function.compiled();
        if (compiled == null) {
            if (function.heat > 0) {
                warm(function, state, 1);
            }
            frames.ready(frame, function, state);
            enter(frame, function, call);
            interpret(frame);
            return;
        }
        frames.fit(frame, function, state);
        nesting = 1;
        compiledDepth = COMPILED_FRAMES;
        try {
            if (compiled.unit().enter(compiled.index(), this, state, call, frame)) {
                busy = false;
            }
        } catch (Throwable e) {
            throw failed(e, frame, frame.pc, frame);
        } finally {
            nesting = 0;
        }
    }

    /** Continues a deferred call. */
    void resume() {
        deferred = false;
        interpret(frames.bottom());
    }

    private void interpret(Frame base) {
        ReturnSite results = Interpreter.run(this, base);
        if (results != null) {
            leave(results, base);
        }
    }

    /** Copies a call's arguments into the first registers. */
    void enter(Frame frame, FunctionCode function, VmCall call) {
        int[] words = frame.words;
        String letters = function.convention.arguments();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            switch (letters.charAt(i)) {
                case 'i' -> words[function.argumentWords[word++]] = call.i32();
                case 'f' -> words[function.argumentWords[word++]] = Float.floatToRawIntBits(call.f32());
                case 'I' -> {
                    Interpreter.putLong(words, function.argumentWords[word], call.i64());
                    word += 2;
                }
                case 'F' -> {
                    Interpreter.putLong(words, function.argumentWords[word], Double.doubleToRawLongBits(call.f64()));
                    word += 2;
                }
                default -> frame.refs[ref++] = References.retained(call.ref(Object.class));
            }
        }
        frame.pc = 0;
        top = frame;
    }

    /** Calls a function of bytecode: pushes a frame and passes the arguments. The caller's pc must be saved. */
    Frame call(FunctionCode callee, BytecodeState state, CallSite site, Frame caller) {
        lookNowAndThen();
        if (callee.heat > 0) {
            warm(callee, state, 1);
        }
        Frame frame = caller.next;
        if (frame == null) {
            frame = frames.add(caller, callee, state);
        }
        frames.ready(frame, callee, state);
        int[] source = caller.words;
        int[] target = frame.words;
        int[] from = site.argumentWords;
        int[] to = callee.argumentWords;
        for (int i = 0; i < from.length; i++) {
            target[to[i]] = source[from[i]];
        }
        int[] passed = site.argumentRefs;
        for (int i = 0; i < passed.length; i++) {
            frame.refs[i] = References.take(caller.refs, passed[i]);
        }
        if (frame.site != site) {
            frame.site = site;
        }
        return frame;
    }

    /** Counts calls of an interpreted function; loops in the function count as calls. */
    private static void warm(FunctionCode function, BytecodeState state, int calls) {
        int heat = Math.max(0, function.heat - calls);
        function.heat = heat;
        if (heat == 0) {
            state.module().compiler().request(function);
        }
    }

    /** Records that an interpreted function has jumped back often. The function is inside the loop. */
    void looped(FunctionCode function, BytecodeState state, int pc) {
        if (root().isCancelled()) {
            throw cancelled();
        }
        if (function.heat > 0) {
            warm(function, state, ModuleCompiler.LOOP);
        }
        if (function.loopHeat > 0 && --function.loopHeat == 0) {
            state.module().compiler().requestLoop(function, pc);
        }
    }

    private void lookNowAndThen() {
        if (--callsUntilLook < 0) {
            callsUntilLook = CALLS;
            if (root().isCancelled()) {
                throw cancelled();
            }
        }
    }

    // Methods called by compiled code.

    /** Checks for cancellation, and returns the number of backward jumps until the next check. */
    int look() {
        if (root().isCancelled()) {
            throw cancelled();
        }
        return JUMPS;
    }

    /** Pushes a frame for a compiled function. The function's registers are locals; the frame serves limits, failures and deferring. */
    Frame push(Frame caller, FunctionCode callee, BytecodeState state) {
        lookNowAndThen();
        Frame frame = caller.next;
        if (frame == null) {
            frame = frames.add(caller, callee, state);
        }
        if (callee.words > frame.words.length || callee.refs > frame.refs.length) {
            frames.fit(frame, callee, state);
        }
        return frame;
    }

    /** Whether a compiled function has to be interpreted because too many compiled functions are on the thread's stack. */
    boolean isTooDeep(Frame frame) {
        return frame.depth > compiledDepth;
    }

    /** Prepares the frame of a compiled function that is too deep; the arguments are stored in the frame next. */
    void prepare(Frame frame, FunctionCode function, BytecodeState state) {
        frame.function = function;
        frame.state = state;
        Arrays.fill(frame.words, 0, function.words, 0);
        frame.pc = 0;
    }

    /**
     * Interprets a compiled function that is too deep; the results are stored as multiple results are.
     *
     * @return false when the function has deferred
     */
    boolean interpretDeep(Frame frame) {
        top = frame;
        ReturnSite results = Interpreter.run(this, frame);
        if (results == null) {
            return false;
        }
        String letters = frame.function.convention.results();
        reserveResults(letters.length());
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            switch (letters.charAt(i)) {
                case 'i', 'f' -> wordResults[i] = frame.words[results.words[word++]];
                case 'I', 'F' -> {
                    wordResults[i] = Interpreter.getLong(frame.words, results.words[word]);
                    word += 2;
                }
                default -> refResults[i] = References.take(frame.refs, results.refs[ref++]);
            }
        }
        drop(frame);
        return true;
    }

    void reserveResults(int count) {
        if (wordResults.length < count) {
            wordResults = new long[count];
            refResults = new Object[count];
        }
    }

    void giveResult(@Nullable Object owned, int index) {
        refResults[index] = owned;
    }

    @Nullable
    Object takeResult(int index) {
        Object object = refResults[index];
        refResults[index] = null;
        return object;
    }

    /**
     * Calls an import whose arguments and results are in the frame's arrays.
     *
     * @return false when the import has deferred
     */
    boolean callImport(BytecodeState state, CallSite site, Frame frame) {
        LinkedImport linked = state.linked(site.callee);
        FunctionCode callee = linked.code();
        BytecodeState calleeState = linked.state();
        if (callee != null && calleeState != null) {
            return callFunction(callee, calleeState, site, frame);
        }
        return callNativeImport(linked, site, frame);
    }

    /** As {@link #callImport}, for a native function. */
    boolean callNativeImport(LinkedImport linked, CallSite site, Frame frame) {
        if (imports.call(linked, site, frame)) {
            return true;
        }
        deferred = true;
        top = frame;
        return false;
    }

    /** Calls a native import from an interpreted function; returns false when the import has deferred. */
    boolean callNative(LinkedImport linked, CallSite site, Frame frame) {
        return imports.call(linked, site, frame);
    }

    /** As {@link #callImport}, for a bytecode function. */
    boolean callFunction(FunctionCode callee, BytecodeState state, CallSite site, Frame caller) {
        CompiledUnit.Entry compiled = callee.compiled();
        if (compiled != null && caller.depth < compiledDepth) {
            return compiled.unit().call(compiled.index(), this, state, caller, site);
        }
        Frame frame = call(callee, state, site, caller);
        frame.pc = 0;
        top = frame;
        ReturnSite results = Interpreter.run(this, frame);
        if (results == null) {
            return false;
        }
        leave(results, frame, caller, site);
        return true;
    }

    /** Whether the interpreter should call the compiled form of a function. */
    boolean entersCompiled(FunctionCode callee, Frame caller) {
        return callee.compiled() != null && (nesting == 0 || caller.depth < compiledDepth);
    }

    /** Calls the compiled form of a function from an interpreted function. */
    boolean callCompiled(FunctionCode callee, BytecodeState state, CallSite site, Frame caller) {
        CompiledUnit.Entry compiled = Objects.requireNonNull(callee.compiled());
        if (nesting++ == 0) {
            compiledDepth = caller.depth + COMPILED_FRAMES;
        }
        try {
            if (compiled.unit().call(compiled.index(), this, state, caller, site)) {
                return true;
            }
            Objects.requireNonNull(caller.next).site = site;
            return false;
        } finally {
            nesting--;
        }
    }

    /**
     * Continues an interpreted frame in compiled parts of the function.
     *
     * @param pc the position in the frame: an entry of a part
     * @return where the interpreter continues; {@link CompiledParts#NOT_NOW} when nothing has changed; else the value
     *     returned by the last part
     */
    int enterPart(Frame frame, FunctionCode function, BytecodeState state, int pc) {
        CompiledParts parts = function.parts();
        if (parts == null || nesting > 0 && frame.depth > compiledDepth) {
            return CompiledParts.NOT_NOW;
        }
        if (nesting++ == 0) {
            compiledDepth = frame.depth + COMPILED_FRAMES;
        }
        try {
            int at = pc;
            for (int entry = parts.entryAt(pc); entry >= 0; entry = parts.entryAt(at)) {
                int next = parts.run(entry, this, frame, state);
                if (next < 0) {
                    return next;
                }
                if (next <= at && root().isCancelled()) {
                    frame.pc = next + 1;
                    throw cancelled();
                }
                at = next;
            }
            return at;
        } finally {
            nesting--;
        }
    }

    /** Records that a compiled function is about to yield. */
    void yielding(Frame frame) {
        deferred = true;
        top = frame;
        root().defer(VmWait.NONE);
    }

    /** Records that a compiled function has saved the registers into the frame, for the interpreter to continue. */
    void suspend(Frame frame, FunctionCode function, BytecodeState state, int pc) {
        frame.function = function;
        frame.state = state;
        frame.pc = pc;
    }

    /** As {@link #suspend}, at a call that has deferred. An import is called again; the return of a bytecode function is awaited. */
    void suspendAtCall(Frame frame, FunctionCode function, BytecodeState state, CallSite site, int pc) {
        if (top == frame) {
            suspend(frame, function, state, pc);
        } else {
            suspend(frame, function, state, pc + 1);
            Objects.requireNonNull(frame.next).site = site;
        }
    }

    /** Records a failure in a compiled function or in a callee. */
    void failing(Frame frame, FunctionCode function, BytecodeState state, int pc) {
        suspend(frame, function, state, pc);
        if (failedAt == null) {
            failedAt = frame;
        }
        References.clear(frame.refs, function.refs);
    }

    // Methods called by the interpreter.

    /** Returns to a bytecode caller: passes the results and empties the frame. */
    void leave(ReturnSite results, Frame callee, Frame caller, CallSite site) {
        int[] from = results.words;
        int[] to = site.resultWords;
        for (int i = 0; i < from.length; i++) {
            caller.words[to[i]] = callee.words[from[i]];
        }
        int[] passed = results.refs;
        for (int i = 0; i < passed.length; i++) {
            Object object = References.take(callee.refs, passed[i]);
            References.put(caller.refs, site.resultRefs[i] & ~Code.MOVE, object);
        }
        drop(callee);
    }

    /** Returns from the root call: sets the results of the call and pops the last frame. */
    void leave(ReturnSite results, Frame frame) {
        VmCall call = root();
        int[] words = frame.words;
        String letters = frame.function.convention.results();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            switch (letters.charAt(i)) {
                case 'i' -> call.returnI32(words[results.words[word++]]);
                case 'f' -> call.returnF32(Float.intBitsToFloat(words[results.words[word++]]));
                case 'I' -> {
                    call.returnI64(Interpreter.getLong(words, results.words[word]));
                    word += 2;
                }
                case 'F' -> {
                    call.returnF64(Double.longBitsToDouble(Interpreter.getLong(words, results.words[word])));
                    word += 2;
                }
                default -> call.returnRef(References.take(frame.refs, results.refs[ref++]));
            }
        }
        drop(frame);
        top = null;
        busy = false;
    }

    /** Records the position for resuming the call. */
    void pause(Frame frame, int pc) {
        frame.pc = pc;
        top = frame;
        deferred = true;
    }

    IreeException cancelled() {
        return IreeException.of(StatusCode.CANCELLED, "call of '" + root().calledAs() + "' was cancelled");
    }

    /**
     * Unwinds after a failure and finally adds the origin of the failure.
     *
     * @param pc the position in the frame; negative when the frame has recorded the position
     * @param base the last frame to unwind
     */
    RuntimeException failed(Throwable failure, Frame frame, int pc, Frame base) {
        if (pc >= 0) {
            frame.pc = pc;
        }
        Frame origin = failedAt == null ? frame : failedAt;
        failedAt = origin;
        if (base.caller != null) {
            for (Frame f = frame; f != base.caller; f = Objects.requireNonNull(f.caller)) {
                drop(f);
            }
            return rethrown(failure);
        }
        failedAt = null;
        top = frame;
        ProgramTrace trace = origin.trace();
        String where = origin.text(trace);
        unwind();
        return switch (failure) {
            case IreeException e -> traced(e.code(), e.getMessage() + "; " + where, e, trace);
            case OutOfMemoryError e -> traced(StatusCode.RESOURCE_EXHAUSTED, "no heap left; " + where, e, trace);
            case StackOverflowError e ->
                traced(StatusCode.RESOURCE_EXHAUSTED, "no thread stack left; " + where, e, trace);
            case Error e -> throw e;
            default ->
                traced(StatusCode.INTERNAL, "unexpected failure: %s; %s".formatted(failure, where), failure, trace);
        };
    }

    /** Creates a failure with a stack trace beginning in the program; the stack trace of nested programs stays with the cause. */
    private static IreeException traced(StatusCode code, String message, Throwable cause, ProgramTrace trace) {
        ProgramTrace within =
                cause instanceof IreeException e ? e.detail(ProgramTrace.class).orElse(null) : null;
        List<ProgramTrace.Frame> frames = new ArrayList<>();
        if (within != null && within.frames().size() < MAX_FRAMES_TRACED) {
            frames.addAll(within.frames());
        }
        frames.addAll(trace.frames());
        IreeException failure = IreeException.of(code, message, cause, new ProgramTrace(frames));
        List<StackTraceElement> stack = new ArrayList<>(trace.elements());
        Arrays.stream(failure.getStackTrace())
                .dropWhile(each -> each.getClassName().equals(IreeException.class.getName()))
                .forEach(stack::add);
        failure.setStackTrace(stack.toArray(StackTraceElement[]::new));
        return failure;
    }

    /** Rethrows the failure of a function above this run's frames. */
    @SuppressWarnings("unchecked")
    private static <T extends Throwable> RuntimeException rethrown(Throwable failure) throws T {
        throw (T) failure;
    }

    /** Abandons any call in progress. */
    @Override
    public void close() {
        imports.giveUp();
        unwind();
    }

    private void unwind() {
        for (Frame frame = top; frame != null; frame = frame.caller) {
            drop(frame);
        }
        top = null;
        imports.forget();
        busy = false;
    }

    private static void drop(Frame frame) {
        int count = frame.function.refs;
        if (count != 0) {
            References.clear(frame.refs, count);
        }
    }
}
