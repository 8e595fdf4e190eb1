package io.github.iree4j.flight;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a recorder.
 *
 * @param bytes of the rings in memory, from {@link #MINIMUM_BYTES}; rounded down to a usable size. An operation takes
 *     some 600, with its memory, and a dispatch of a sampled execution at most 120 more
 * @param file a file also written; null for none. The file has the oldest records where the ring has the newest
 * @param fileBytes the most bytes of the file; records beyond are counted. The operations and calls open at the end are
 *     written nevertheless, and take at most 48 MiB more
 * @param dispatches of so many executions of a function one records its dispatches, the first and later ones: 1 for all
 *     executions, 0 for none, at most {@link #MAXIMUM_DISPATCHES}
 */
public record RecorderOptions(long bytes, @Nullable Path file, long fileBytes, int dispatches) {
    /** The approximate bytes of an operation in the rings: measured. */
    static final long OPERATION_BYTES = 600;

    /** The smallest ring. */
    public static final long MINIMUM_BYTES = 1 << 20;

    /** The largest ring. */
    public static final long MAXIMUM_BYTES = 1 << 30;

    /** The least frequent sampling of dispatches. */
    public static final int MAXIMUM_DISPATCHES = 1 << 20;

    /** A ring of 16 MiB and no file; dispatches of one of 16 executions. */
    public static final RecorderOptions DEFAULTS = new RecorderOptions(16 << 20, null, 256 << 20, 16);

    /** Checks. */
    public RecorderOptions {
        if (bytes < MINIMUM_BYTES || bytes > MAXIMUM_BYTES) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a recorder's ring of %d bytes is not in [%d, %d]".formatted(bytes, MINIMUM_BYTES, MAXIMUM_BYTES));
        }
        if (file != null && (fileBytes < MINIMUM_BYTES || fileBytes > MAXIMUM_BYTES)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "a recording's file of %d bytes is not in [%d, %d]"
                            .formatted(fileBytes, MINIMUM_BYTES, MAXIMUM_BYTES));
        }
        if (dispatches < 0 || dispatches > MAXIMUM_DISPATCHES) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "dispatches of one of %d executions are not recorded; the number must be in [0, %d], with 1 for all executions and 0 for none"
                            .formatted(dispatches, MAXIMUM_DISPATCHES));
        }
    }

    /**
     * Returns these options with another ring.
     *
     * @param size bytes
     * @return the new options
     */
    public RecorderOptions withBytes(long size) {
        return new RecorderOptions(size, file, fileBytes, dispatches);
    }

    /**
     * Returns these options with a file.
     *
     * @param path the file, replaced if there is one
     * @param limit the most bytes of the file, without the operations and calls open at the end
     * @return the new options
     */
    public RecorderOptions withFile(Path path, long limit) {
        return new RecorderOptions(bytes, path, limit, dispatches);
    }

    /**
     * Returns these options with another sampling of dispatches.
     *
     * @param every of so many executions of a function one records its dispatches; 1 for all, 0 for none
     * @return the new options
     */
    public RecorderOptions withDispatches(int every) {
        return new RecorderOptions(bytes, file, fileBytes, every);
    }
}
