package io.github.iree4j.modules.parameters;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How far a program's parameters are on their way from files to where the program wants them, or back.
 *
 * @param phase what is going on
 * @param scope the scope of the parameters, empty for those without one
 * @param file the file that was opened, or from which the bytes counted last came; null for splats and for bytes of no file
 * @param doneBytes bytes that have arrived, or that are used where they are mapped; bytes that the system has taken when they are stored
 * @param totalBytes bytes that the program has asked for in this request; when a file was opened, its size
 */
public record ParameterProgress(
        Phase phase, String scope, @Nullable Path file, long doneBytes, long totalBytes) {
    /** What is going on. */
    public enum Phase {
        /** A file was mapped and its index read. */
        OPENED,
        /** A request is under way. */
        LOADING,
        /** All bytes of a request are there. */
        LOADED,
        /** A request to store parameters is under way; the file is the one that bytes counted last went to. */
        STORING,
        /** All bytes of a request to store parameters are with the system. */
        STORED,
        /** A request has failed; the program hears why. */
        FAILED
    }

    /**
     * Hears of progress. Requests are told apart by scope and total only; most programs make one for each scope.
     *
     * <p>Runs on the threads of devices, with no lock of the runtime held that these need. An implementation MUST return quickly, MUST
     * NOT block or wait for devices, and MUST NOT throw: a throw is logged and otherwise ignored. Calls for one request come one after
     * the other, with rising numbers; those for two requests may come at once.
     */
    @FunctionalInterface
    public interface Listener {
        /**
         * Takes a report.
         *
         * @param progress how far it is
         */
        void progressed(ParameterProgress progress);
    }
}
