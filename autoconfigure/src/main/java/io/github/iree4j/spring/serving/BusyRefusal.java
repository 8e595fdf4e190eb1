package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/**
 * Refuses inference requests that would wait too long, with Spring MVC, before other filters and controllers process
 * the request: under overload, work spent on refusals is lost for answers.
 */
@NotForApplications
public final class BusyRefusal extends HttpFilter {

    private static final long serialVersionUID = 1L;

    /** Servlet pattern for the paths of models. */
    public static final String PATH = "/v2/models/*";

    private static final List<String> INFERENCE = List.of("/infer", "/generate", "/generate_stream");

    private final transient RequestLine line;

    /**
     * Creates the filter, for {@link #PATH}.
     *
     * @param controller the controller of these requests
     */
    public BusyRefusal(OpenInferenceController controller) {
        line = controller.line();
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        RequestLine.Refusal refusal = isInference(request) ? line.refusal() : null;
        if (refusal == null) {
            chain.doFilter(request, response);
            return;
        }
        byte[] body =
                "{\"error\":\"%s\"}".formatted(refusal.text()).getBytes(StandardCharsets.UTF_8); // needs no escapes
        response.setStatus(HttpStatus.TOO_MANY_REQUESTS.value());
        response.setHeader(
                HttpHeaders.RETRY_AFTER, String.valueOf(refusal.later().seconds()));
        response.setContentType(MediaType.APPLICATION_JSON_VALUE);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    private static boolean isInference(HttpServletRequest request) {
        return HttpMethod.POST.matches(request.getMethod())
                && INFERENCE.stream().anyMatch(request.getRequestURI()::endsWith);
    }
}
