package io.github.iree4j.spring.serving;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses forms and multipart bodies with Spring MVC, on paths without forms, such as the paths of the protocol. The
 * container and Spring read forms before any controller runs, and a thread waits until the client has sent the whole
 * form.
 */
public final class FormRefusal extends OncePerRequestFilter {

    /** Servlet patterns for the paths of the protocol and its extensions. */
    public static final List<String> PATHS = List.of(
            "/v2",
            "/v2/",
            "/v2/health/*",
            "/v2/models/*",
            "/v2/repository/*",
            "/v2/systemsharedmemory/*",
            "/v2/cudasharedmemory/*",
            "/v2/trace/*",
            "/v2/logging/*");

    private final Predicate<@Nullable String> isRefused;
    private final String contentType;
    private final byte[] refusal;

    /** Creates the filter of the protocol, for {@link #PATHS} and before any filter reading parameters. */
    public FormRefusal() {
        this(
                MediaType.APPLICATION_JSON_VALUE,
                "{\"error\":\"%s\"}".formatted(OpenInference.RequestHead.FORM)); // needs no escapes
    }

    /**
     * Creates a filter for other paths, before any filter reading parameters.
     *
     * @param contentType the content type of the refusal
     * @param refusal the body of the refusal, sent with status 415
     */
    public FormRefusal(String contentType, String refusal) {
        this(OpenInference.RequestHead::isForm, contentType, refusal);
    }

    private FormRefusal(Predicate<@Nullable String> isRefused, String contentType, String refusal) {
        this.isRefused = isRefused;
        this.contentType = contentType;
        this.refusal = refusal.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Creates a filter refusing multipart bodies only, for the port of Actuator: the servlet of that port cannot read
     * multipart bodies, so that each would fail with an error in the log. Other forms may be a login's.
     *
     * @return the filter
     */
    public static FormRefusal ofMultipart() {
        return new FormRefusal(
                OpenInference.RequestHead::isMultipart,
                MediaType.APPLICATION_PROBLEM_JSON_VALUE,
                "{\"title\":\"Unsupported Media Type\",\"status\":415,\"detail\":\"multipart bodies are not supported\"}");
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (!isRefused.test(request.getContentType())) {
            chain.doFilter(request, response);
            return;
        }
        // not sendError, which dispatches to a controller
        response.setStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE.value());
        response.setContentType(contentType);
        response.getOutputStream().write(refusal);
    }
}
