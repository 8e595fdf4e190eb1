package io.github.iree4j.sample;

import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.NoHandlerFoundException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.DatabindException;

/**
 * Renders invalid requests as problem details (RFC 9457); member {@code field} names the invalid field. The starter
 * renders failures of calls.
 */
@RestControllerAdvice
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
final class Problems extends ResponseEntityExceptionHandler {

    /** For Spring. */
    Problems() {}

    /** Without the warning for each client that goes while the body is read. */
    @Override
    protected @Nullable ResponseEntity<Object> handleExceptionInternal(
            Exception e, @Nullable Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        boolean isAnswered = request instanceof ServletWebRequest served
                && served.getResponse() != null
                && served.getResponse().isCommitted();
        return isAnswered ? null : super.handleExceptionInternal(e, body, headers, status, request);
    }

    @ExceptionHandler
    ProblemDetail invalidField(InvalidFieldException e) {
        return problem(HttpStatus.BAD_REQUEST, "Invalid request", e.getMessage(), e.field());
    }

    /** Without the path in the detail: a client may send a long path, and the problem names the path already. */
    @Override
    protected @Nullable ResponseEntity<Object> handleNoHandlerFoundException(
            NoHandlerFoundException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        ProblemDetail problem = problem(HttpStatus.NOT_FOUND, "Not Found", "nothing is served here", null);
        problem.setInstance(instance(e.getRequestURL()));
        return handleExceptionInternal(e, problem, headers, status, request);
    }

    /** Spring would take the path for a URI; {@code //} is none, and would fail. */
    private static URI instance(String path) {
        try {
            return new URI(path);
        } catch (URISyntaxException e) {
            return URI.create("/");
        }
    }

    @Override
    protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(
            HttpMessageNotReadableException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        String field = null;
        String detail = e.getCause() == null ? required(e) : "the body is not JSON";
        ErrorResponseException limited = cause(e, ErrorResponseException.class);
        if (limited != null) { // a limit of bodies, noticed while the body was read
            return handleExceptionInternal(
                    limited, limited.getBody(), limited.getHeaders(), limited.getStatusCode(), request);
        }
        if (cause(e, StreamConstraintsException.class) != null) {
            HttpStatus tooLarge = HttpStatus.CONTENT_TOO_LARGE;
            return handleExceptionInternal(
                    e,
                    problem(
                            tooLarge,
                            "Request too large",
                            "the body exceeds the size or nesting limit of this server",
                            null),
                    headers,
                    tooLarge,
                    request);
        }
        if (e.getCause() instanceof JacksonException cause) {
            // Not Jackson's own message, which names Java classes.
            field = cause instanceof DatabindException databind ? path(databind) : null;
            detail = field == null ? detail : "'%s' is of the wrong type".formatted(field);
            TokenStreamLocation location = cause.getLocation();
            if (location != null && location.getLineNr() > 0) {
                detail += " (line %d, column %d)".formatted(location.getLineNr(), location.getColumnNr());
            }
        }
        return handleExceptionInternal(
                e, problem(HttpStatus.BAD_REQUEST, "Unreadable request", detail, field), headers, status, request);
    }

    /** Bodies are JSON, or tensors of other types. */
    private static String required(HttpMessageNotReadableException e) {
        MediaType type = e.getHttpInputMessage().getHeaders().getContentType();
        return type == null || MediaType.APPLICATION_JSON.isCompatibleWith(type)
                ? "a JSON body is required" // the body may be null in JSON
                : "the body is empty; a body of type %s/%s is required".formatted(type.getType(), type.getSubtype());
    }

    private static <T extends Throwable> @Nullable T cause(Throwable failure, Class<T> type) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }

    /** The path of the invalid value, such as {@code inputs[0].shape[1]}; null for the whole body. */
    private static @Nullable String path(DatabindException e) {
        StringBuilder path = new StringBuilder();
        for (JacksonException.Reference step : e.getPath()) {
            if (step.getPropertyName() == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.getPropertyName());
            }
        }
        return path.isEmpty() ? null : path.toString();
    }

    private static ProblemDetail problem(
            HttpStatus status, String title, @Nullable String detail, @Nullable String field) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        problem.setTitle(title);
        if (field != null) {
            problem.setProperty("field", field);
        }
        return problem;
    }
}
