package io.github.iree4j.spring.serving;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import reactor.netty.NettyPipeline;

/**
 * Answers in the protocol's format where Reactor Netty does so in place of the controllers: it ends requests that it cannot decode, such
 * as one with a malformed chunk, with a response without a body, which gets one here. The counterpart of {@link ProtocolErrors}.
 * For one connection, whose thread calls it.
 */
public final class UndecodableRequests extends ChannelDuplexHandler {

    private final String base;
    private String path = "";
    private boolean undecodable;

    private UndecodableRequests(String base) {
        this.base = base;
    }

    /**
     * Adds the handler to a connection of HTTP/1.1; others, which have no chunks, stay as they are.
     *
     * @param pipeline of the connection
     * @param base path before that of the protocol, without a slash at its end
     */
    public static void addTo(ChannelPipeline pipeline, String base) {
        if (pipeline.get(NettyPipeline.HttpTrafficHandler) != null) {
            pipeline.addBefore(
                    NettyPipeline.HttpTrafficHandler, "iree4j.undecodableRequests", new UndecodableRequests(base));
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        if (message instanceof HttpRequest request) {
            path = request.uri();
        }
        if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
            undecodable = true;
        }
        super.channelRead(context, message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) throws Exception {
        if (undecodable
                && message instanceof FullHttpResponse response
                && !response.content().isReadable()
                && response.status().code() == HttpStatus.BAD_REQUEST.value()
                && (path.startsWith(base + "/v2/") || path.equals(base + "/v2"))) {
            super.write(context, described(response), promise);
        } else {
            super.write(context, message, promise);
        }
    }

    private static FullHttpResponse described(FullHttpResponse empty) {
        byte[] body =
                "{\"error\":\"the body cannot be read: it is malformed; send valid chunks, or a 'Content-Length'\"}"
                        .getBytes(StandardCharsets.US_ASCII);
        FullHttpResponse response = empty.replace(Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        empty.release();
        return response;
    }
}
