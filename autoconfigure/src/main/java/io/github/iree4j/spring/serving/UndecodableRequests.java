package io.github.iree4j.spring.serving;

import io.github.iree4j.api.NotForApplications;
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
import java.util.function.Function;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import reactor.netty.NettyPipeline;

/**
 * Answers in the protocol's format where Reactor Netty answers in place of the controllers: Netty ends undecodable
 * requests, such as a request with a malformed chunk, with an empty response. This handler adds a body to such
 * responses. The counterpart of {@link ProtocolErrors}. Serves one connection, on the connection's thread.
 */
@NotForApplications
public final class UndecodableRequests extends ChannelDuplexHandler {

    private final String protocol;
    private final Function<String, byte[]> form;
    private String path = "";
    private boolean undecodable;

    private UndecodableRequests(String protocol, Function<String, byte[]> form) {
        this.protocol = protocol;
        this.form = form;
    }

    /**
     * Adds the handler to an HTTP/1.1 connection; other connections, which have no chunks, stay unchanged.
     *
     * @param pipeline of the connection
     * @param base path before the protocol's path, without a trailing slash
     */
    public static void addTo(ChannelPipeline pipeline, String base) {
        addTo(
                pipeline,
                base + "/v2",
                text -> "{\"error\":\"%s\"}".formatted(text).getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Adds the handler of another protocol, like the handler of this protocol.
     *
     * @param pipeline of the connection
     * @param protocol path of the protocol, without a trailing slash
     * @param form returns the body with a description of the failure, which needs no escapes
     */
    public static void addTo(ChannelPipeline pipeline, String protocol, Function<String, byte[]> form) {
        if (pipeline.get(NettyPipeline.HttpTrafficHandler) != null) {
            pipeline.addBefore(
                    NettyPipeline.HttpTrafficHandler,
                    "iree4j.undecodableRequests" + protocol,
                    new UndecodableRequests(protocol, form));
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
                && (path.startsWith(protocol + "/") || path.equals(protocol))) {
            super.write(context, described(response), promise);
        } else {
            super.write(context, message, promise);
        }
    }

    private FullHttpResponse described(FullHttpResponse empty) {
        byte[] body = form.apply("the body cannot be read: it is malformed; send valid chunks, or a 'Content-Length'");
        FullHttpResponse response = empty.replace(Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length);
        empty.release();
        return response;
    }
}
