package io.github.iree4j.spring.console;

import io.github.iree4j.spring.console.ConsoleRequests.Answer;
import java.util.Map;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;

/** Serves the console with Spring WebFlux. */
public final class ReactiveConsole extends SimpleUrlHandlerMapping {

    /**
     * Creates a mapping of the console's path.
     *
     * @param requests answers the requests
     */
    public ReactiveConsole(ConsoleRequests requests) {
        super(Map.of(requests.path() + "/**", handler(requests)), -50); // before controllers that map all paths
    }

    private static WebHandler handler(ConsoleRequests requests) {
        return exchange -> answer(requests, exchange);
    }

    private static Mono<Void> answer(ConsoleRequests requests, ServerWebExchange exchange) {
        PathContainer below = exchange.getAttribute(HandlerMapping.PATH_WITHIN_HANDLER_MAPPING_ATTRIBUTE);
        Answer answer = requests.answer(
                exchange.getRequest().getMethod().name(),
                exchange.getRequest().getPath().value(),
                exchange.getRequest().getURI().getRawQuery(),
                below == null ? "" : below.value(),
                exchange.getRequest().getHeaders().getFirst("If-None-Match"));
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        answer.headers().forEach(response.getHeaders()::set);
        if (answer.body().length == 0) {
            return response.setComplete();
        }
        response.getHeaders().setContentLength(answer.body().length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(answer.body())));
    }
}
