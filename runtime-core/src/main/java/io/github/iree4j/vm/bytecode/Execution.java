package io.github.iree4j.vm.bytecode;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.ContextOptions;
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
 * The stack of one invocation: frames of bytecode functions, of whatever modules, as windows of two arrays. Kept with the invocation and
 * used for one call after the other; grows and never shrinks.
 */
final class Execution implements AutoCloseable {
    /*
     * Frames follow each other without gaps: a frame's window begins where its caller's ends. References above the top frame's window are
     * null; words there are anything. Every reference in a window is owned by it.
     */
    private static final int INITIAL_WORDS = 64;

    private static final int INITIAL_FRAMES = 8;
    private static final int MAX_FRAMES_TOLD = 16;

    /** One activation of a function. Pooled. */
    static final class Frame {
        FunctionCode function;
        BytecodeState state;

        /** The call it came from; null at the bottom. */
        @Nullable
        CallSite site;

        int base;
        int refBase;

        /** After the instruction it is at, while another frame is above it or the call is deferred. */
        int pc;

        Frame(FunctionCode function, BytecodeState state) {
            this.function = function;
            this.state = state;
        }
    }

    private final ContextOptions limits;
    private final ImportCall importCall = new ImportCall();
    private @Nullable VmCall root;
    private @Nullable Frame[] frames;
    private int depth;

    int[] words = new int[INITIAL_WORDS];

    @Nullable
    Object[] refs = new Object[INITIAL_WORDS];

    /** Whether the top frame is at a call of an import that has deferred. */
    private boolean importPending;

    Execution(ContextOptions limits) {
        this.limits = limits;
        frames = new Frame[Math.min(INITIAL_FRAMES, limits.maxCallDepth())];
    }

    VmCall root() {
        return Objects.requireNonNull(root);
    }

    Frame top() {
        return Objects.requireNonNull(frames[depth - 1]);
    }

