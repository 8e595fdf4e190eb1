package io.github.iree4j.status;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The runtime's only exception: a status code for the caller's next action, and a message with the object, the numbers,
 * the limit and the remedy.
 *
 * <p>Messages are lower case without a full stop. {@link #toString()} is {@code CODE; message}, the form printed by the
 * command line.
 */
public final class IreeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The code; never {@link StatusCode#OK}. */
    private final StatusCode code;

    private final transient @Nullable FailureDetail detail;

    /**
     * Creates a failure.
     *
     * @param code the code for the caller's next action; not {@link StatusCode#OK}
     * @param message the object, the numbers, the limit, and the remedy
     */
    public IreeException(StatusCode code, String message) {
        this(code, message, null);
    }

    /**
     * Creates a failure with a cause.
     *
     * @param code the code for the caller's next action; not {@link StatusCode#OK}
     * @param message the object, the numbers, the limit, and the remedy
     * @param cause the failure that led to this failure, or null
     */
    public IreeException(StatusCode code, String message, @Nullable Throwable cause) {
        this(code, message, cause, null);
    }

    /**
     * Creates a failure with a machine-readable detail.
     *
     * @param code the code for the caller's next action; not {@link StatusCode#OK}
     * @param message the object, the numbers, the limit, and the remedy
     * @param cause the failure that led to this failure, or null
     * @param detail the detail, or null
     */
    public IreeException(StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        super(message, cause);
        this.detail = detail;
        this.code = Objects.requireNonNull(code, "code");
        if (code == StatusCode.OK) {
            throw new IllegalArgumentException("a failure cannot have status OK: " + message);
        }
    }

    /**
     * Returns the status code.
     *
     * @return the code, never {@link StatusCode#OK}
     */
    public StatusCode code() {
        return code;
    }

    /**
     * Returns the first detail of a type along the chain of causes, this failure included.
     *
     * @param type the type of detail
     * @return the first such detail, or null; details do not survive serialization
     * @param <T> the type of detail
     */
    public <T extends FailureDetail> @Nullable T detail(Class<T> type) {
        for (Throwable each = this; each != null; each = each.getCause()) {
            if (each instanceof IreeException failure && type.isInstance(failure.detail)) {
                return type.cast(failure.detail);
            }
        }
        return null;
    }

    /**
     * Returns a failure with the same code, with a message that adds the caller's operation, and with this failure as
     * the cause.
     *
     * @param doing the caller's operation, for example {@code in function 'module.add'}
     * @return the new failure
     */
    public IreeException during(String doing) {
        return new IreeException(code, getMessage() + "; " + doing, this);
    }

    @Override
    public String getMessage() {
        String message = super.getMessage();
        return message == null ? "" : message;
    }

    @Override
    public String toString() {
        return code + "; " + getMessage();
    }
}
