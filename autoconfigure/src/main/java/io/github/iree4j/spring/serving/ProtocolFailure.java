package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.http.HttpStatuses;
import io.github.iree4j.spring.http.JsonBody;
import io.github.iree4j.status.IreeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.server.MethodNotAllowedException;
import tools.jackson.core.JacksonException;

/**
 * A failure in the protocol's format.
 *
 * @param error the description of the failure
 */
record ProtocolFailure(String error) {

    private static final Logger log = LoggerFactory.getLogger(ProtocolFailure.class);

    /** Returns the response to a failed request. */
    static ResponseEntity<ProtocolFailure> answer(Exception failure) {
        return switch (failure) {
            case IreeException e -> answer(HttpStatuses.of(e), HttpStatuses.retryAfter(e), ClientText.of(e));
            case ProgramLoadException e -> answer(HttpStatus.SERVICE_UNAVAILABLE, 0, ClientText.of(e));
            case MethodNotAllowedException e ->
                ResponseEntity.status(e.getStatusCode())
                        .headers(e.getHeaders())
                        .contentType(MediaType.APPLICATION_JSON)
                        .body(new ProtocolFailure("method %s is not supported here; use %s"
                                .formatted(Datatype.shortened(e.getHttpMethod()), e.getSupportedMethods())));
            case ErrorResponse e ->
                answer(
                        e.getStatusCode(),
                        e.getStatusCode().isSameCodeAs(HttpStatus.SERVICE_UNAVAILABLE) ? 1 : 0,
                        String.valueOf(e.getBody().getDetail()));
            case JacksonException e -> answer(HttpStatus.BAD_REQUEST, 0, JsonBody.problem(e, "the body is not JSON"));
            default -> {
                log.error("request of the open inference protocol failed", failure);
                yield answer(HttpStatus.INTERNAL_SERVER_ERROR, 0, "internal server error; see the server log");
            }
        };
    }

    /** Returns a response with the number of seconds before a retry, unless 0. */
    private static ResponseEntity<ProtocolFailure> answer(HttpStatusCode status, long later, String error) {
        ResponseEntity.BodyBuilder builder = ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON);
        if (later > 0) {
            builder.header(HttpHeaders.RETRY_AFTER, String.valueOf(later));
        }
        return builder.body(new ProtocolFailure(error));
    }
}
