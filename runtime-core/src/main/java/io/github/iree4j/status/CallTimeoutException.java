package io.github.iree4j.status;

import org.jspecify.annotations.Nullable;

/**
 * The time allowed has passed before the end. DEADLINE_EXCEEDED: the same call succeeds only with more time or less work.
 *
 * <p>Work submitted before the timeout may still complete.
 */
public final class CallTimeoutException extends IreeException {

    private static final long serialVersionUID = 1L;

    CallTimeoutException(StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        super(code, message, cause, detail);
    }
}
