package io.github.iree4j.sample;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses forms, which this application does not have. The container and Spring read them before any controller, whatever
 * the path, and a thread waits for as long as the client takes to send one.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
final class NoForms extends OncePerRequestFilter {

    private static final byte[] REFUSED =
            "{\"title\":\"Unsupported Media Type\",\"status\":415,\"detail\":\"forms are not supported\"}"
                    .getBytes(StandardCharsets.US_ASCII);

    /** For Spring. */
    NoForms() {}

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (!isForm(request.getContentType())) {
            chain.doFilter(request, response);
            return;
        }
        response.setStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE.value()); // no sendError, which dispatches to a controller
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
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
