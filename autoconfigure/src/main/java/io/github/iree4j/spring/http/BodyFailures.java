package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import java.util.concurrent.atomic.AtomicReference;
import org.reactivestreams.Subscription;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Makes a body that ends early a fault of the client, for all endpoints of an application with WebFlux: Spring takes the
 * end of a connection for a failure of the server, and logs a stack for each client that goes.
 */
@NotForApplications
public final class BodyFailures implements WebFilter, Ordered {

    /** Creates the filter. */
    public BodyFailures() {}

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        return chain.filter(
                exchange.mutate().request(new Body(exchange.getRequest())).build());
    }

    private static final class Body extends ServerHttpRequestDecorator {
        Body(ServerHttpRequest request) {
            super(request);
        }

        @Override
        public Flux<DataBuffer> getBody() {
            AtomicReference<Subscription> arriving = new AtomicReference<>();
            return super.getBody().doOnSubscribe(arriving::set).onErrorMap(failure -> {
                // After an answer Netty would fail the body again, and Reactor would log the second failure.
                arriving.get().cancel();
                return new RefusedBody(HttpStatus.BAD_REQUEST, "the body ends early", failure);
            });
        }
    }
}
