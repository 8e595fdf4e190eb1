package io.github.iree4j.status;

import org.jspecify.annotations.Nullable;

/**
 * A failure without a fault of the call: the same call may succeed later. UNAVAILABLE, and RESOURCE_EXHAUSTED unless the
 * request for memory {@linkplain NeverFits can never fit}.
 *
 * <p>The failed call may have run in part: repeat a call only where a second run of the program does no harm.
 */
public final class TransientFailureException extends IreeException {

    private static final long serialVersionUID = 1L;

    TransientFailureException(
            StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        super(code, message, cause, detail);
    }
}
