package io.github.iree4j.spring.serving;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses forms and multipart bodies, which the protocol does not have, on its paths with Spring MVC. The container and Spring
 * read them before any controller, and a thread waits for as long as the client takes to send one.
 */
public final class FormRefusal extends OncePerRequestFilter {

    /** The paths of the protocol, as patterns of servlets. */
    public static final List<String> PATHS = List.of("/v2", "/v2/", "/v2/health/*", "/v2/models/*", "/v2/repository/*");

    private static final byte[] REFUSED =
            "{\"error\":\"forms and multipart bodies are not supported; send JSON, or JSON and binary tensor data\"}"
                    .getBytes(StandardCharsets.US_ASCII);

    /** Creates the filter; for {@link #PATHS}, before any that reads parameters. */
    public FormRefusal() {}

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (!isForm(request.getContentType())) {
            chain.doFilter(request, response);
            return;
        }
        response.setStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE.value()); // no sendError, which dispatches to a controller
        response.setContentType(MediaType.APPLICATION_JSON_VALUE);
        response.getOutputStream().write(REFUSED);
    }

    private static boolean isForm(@Nullable String contentType) {
        if (contentType == null) {
            return false;
        }
        String type = contentType.strip().toLowerCase(Locale.ROOT);
        return type.startsWith("multipart/") || type.startsWith(MediaType.APPLICATION_FORM_URLENCODED_VALUE);
    }
}
