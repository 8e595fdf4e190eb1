package io.github.iree4j.status;

import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Every failure of the runtime: a status code, and a message with the object, the numbers, the limit and the remedy.
 * Where the caller's reaction is known, the failure has a class for that reaction:
 *
 * <ul>
 *   <li>{@link TransientFailureException}: make the same call later;
 *   <li>{@link InvalidInputException}: change the call;
 *   <li>{@link CallTimeoutException}: allow more time, or do with less;
 *   <li>{@link DeviceLostException}: load the program on another device, or restart.
 * </ul>
 *
 * <p>All other failures are of this class itself: the {@linkplain #code() code} tells more.
 *
 * <p>Messages are lower case without a full stop. {@link #toString()} is {@code CODE; message}, the form printed by the
 * command line.
 */
public sealed class IreeException extends RuntimeException
        permits TransientFailureException, InvalidInputException, CallTimeoutException, DeviceLostException {

    private static final long serialVersionUID = 1L;

    /** The code; never {@link StatusCode#OK}. */
    private final StatusCode code;

    private final transient @Nullable FailureDetail detail;

    IreeException(StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        super(message, cause);
        this.detail = detail;
        this.code = Objects.requireNonNull(code, "code");
        if (code == StatusCode.OK) {
            throw new IllegalArgumentException("a failure cannot have status OK: " + message);
        }
    }

    /**
     * Creates a failure.
     *
     * @param code the code; not {@link StatusCode#OK}
     * @param message the object, the numbers, the limit, and the remedy
     * @return a failure of the class for the code
     */
    public static IreeException of(StatusCode code, String message) {
        return of(code, message, null, null);
    }

    /**
     * Creates a failure with a cause.
     *
     * @param code the code; not {@link StatusCode#OK}
     * @param message the object, the numbers, the limit, and the remedy
     * @param cause the failure that led to this failure, or null
     * @return a failure of the cause's class if the cause has the same code, otherwise of the class for the code
     */
    public static IreeException of(StatusCode code, String message, @Nullable Throwable cause) {
        return of(code, message, cause, null);
    }

    /**
     * Creates a failure with a machine-readable detail.
     *
     * @param code the code; not {@link StatusCode#OK}
     * @param message the object, the numbers, the limit, and the remedy
     * @param cause the failure that led to this failure, or null
     * @param detail the detail, or null; {@link DeviceLost} and {@link NeverFits} decide the class of the failure
     * @return a failure of the class for the detail; otherwise of the cause's class if the cause has the same code;
     *     otherwise of the class for the code
     */
    public static IreeException of(
            StatusCode code, String message, @Nullable Throwable cause, @Nullable FailureDetail detail) {
        IreeException wrapped = wrappedBy(code, cause);
        if (detail instanceof DeviceLost || wrapped instanceof DeviceLostException) {
            return new DeviceLostException(code, message, cause, detail);
        }
        return switch (code) {
            case UNAVAILABLE -> new TransientFailureException(code, message, cause, detail);
            case RESOURCE_EXHAUSTED ->
                detail instanceof NeverFits || wrapped instanceof InvalidInputException
                        ? new InvalidInputException(code, message, cause, detail)
                        : new TransientFailureException(code, message, cause, detail);
            case INVALID_ARGUMENT, OUT_OF_RANGE -> new InvalidInputException(code, message, cause, detail);
            case DEADLINE_EXCEEDED -> new CallTimeoutException(code, message, cause, detail);
            default -> new IreeException(code, message, cause, detail);
        };
    }

    /** Returns the failure of the runtime passed on with the same code; null if there is none. */
    private static @Nullable IreeException wrappedBy(StatusCode code, @Nullable Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof IreeException failure) {
                return failure.code == code ? failure : null;
            }
        }
        return null;
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
     * @return the first such detail; details do not survive serialization
     * @param <T> the type of detail
     */
    public <T extends FailureDetail> Optional<T> detail(Class<T> type) {
        for (Throwable each = this; each != null; each = each.getCause()) {
            if (each instanceof IreeException failure && type.isInstance(failure.detail)) {
                return Optional.of(type.cast(failure.detail));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns a failure with the same code and of the same class, with a message that adds the caller's operation, and
     * with this failure as the cause.
     *
     * @param doing the caller's operation, for example {@code in function 'module.add'}
     * @return the new failure
     */
    public IreeException during(String doing) {
        return of(code, getMessage() + "; " + doing, this);
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
