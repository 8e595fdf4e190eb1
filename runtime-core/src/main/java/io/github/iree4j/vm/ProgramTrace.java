package io.github.iree4j.vm;

import io.github.iree4j.status.FailureDetail;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where in programs a call failed: the functions that were active, innermost first, with what the modules' debug databases say of the source of the
 * model. {@code failure.detail(ProgramTrace.class)} finds it; the failure's own stack trace begins with the same.
 *
 * @param frames innermost first; only the innermost ones of a deep stack
 */
public record ProgramTrace(List<Frame> frames) implements FailureDetail {
    /**
     * Keeps its own copy.
     *
     * @param frames innermost first
     */
    public ProgramTrace {
        frames = List.copyOf(frames);
    }

    /**
     * One active function.
     *
     * @param module name of its module
     * @param function its name within the module
     * @param offset where it was, in bytes of its code
     * @param sources where that comes from, as the compiler has recorded it: the place itself, then from where that was inlined or what it was fused
     *     from; empty when the module does not say
     */
    public record Frame(String module, String function, int offset, List<Source> sources) {
        /**
         * Keeps its own copy.
         *
         * @param module name of its module
         * @param function its name within the module
         * @param offset where it was, in bytes of its code
         * @param sources where that comes from
         */
        public Frame {
            sources = List.copyOf(sources);
        }
    }

    /**
     * A place in the source of a model.
     *
     * @param name what the place is called there, such as the name of a layer; empty when it has none
     * @param file the file, or null when only the name is known
     * @param line the line, from 1; 0 when not known
     * @param column the column, from 1; 0 when not known
     */
    public record Source(String name, @Nullable String file, int line, int column) {
        /** {@code file:line:column}, without what is not known, after {@code name at} if there is a name. */
        @Override
        public String toString() {
            String place = file == null ? "" : line == 0 ? file : file + ":" + line + ":" + column;
            return name.isEmpty() ? place : place.isEmpty() ? name : name + " at " + place;
        }
    }

    /**
     * Returns the frames as Java shows them: one line for each source, {@code module.function(file:line)}, with the name of the place in place of the
     * function's if it has one.
     *
     * @return innermost first
     */
    public List<StackTraceElement> elements() {
        List<StackTraceElement> elements = new ArrayList<>();
        for (Frame frame : frames) {
            if (frame.sources().isEmpty()) {
                elements.add(new StackTraceElement(frame.module(), frame.function(), null, -1));
            }
            for (Source source : frame.sources()) {
                elements.add(new StackTraceElement(
                        frame.module(),
                        source.name().isEmpty() ? frame.function() : frame.function() + " \"" + source.name() + "\"",
                        source.file(),
                        source.line() > 0 ? source.line() : -1));
            }
        }
        return elements;
    }
}
