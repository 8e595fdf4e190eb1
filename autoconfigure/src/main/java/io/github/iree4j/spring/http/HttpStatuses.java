package io.github.iree4j.spring.http;

import io.github.iree4j.status.StatusCode;
import org.springframework.http.HttpStatus;

/** Which HTTP status a failure of a call has, by what its caller should do. */
public final class HttpStatuses {
    private HttpStatuses() {}

    /**
     * The status of a failure.
     *
     * @param code of the failure
     * @return 4xx when another request may succeed, 503 and 504 when the same may later, 500 and 501 when it will not
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
     * Whether the same request may succeed later.
     *
     * @param code of the failure
     * @return true for statuses with which a client waits and repeats
     */
    public static boolean isTransient(StatusCode code) {
        return code == StatusCode.RESOURCE_EXHAUSTED || code == StatusCode.UNAVAILABLE || code == StatusCode.ABORTED;
    }
}
