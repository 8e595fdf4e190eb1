package io.github.iree4j.status;

import org.jspecify.annotations.Nullable;

/**
 * A failure caused by the inputs: the same call never succeeds, and a call with other inputs may. INVALID_ARGUMENT,
 * OUT_OF_RANGE, and RESOURCE_EXHAUSTED where the request for memory {@linkplain NeverFits can never fit}.
 */
public final class InvalidInputException extends IreeException {

    private static final long serialVersionUID = 1L;

    InvalidInputException(StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        super(code, message, cause, detail);
    }
}
