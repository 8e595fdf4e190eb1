package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;

/**
 * Answers in the protocol's format, with Spring MVC, where the container answers in place of the controllers: for
 * requests with an unreadable body, regardless of a controller's handling, and for requests without a controller. A
 * filter for error dispatches of all paths.
 */
@NotForApplications
public final class ProtocolErrors implements Filter {

    private static final Logger log = LoggerFactory.getLogger(ProtocolErrors.class);

    private final List<String> paths;
    private final Form form;

    /** The format of a failure. */
    @FunctionalInterface
    public interface Form {
        /**
         * Returns the JSON of a failure.
         *
         * @param status the status of the response
         * @param description the reason
         * @return the body
         */
        byte[] write(int status, String description);
    }

    /**
     * Creates the filter.
     *
     * @param paths the paths of the protocol, as servlet patterns
     */
    public ProtocolErrors(List<String> paths) {
        this(paths, (_, description) -> openInference(description));
    }

    /**
     * Creates the filter of another protocol.
     *
     * @param paths the paths of the protocol, as servlet patterns
     * @param form the format of failures
     */
    public ProtocolErrors(List<String> paths, Form form) {
        this.paths = List.copyOf(paths);
        this.form = form;
    }

    private static byte[] openInference(String description) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try (JsonGenerator json = InferenceResponse.JSON.createGenerator(ObjectWriteContext.empty(), body)) {
            json.writeStartObject();
            json.writeStringProperty("error", description);
            json.writeEndObject();
        }
        return body.toByteArray();
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse answer
                && request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI) instanceof String uri
                && isOurs(uri.substring(
                        Math.min(uri.length(), http.getContextPath().length())))) {
            answer.setContentType(MediaType.APPLICATION_JSON_VALUE);
            byte[] body = form.write(answer.getStatus(), describe(answer.getStatus(), request));
            try {
                answer.getOutputStream().write(body);
                answer.flushBuffer();
            } catch (IOException e) { // clients decide how often: the container would log a stack trace
                log.debug("the client of '{}' is gone: {}", uri, e.toString());
            }
            return;
        }
        chain.doFilter(request, response);
    }

    private boolean isOurs(String path) {
        return paths.stream()
                .anyMatch(pattern -> pattern.endsWith("/*")
                        ? path.startsWith(pattern.substring(0, pattern.length() - 1))
                        : path.equals(pattern));
    }

    private static String describe(int status, ServletRequest request) {
        Object failure = request.getAttribute(RequestDispatcher.ERROR_EXCEPTION);
        if (failure instanceof SocketTimeoutException) {
            return "the body is too slow: nothing has arrived within the timeout of the server; send it faster";
        }
        if (failure instanceof IOException e && status == HttpStatus.BAD_REQUEST.value()) {
            return "the body cannot be read: %s; send all of it, with a valid 'Content-Length' or valid chunks"
                    .formatted(Datatype.shortened(String.valueOf(e.getMessage())));
        }
        @Nullable HttpStatus known = HttpStatus.resolve(status);
        return known == null ? "status " + status : known.getReasonPhrase();
    }
}
