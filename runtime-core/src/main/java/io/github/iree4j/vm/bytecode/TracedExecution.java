package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallTracer;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.bytecode.FunctionCode.CallSite;
import io.github.iree4j.vm.bytecode.FunctionCode.ReturnSite;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stack reporting calls to a tracer. For interpreted modules only.
 *
 * <p>Costs nothing without tracing: while this class is not loaded, HotSpot knows that {@link Execution}'s methods are
 * not overridden.
 */
final class TracedExecution extends Execution {
    private final CallTracer tracer;

    /** Whether the import about to be called has already deferred. */
    private boolean waiting;

    TracedExecution(ContextOptions limits, CallTracer tracer) {
        super(limits);
        this.tracer = tracer;
    }

    @Override
    void enter(Frame frame, FunctionCode function, VmCall call) {
        super.enter(frame, function, call);
        waiting = false;
        tracer.entered(frame.depth, nameOf(frame), arguments(frame, function));
    }

    @Override
    Frame call(FunctionCode callee, BytecodeState state, CallSite site, Frame caller) {
        Frame frame = super.call(callee, state, site, caller);
        tracer.entered(frame.depth, nameOf(frame), arguments(frame, callee));
        return frame;
    }

    @Override
    void leave(ReturnSite results, Frame callee, Frame caller, CallSite site) {
        tracer.returned(callee.depth, nameOf(callee), results(results, callee));
        super.leave(results, callee, caller, site);
    }

    @Override
    void leave(ReturnSite results, Frame frame) {
        tracer.returned(frame.depth, nameOf(frame), results(results, frame));
        super.leave(results, frame);
    }

    @Override
    boolean callNative(LinkedImport target, CallSite site, Frame caller) {
        String name = target.function().fullName();
        int depth = caller.depth + 1;
        if (waiting) {
            waiting = false;
            tracer.resumed(depth, name);
        } else {
            tracer.entered(depth, name, arguments(target.function().convention(), site, caller));
        }
        boolean done;
        try {
            done = super.callNative(target, site, caller);
        } catch (IreeException e) {
            tracer.failed(depth, name, e);
            throw e;
        }
        if (done) {
            tracer.returned(depth, name, results(site, caller));
        } else {
            waiting = true;
            tracer.deferred(depth, name);
        }
        return done;
    }

    @Override
    RuntimeException failed(Throwable failure, Frame frame, int pc, Frame base) {
        IreeException told = failure instanceof IreeException e
                ? e
                : IreeException.of(StatusCode.INTERNAL, String.valueOf(failure), failure);
        for (Frame f = frame; f != null; f = f.caller) {
            tracer.failed(f.depth, nameOf(f), told);
        }
        return super.failed(failure, frame, pc, base);
    }

    private static String nameOf(Frame frame) {
        return frame.state.module().name() + "." + frame.function.name;
    }

    /** Returns the arguments stored in a frame for the frame's function. */
    private static List<@Nullable Object> arguments(Frame frame, FunctionCode function) {
        String letters = function.convention.arguments();
        List<@Nullable Object> values = new ArrayList<>(letters.length());
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            if (letter == 'r') {
                values.add(frame.refs[ref++]);
            } else {
                values.add(value(letter, frame, function.argumentWords[word]));
                word += isWide(letter) ? 2 : 1;
            }
        }
        return values;
    }

    private static List<@Nullable Object> results(ReturnSite results, Frame frame) {
        String letters = frame.function.convention.results();
        List<@Nullable Object> values = new ArrayList<>(letters.length());
        int word = 0;
        int ref = 0;
        for (int i = 0; i < letters.length(); i++) {
            char letter = letters.charAt(i);
            if (letter == 'r') {
                values.add(frame.refs[results.refs[ref++] & ~Code.MOVE]);
            } else {
                values.add(value(letter, frame, results.words[word]));
                word += isWide(letter) ? 2 : 1;
            }
        }
        return values;
    }

    /** Returns the results of an import, after their storage in the caller's registers. */
    private static List<@Nullable Object> results(CallSite site, Frame caller) {
        List<@Nullable Object> values = new ArrayList<>(site.resultLetters.length);
        for (int i = 0; i < site.resultLetters.length; i++) {
            values.add(value(site.resultLetters[i], caller, site.results[i] & ~Code.MOVE));
        }
        return values;
    }

    /** Returns the arguments of an import, with spans regrouped. */
    private static List<@Nullable Object> arguments(CallingConvention convention, CallSite site, Frame caller) {
        String letters = convention.arguments();
        List<@Nullable Object> values = new ArrayList<>();
        int at = 0;
        for (int i = 0; i < letters.length(); i++) {
            if (letters.charAt(i) != 'C') {
                values.add(value(site.letters[at], caller, site.operands[at]));
                at++;
                continue;
            }
            int end = letters.indexOf('D', i);
            int size = end - i - 1;
            int count = site.operands[at++];
            List<@Nullable Object> tuples = new ArrayList<>(count);
            for (int tuple = 0; tuple < count; tuple++) {
                List<@Nullable Object> elements = new ArrayList<>(size);
                for (int k = 0; k < size; k++) {
                    elements.add(value(site.letters[at], caller, site.operands[at]));
                    at++;
                }
                tuples.add(size == 1 ? elements.getFirst() : elements);
            }
            values.add(tuples);
            i = end;
        }
        return values;
    }

    private static boolean isWide(char letter) {
        return letter == 'I' || letter == 'F';
    }

    private static @Nullable Object value(char letter, Frame frame, int register) {
        return switch (letter) {
            case 'i' -> (Object) frame.words[register];
            case 'f' -> Float.intBitsToFloat(frame.words[register]);
            case 'I' -> Interpreter.getLong(frame.words, register);
            case 'F' -> Double.longBitsToDouble(Interpreter.getLong(frame.words, register));
            default -> frame.refs[register];
        };
    }
}
