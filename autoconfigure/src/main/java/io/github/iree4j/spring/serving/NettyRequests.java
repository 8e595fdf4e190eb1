package io.github.iree4j.spring.serving;

import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.netty.http.server.HttpServerResponse;

/** Netty's view of requests; usable only where Netty is {@linkplain ReactiveBody#IS_NETTY present}. */
final class NettyRequests {

    private NettyRequests() {}

    /** Returns whether an answer has begun, including answers of Netty itself. */
    static boolean isAnswered(ServerHttpResponse response) {
        return ServerHttpResponseDecorator.getNativeResponse(response) instanceof HttpServerResponse sent
                && sent.hasSentHeaders();
    }
}
