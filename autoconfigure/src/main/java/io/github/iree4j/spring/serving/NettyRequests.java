package io.github.iree4j.spring.serving;

import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerResponse;

/** What Netty says of a request; to be asked only where it is {@linkplain ReactiveBody#IS_NETTY present}. */
final class NettyRequests {

    private NettyRequests() {}

    /** Whether an answer has begun, be it Netty's own. */
    static boolean isAnswered(ServerHttpResponse response) {
        return ServerHttpResponseDecorator.getNativeResponse(response) instanceof HttpServerResponse sent
                && sent.hasSentHeaders();
    }

    /** Whether a failure says that the connection is closed: Netty's own is no failure of input and output. */
    static boolean isOfClosedConnection(Throwable failure) {
        return failure instanceof AbortedException;
    }
}
