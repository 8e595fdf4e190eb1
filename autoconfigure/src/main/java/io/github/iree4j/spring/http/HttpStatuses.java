package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.RetryLater;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.InvalidInputException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.TransientFailureException;
import org.springframework.http.HttpStatus;

/** Maps status codes of failed calls to HTTP statuses, by the recommended reaction of the client. */
@NotForApplications
public final class HttpStatuses {
    private HttpStatuses() {}

    /**
     * Returns the HTTP status of a failure.
     *
     * @param code the code of the failure
     * @return 4xx when a different request may succeed, 503 and 504 when the same request may succeed later, 500 and
     *     501 when the same request will not succeed
     */
    public static HttpStatus of(StatusCode code) {
        return switch (code) {
            case OK -> HttpStatus.OK;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> HttpStatus.BAD_REQUEST;
            case UNAUTHENTICATED -> HttpStatus.UNAUTHORIZED;
            case PERMISSION_DENIED -> HttpStatus.FORBIDDEN;
            case NOT_FOUND -> HttpStatus.NOT_FOUND;
            case ALREADY_EXISTS -> HttpStatus.CONFLICT;
            case UNIMPLEMENTED -> HttpStatus.NOT_IMPLEMENTED;
            case RESOURCE_EXHAUSTED, UNAVAILABLE, CANCELLED, ABORTED, FAILED_PRECONDITION ->
                HttpStatus.SERVICE_UNAVAILABLE;
            case DEADLINE_EXCEEDED -> HttpStatus.GATEWAY_TIMEOUT;
            case UNKNOWN, INTERNAL, DATA_LOSS, DEFERRED, INCOMPATIBLE -> HttpStatus.INTERNAL_SERVER_ERROR;
        };
    }

    /**
     * Returns the HTTP status of a failure.
     *
     * @param failure the failure
     * @return 503 when a device is lost; 413 when the call needs more memory than can ever be available; 429 when too
     *     many requests wait: Tomcat closes the connection after a 503, and a new connection is costly for an
     *     overloaded server; otherwise as for the failure's code
     */
    public static HttpStatus of(IreeException failure) {
        boolean isExhausted = failure.code() == StatusCode.RESOURCE_EXHAUSTED;
        return switch (failure) {
            case DeviceLostException _ -> HttpStatus.SERVICE_UNAVAILABLE;
            case InvalidInputException _ when isExhausted -> HttpStatus.CONTENT_TOO_LARGE;
            case TransientFailureException _
            when isExhausted && failure.detail(RetryLater.class).isPresent() -> HttpStatus.TOO_MANY_REQUESTS;
            default -> of(failure.code());
        };
    }

    /**
     * Returns the delay after which the same request may succeed: here, or for a lost device on another instance of
     * the service.
     *
     * @param failure the failure
     * @return seconds, for the header {@code Retry-After}; 0 if the same request will not succeed
     */
    public static long retryAfter(IreeException failure) {
        RetryLater later = failure.detail(RetryLater.class).orElse(null);
        if (later != null) {
            return later.seconds();
        }
        boolean maySucceed = failure instanceof TransientFailureException
                || failure instanceof DeviceLostException
                || failure.code() == StatusCode.ABORTED;
        return maySucceed ? 1 : 0;
    }
}
