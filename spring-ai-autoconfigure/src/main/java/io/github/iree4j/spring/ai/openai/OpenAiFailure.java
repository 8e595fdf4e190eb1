package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.http.HttpStatuses;
import io.github.iree4j.spring.http.JsonBody;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.server.MethodNotAllowedException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A failure in the interface's form.
 *
 * @param status the status of HTTP
 * @param later number of seconds before a retry; 0 for none
 * @param message the description
 * @param parameter the parameter at fault; null for none
 * @param code the code for programs; null for none
 */
record OpenAiFailure(
        int status,
        long later,
        String message,
        @Nullable String parameter,
        @Nullable String code) {

    private static final Logger log = LoggerFactory.getLogger(OpenAiFailure.class);

    OpenAiFailure(HttpStatus status, String message) {
        this(status.value(), 0, message, null, null);
    }

    /** Returns a failure of a request in the interface's form. */
    static OpenAiFailure of(Exception failure) {
        return switch (failure) {
            case IreeException e -> {
                RequestFault fault = e.detail(RequestFault.class).orElse(null);
                yield new OpenAiFailure(
                        HttpStatuses.of(e).value(),
                        HttpStatuses.retryAfter(e),
                        fault != null ? fault.text() : ClientText.of(e),
                        fault != null ? fault.parameter() : null,
                        fault != null ? fault.code() : null);
            }
            case ProgramLoadException e -> new OpenAiFailure(HttpStatus.SERVICE_UNAVAILABLE, ClientText.of(e));
            case MethodNotAllowedException e ->
                new OpenAiFailure(
                        HttpStatus.METHOD_NOT_ALLOWED,
                        "method %s is not supported here; use %s"
                                .formatted(RequestFault.shortened(e.getHttpMethod()), e.getSupportedMethods()));
            case ErrorResponse e ->
                new OpenAiFailure(
                        e.getStatusCode().value(),
                        e.getStatusCode().isSameCodeAs(HttpStatus.SERVICE_UNAVAILABLE) ? 1 : 0,
                        String.valueOf(e.getBody().getDetail()),
                        null,
                        null);
            case JacksonException e ->
                new OpenAiFailure(
                        HttpStatus.BAD_REQUEST, JsonBody.problem(e, "the body is not JSON, or has a member twice"));
            default -> {
                log.error("a request of OpenAI's interface failed", failure);
                yield new OpenAiFailure(HttpStatus.INTERNAL_SERVER_ERROR, "internal server error; see the server log");
            }
        };
    }

    /** Returns the body of the answer. */
    ObjectNode json() {
        ObjectNode root = JsonMapper.shared().createObjectNode();
        root.putObject("error")
                .put("message", message)
                .put("type", type())
                .put("param", parameter)
                .put("code", status == HttpStatus.TOO_MANY_REQUESTS.value() ? "rate_limit_exceeded" : code);
        return root;
    }

    private String type() {
        if (status >= HttpStatus.INTERNAL_SERVER_ERROR.value()) {
            return "server_error";
        }
        return status == HttpStatus.TOO_MANY_REQUESTS.value() ? "rate_limit_error" : "invalid_request_error";
    }

    /** Returns the answer. */
    ResponseEntity<byte[]> response() {
        ResponseEntity.BodyBuilder builder = ResponseEntity.status(status).contentType(MediaType.APPLICATION_JSON);
        if (later > 0) {
            builder.header(HttpHeaders.RETRY_AFTER, String.valueOf(later));
        }
        return builder.body(JsonMapper.shared().writeValueAsBytes(json()));
    }
}
