package io.github.iree4j.spring.http;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;

/**
 * Ends requests of WebFlux on Netty whose client has gone while the body arrived, for all endpoints of the application:
 * Spring takes the end of the connection for a failure of the server, and logs a stack for each such client.
 */
public final class GoneClients implements WebFilter, WebExceptionHandler, Ordered {

    private static final Logger log = LoggerFactory.getLogger(GoneClients.class);

    private static final String BODY = GoneClients.class.getName() + ".body";

    /** Creates the filter and handler. */
    public GoneClients() {}

    /** Before the handlers that answer. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        Body body = new Body(exchange.getRequest());
        exchange.getAttributes().put(BODY, body);
        return chain.filter(exchange.mutate().request(body).build());
    }

    /** A body that fails once: after an answer Netty fails a body again, and Reactor logs the second failure. */
    private static final class Body extends ServerHttpRequestDecorator {
        private volatile @Nullable Throwable failure;

        Body(ServerHttpRequest request) {
            super(request);
        }

        @Override
        public Flux<DataBuffer> getBody() {
            AtomicReference<Subscription> arriving = new AtomicReference<>();
            return super.getBody().doOnSubscribe(arriving::set).doOnError(thrown -> {
                failure = thrown;
                arriving.get().cancel();
            });
        }
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        // The application may have other connections, whose failures are of the same types.
        boolean isOfBody = exchange.getAttribute(BODY) instanceof Body body && failure.equals(body.failure);
        if (!isOfBody || !(failure instanceof AbortedException || failure instanceof IOException)) {
            return Mono.error(failure);
        }
        log.debug("the client of '{}' is gone", exchange.getRequest().getPath());
        return Mono.empty();
    }
}
