package io.github.iree4j.vm;

import io.github.iree4j.status.FailureDetail;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The place in programs where a call failed: the active functions, innermost first, with source locations of the model
 * from the modules' debug databases. Returned by {@code failure.detail(ProgramTrace.class)}; the failure's own stack
 * trace begins with the same frames.
 *
 * @param frames innermost first; only the innermost frames of a deep stack
 */
public record ProgramTrace(List<Frame> frames) implements FailureDetail {
    /**
     * Copies the list.
     *
     * @param frames innermost first
     */
    public ProgramTrace {
        frames = List.copyOf(frames);
    }

    /**
     * An active function.
     *
     * @param module name of the module
     * @param function name within the module
     * @param offset position, in bytes of the function's code
     * @param sources source location as recorded by the compiler: the place itself, then the inlining call sites and
     *     the fused places; empty when not recorded
     */
    public record Frame(String module, String function, int offset, List<Source> sources) {
        /**
         * Copies the list.
         *
         * @param module name of the module
         * @param function name within the module
         * @param offset position, in bytes of the function's code
         * @param sources source location
         */
        public Frame {
            sources = List.copyOf(sources);
        }
    }

    /**
     * A place in the source of a model.
     *
     * @param name the name of the place, such as a layer; empty when there is none
     * @param file the file, or null when only the name is known
     * @param line the line, from 1; 0 when unknown
     * @param column the column, from 1; 0 when unknown
     */
    public record Source(String name, @Nullable String file, int line, int column) {
        /** Returns {@code file:line:column}, without unknown parts, after {@code name at} if there is a name. */
        @Override
        public String toString() {
            String place = file == null ? "" : line == 0 ? file : file + ":" + line + ":" + column;
            return name.isEmpty() ? place : place.isEmpty() ? name : name + " at " + place;
        }
    }

    /**
     * Returns the frames as Java stack trace elements: an element for each source, {@code module.function(file:line)},
     * with the name of the place, if any, appended to the function name.
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
