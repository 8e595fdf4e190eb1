package io.github.iree4j.spring.console;

import io.github.iree4j.spring.console.ConsoleRequests.Answer;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** Serves the console with Spring MVC. */
public final class ServletConsole extends SimpleUrlHandlerMapping {

    /**
     * Creates a mapping of the console's path.
     *
     * @param requests answers the requests
     */
    public ServletConsole(ConsoleRequests requests) {
        super(Map.of(requests.path() + "/**", handler(requests)), -50); // before controllers that map all paths
    }

    private static HttpRequestHandler handler(ConsoleRequests requests) {
        return (request, response) -> answer(requests, request, response);
    }

    private static void answer(ConsoleRequests requests, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        Object below = request.getAttribute(HandlerMapping.PATH_WITHIN_HANDLER_MAPPING_ATTRIBUTE);
        Answer answer = requests.answer(
                request.getMethod(),
                request.getRequestURI(),
                request.getQueryString(),
                below == null ? "" : below.toString(),
                request.getHeader("If-None-Match"));
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (answer.status() != HttpServletResponse.SC_NOT_MODIFIED) {
            response.setContentLength(answer.body().length);
            response.getOutputStream().write(answer.body());
        }
    }
}
