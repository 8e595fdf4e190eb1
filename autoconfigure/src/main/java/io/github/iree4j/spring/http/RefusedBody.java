package io.github.iree4j.spring.http;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/** The refusal of the body of a request, or of the answer to the request, with a reason for the client. */
final class RefusedBody extends ResponseStatusException {

    private static final long serialVersionUID = 1L;

    RefusedBody(HttpStatus status, String reason) {
        this(status, reason, null);
    }

    RefusedBody(HttpStatus status, String reason, @Nullable Throwable cause) {
        super(status, reason, cause);
    }

    /** A server without room now may have room for the same request later. */
    @Override
    public HttpHeaders getHeaders() {
        HttpHeaders headers = new HttpHeaders();
        if (getStatusCode().isSameCodeAs(HttpStatus.SERVICE_UNAVAILABLE)) {
            headers.set(HttpHeaders.RETRY_AFTER, "1");
        }
        return headers;
    }
}
