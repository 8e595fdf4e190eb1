package io.github.iree4j.status;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one exception of the runtime: a status code that says what the caller should do, and a message that names the thing, the
 * numbers, the limit and the remedy.
 *
 * <p>Messages are lower case without a full stop. {@link #toString()} is {@code CODE; message}, the form the command line prints.
 */
public final class IreeException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The code; never {@link StatusCode#OK}. */
    private final StatusCode code;

    private final transient @Nullable FailureDetail detail;

    /**
     * Creates a failure.
     *
     * @param code what the caller should do; not {@link StatusCode#OK}
     * @param message what, with which numbers, against which limit, and the remedy
     */
    public IreeException(StatusCode code, String message) {
        this(code, message, null);
    }

    /**
     * Creates a failure with the one that led to it.
     *
     * @param code what the caller should do; not {@link StatusCode#OK}
     * @param message what, with which numbers, against which limit, and the remedy
     * @param cause the failure that led to this one, or null
     */
    public IreeException(StatusCode code, String message, @Nullable Throwable cause) {
        this(code, message, cause, null);
    }

    /**
     * Creates a failure that says what it is about to programs too.
     *
     * @param code what the caller should do; not {@link StatusCode#OK}
     * @param message what, with which numbers, against which limit, and the remedy
     * @param cause the failure that led to this one, or null
     * @param detail what it is about, or null
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
     * Returns what this is about, or the failure that led to it, or that led to that.
     *
     * @param type what is asked for
     * @return the first such detail, or null; details do not outlive serialization
     * @param <T> what is asked for
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
     * Returns a failure of the same code that says in addition what the caller was doing, with this one as its cause.
     *
     * @param doing what was being done, for example {@code in function 'module.add'}
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