    /** Starts a call from outside: its arguments become the first registers. */
    void enter(FunctionCode function, BytecodeState state, VmCall call) {
        if (depth != 0) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "a call is in progress on this stack");
        }
        root = call;
        Frame frame = reserve(function, state, 0, 0);
        Arrays.fill(words, 0, function.words, 0);
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
                default -> {
                    Object object = call.ref(Object.class);
                    if (object instanceof RefCounted counted) {
                        counted.retain();
                    }
                    refs[ref++] = object;
                }
            }
        }
        frame.site = null;
        frame.pc = 0;
        depth = 1;
    }

    /** Calls a function of bytecode: pushes its frame and passes the arguments. The caller's pc must be saved. */
    void call(FunctionCode callee, BytecodeState state, CallSite site, FunctionCode caller, int base, int refBase) {
        int newBase = base + caller.words;
        int newRefBase = refBase + caller.refs;
        if (root().isCancelled()) {
            throw cancelled();
        }
        Frame frame = reserve(callee, state, newBase, newRefBase);
        int[] w = words;
        int[] from = site.argumentWords;
        int[] to = callee.argumentWords;
        Arrays.fill(w, newBase, newBase + callee.words, 0);
        for (int i = 0; i < from.length; i++) {
            w[newBase + to[i]] = w[base + from[i]];
        }
        int[] passed = site.argumentRefs;
        for (int i = 0; i < passed.length; i++) {
            refs[newRefBase + i] = References.take(refs, refBase, passed[i]);
        }
        frame.site = site;
        frame.pc = 0;
        depth++;
    }

    /** Returns to a caller of bytecode: passes the results and pops the frame. */
    void leave(ReturnSite results, CallSite site) {
        Frame callee = top();
        Frame caller = Objects.requireNonNull(frames[depth - 2]);
        int[] w = words;
        int[] from = results.words;
        int[] to = site.resultWords;
        for (int i = 0; i < from.length; i++) {
            w[caller.base + to[i]] = w[callee.base + from[i]];
        }
        int[] passed = results.refs;
        for (int i = 0; i < passed.length; i++) {
            Object object = References.take(refs, callee.refBase, passed[i]);
            References.put(refs, caller.refBase + (site.resultRefs[i] & ~Code.MOVE), object);
        }
        pop();
    }

    /** Returns to outside: sets the call's results and pops the last frame. */
    void leave(ReturnSite results) {
        Frame frame = top();
        VmCall call = root();
        String letters = frame.function.convention.results();
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            switch (letters.charAt(i)) {
                case 'i' -> call.returnI32(words[frame.base + results.words[word++]]);
                case 'f' -> call.returnF32(Float.intBitsToFloat(words[frame.base + results.words[word++]]));
                case 'I' -> {
                    call.returnI64(Interpreter.getLong(words, frame.base + results.words[word]));
                    word += 2;
                }
                case 'F' -> {
                    call.returnF64(
                            Double.longBitsToDouble(Interpreter.getLong(words, frame.base + results.words[word])));
                    word += 2;
                }
                default -> call.returnRef(References.take(refs, frame.refBase, results.refs[ref++]));
            }
        }
        pop();
        root = null;
    }

    /**
     * Calls an import that is no bytecode, or calls it again after it deferred.
     *
     * @return false when it has deferred; the same instruction is to be executed again then
     */
    boolean callNative(LinkedImport target, CallSite site, int base, int refBase) {
        ImportCall call = importCall;
        boolean again = importPending;
        importPending = false;
        call.enter(target.function(), site, again, this, base, refBase);
        boolean done = false;
        try {
            target.target().call(call);
            done = call.leave();
        } catch (IreeException e) {
            call.giveUp();
            throw e;
        } catch (RuntimeException e) {
            call.giveUp();
            throw new IreeException(
                    StatusCode.INTERNAL,
                    "'%s' failed unexpectedly: %s".formatted(target.function().fullName(), e),
                    e);
        }
        if (!done) {
            importPending = true;
            root().defer(call.waiting());
            return false;
        }
        for (int operand : site.argumentRefs) {
            if ((operand & Code.MOVE) != 0) {
                References.put(refs, refBase + (operand & ~Code.MOVE), null);
            }
        }
        char[] letters = site.resultLetters;
        for (int i = 0; i < letters.length; i++) {
            switch (letters[i]) {
                case 'i', 'f' -> words[base + site.results[i]] = (int) call.word(i);
                case 'I', 'F' -> Interpreter.putLong(words, base + site.results[i], call.word(i));
                default -> References.put(refs, refBase + (site.results[i] & ~Code.MOVE), call.take(i));
            }
        }
        return true;
    }

    IreeException cancelled() {
        return new IreeException(
                StatusCode.CANCELLED, "call of '" + root().function().fullName() + "' was cancelled");
    }

    /** Unwinds after a failure and says where it came from. */
    RuntimeException failed(Throwable failure, int pc) {
        if (depth > 0) {
            top().pc = pc;
        }
        String where = trace();
        unwind();
        return switch (failure) {
            case IreeException e -> e.during(where);
            case OutOfMemoryError e -> new IreeException(StatusCode.RESOURCE_EXHAUSTED, "no heap left; " + where, e);
            case StackOverflowError e ->
                new IreeException(StatusCode.RESOURCE_EXHAUSTED, "no thread stack left; " + where, e);
            case Error e -> throw e;
            default ->
                new IreeException(StatusCode.INTERNAL, "unexpected failure: %s; %s".formatted(failure, where), failure);
        };
    }

    /** Gives up whatever is going on. */
    @Override
    public void close() {
        if (importPending) {
            importPending = false;
            importCall.giveUp();
        }
        unwind();
    }

    private void unwind() {
        while (depth > 0) {
            pop();
        }
        importPending = false;
        root = null;
    }

    private void pop() {
        Frame frame = top();
        References.clear(refs, frame.refBase, frame.refBase + frame.function.refs);
        depth--;
    }

    /** Makes room for a frame and returns it, not yet counted. */
    private Frame reserve(FunctionCode function, BytecodeState state, int base, int refBase) {
        int wordEnd = base + function.words;
        int refEnd = refBase + function.refs;
        if (wordEnd > words.length || refEnd > refs.length || depth == frames.length) {
            grow(function, wordEnd, refEnd);
        }
        Frame frame = frames[depth];
        if (frame == null) {
            frame = new Frame(function, state);
            frames[depth] = frame;
        } else {
            frame.function = function;
            frame.state = state;
        }
        frame.base = base;
        frame.refBase = refBase;
        return frame;
    }

    private void grow(FunctionCode function, int wordEnd, int refEnd) {
        if (depth >= limits.maxCallDepth() || wordEnd + refEnd > limits.maxStackWords()) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "calling '%s' needs frame %d and %d registers, and the limits are %d and %d; is the recursion endless?"
                            .formatted(
                                    function.name,
                                    depth + 1,
                                    wordEnd + refEnd,
                                    limits.maxCallDepth(),
                                    limits.maxStackWords()));
        }
        if (depth == frames.length) {
            frames = Arrays.copyOf(frames, Math.min(limits.maxCallDepth(), 2 * depth));
        }
        if (wordEnd > words.length) {
            words = Arrays.copyOf(words, Math.max(wordEnd, Math.min(2 * words.length, limits.maxStackWords())));
        }
        if (refEnd > refs.length) {
            refs = Arrays.copyOf(refs, Math.max(refEnd, Math.min(2 * refs.length, limits.maxStackWords())));
        }
    }

    private String trace() {
        List<String> lines = new ArrayList<>();
        for (int i = depth - 1; i >= 0 && lines.size() < MAX_FRAMES_TOLD; i--) {
            Frame frame = Objects.requireNonNull(frames[i]);
            int offset = frame.function.offsetOf(frame.pc - 1);
            String source = frame.state.module().sourceOf(frame.function.ordinal, offset);
            lines.add("in @%s.%s+0x%x%s"
                    .formatted(
                            frame.state.module().name(),
                            frame.function.name,
                            offset,
                            source == null ? "" : " (" + source + ")"));
        }
        if (depth > MAX_FRAMES_TOLD) {
            lines.add("and %d more".formatted(depth - MAX_FRAMES_TOLD));
        }
        return String.join(", ", lines);
    }

    /** A call of a function that is no bytecode; its arguments are the caller's registers. */
    private final class ImportCall extends VmCall {
        void enter(
                io.github.iree4j.vm.VmFunction function,
                CallSite site,
                boolean again,
                Execution execution,
                int base,
                int refBase) {
            if (!again) {
                attach(null);
            }
            bind(execution.words, base, execution.refs, refBase);
            begin(function, site.letters, site.operands, site.letters.length, again);
        }

        boolean leave() {
            return end();
        }

        VmWait waiting() {
            VmWait wait = pendingWait();
            return wait == null ? VmWait.NONE : wait;
        }

        long word(int index) {
            return resultWord(index);
        }

        @Nullable
        Object take(int index) {
            return takeResultRef(index);
        }

        void giveUp() {
            abandon();
        }

        @Override
        public boolean isCancelled() {
            return root().isCancelled();
        }
    }
}
