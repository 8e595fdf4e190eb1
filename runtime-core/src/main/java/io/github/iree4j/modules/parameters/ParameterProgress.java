package io.github.iree4j.modules.parameters;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a program's parameters from files to their destination, or back to files.
 *
 * @param phase the phase
 * @param scope the scope of the parameters, empty for parameters without a scope
 * @param file the opened file, or the source of the bytes counted last; null for splats and for bytes outside files
 * @param doneBytes bytes arrived or used in place; for stores, bytes accepted by the system
 * @param totalBytes bytes of this request; the file's size when a file was opened
 */
public record ParameterProgress(
        Phase phase, String scope, @Nullable Path file, long doneBytes, long totalBytes) {
    /** The phases. */
    public enum Phase {
        /** A file was mapped and the index was read. */
        OPENED,
        /** A request is under way. */
        LOADING,
        /** All bytes of a request have arrived. */
        LOADED,
        /** A request to store parameters is under way; the file is the destination of the bytes counted last. */
        STORING,
        /** The system has accepted all bytes of a request to store parameters. */
        STORED,
        /** A request has failed; the program receives the failure. */
        FAILED
    }

    /**
     * Receives progress reports. Requests are distinguished by scope and total only; most programs make a single
     * request per scope.
     *
     * <p>Runs on the threads of devices, without holding any lock of the runtime needed by these threads. An
     * implementation MUST return quickly, MUST NOT block or wait for devices, and MUST NOT throw: exceptions are logged
     * and otherwise ignored. Calls for the same request are sequential, with rising numbers; calls for different
     * requests may be concurrent.
     */
    @FunctionalInterface
    public interface Listener {
        /**
         * Called for each report.
         *
         * @param progress the progress
         */
        void progressed(ParameterProgress progress);
    }
}
