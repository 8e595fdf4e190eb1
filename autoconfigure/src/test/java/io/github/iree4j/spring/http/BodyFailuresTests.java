package io.github.iree4j.spring.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;

/** A truncated body is the client's fault; a failure of anything else is not. */
class BodyFailuresTests {

    private final BodyFailures filter = new BodyFailures();

    private Throwable failure(Flux<DataBuffer> body, WebFilterChain chain) {
        MockServerWebExchange exchange =
                MockServerWebExchange.from(MockServerHttpRequest.post("/own").body(body));
        return filter.filter(exchange, chain)
                .then(Mono.<Throwable>empty())
                .onErrorResume(Mono::just)
                .block(Duration.ofMinutes(1));
    }

    private static Flux<DataBuffer> arriving() {
        return Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(new byte[3]));
    }

    static List<Exception> endsOfConnections() {
        return List.of(new IOException("reset"), new AbortedException("closed before the read"));
    }

    @ParameterizedTest
    @MethodSource("endsOfConnections")
    void aTruncatedBodyIsABadRequest(Exception end) {
        Throwable failure = failure(
                arriving().concatWith(Flux.error(end)),
                exchange -> exchange.getRequest().getBody().then());
        assertThat(failure).isInstanceOfSatisfying(RefusedBody.class, refused -> {
            assertThat(refused.getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
            assertThat(refused).hasCause(end);
        });
    }

    @ParameterizedTest
    @MethodSource("endsOfConnections")
    void theEndOfAnotherConnectionRemainsAFailureOfTheServer(Exception end) {
        Throwable failure =
                failure(arriving(), exchange -> exchange.getRequest().getBody().then(Mono.error(end)));
        assertThat(failure).isSameAs(end);
    }

    @Test
    void aWholeBodyArrives() {
        AtomicInteger bytes = new AtomicInteger();
        assertThat(failure(
                        arriving(),
                        exchange -> exchange.getRequest()
                                .getBody()
                                .doOnNext(each -> bytes.addAndGet(each.readableByteCount()))
                                .then()))
                .isNull();
        assertThat(bytes).hasValue(3);
    }
}
