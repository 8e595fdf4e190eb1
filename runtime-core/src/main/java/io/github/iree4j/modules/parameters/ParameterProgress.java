package io.github.iree4j.modules.parameters;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Progress of a program's parameters from files to their destination, or back.
 *
 * @param phase the phase
 * @param scope the scope of the parameters, empty for those without one
 * @param file the file that was opened, or the source of the bytes counted last; null for splats and for bytes that are not in a file
 * @param doneBytes bytes that have arrived or are used in place; for stores, bytes that the system has accepted
 * @param totalBytes bytes of this request; when a file was opened, its size
 */
public record ParameterProgress(
        Phase phase, String scope, @Nullable Path file, long doneBytes, long totalBytes) {
    /** The phases. */
    public enum Phase {
        /** A file was mapped and its index read. */
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
     * Receives progress reports. Requests are distinguished by scope and total only; most programs make one per scope.
     *
     * <p>Runs on the threads of devices, with no lock of the runtime held that these need. An implementation MUST return quickly, MUST NOT
     * block or wait for devices, and MUST NOT throw: exceptions are logged and otherwise ignored. Calls for one request are sequential,
     * with rising numbers; calls for different requests may be concurrent.
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
