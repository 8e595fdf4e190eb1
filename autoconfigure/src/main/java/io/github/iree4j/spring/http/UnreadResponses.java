package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.http.RequestCounts.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.channel.ServerChannel;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Closes a connection whose client reads one of our answers more slowly than {@link BodyLimits#patience} allows; Netty
 * would keep such a connection forever. The time begins when bytes are waiting, and ends when all bytes are sent. Other
 * answers of the application have no time limit. Serves one connection, on the connection's thread.
 */
@NotForApplications
public final class UnreadResponses extends ChannelOutboundHandlerAdapter {

    /** Number of our answers being sent on a connection. */
    static final AttributeKey<AtomicInteger> OURS = AttributeKey.valueOf("iree4j.unreadResponses");

    private final BodyLimits limits;
    private long begun;
    /** Bytes of messages sent since {@code begun}; {@code waiting} counts the bytes of unsent or partly sent messages. */
    private long sent;

    private long waiting;
    private @Nullable Future<?> look;

    private UnreadResponses(BodyLimits limits) {
        this.limits = limits;
    }

    /**
     * Adds the handler to a connection.
     *
     * @param pipeline of the connection
     * @param limits limit the time of a client
     */
    public static void addTo(ChannelPipeline pipeline, BodyLimits limits) {
        pipeline.addFirst("iree4j.unreadResponses", new UnreadResponses(limits));
    }

    /**
     * Watches the connection of a Netty response until the response is sent. The connection is closed when the answer
     * gives way to others.
     *
     * @return ends the watch
     */
    static Runnable watch(ServerHttpResponse response, LimitedBody body) {
        if (!(ServerHttpResponseDecorator.getNativeResponse(response) instanceof HttpServerResponse sent)) {
            return () -> {};
        }
        AtomicReference<AtomicInteger> counter = new AtomicReference<>(); // set at once
        AtomicBoolean over = new AtomicBoolean(); // the connection's next request may have arrived
        sent.withConnection(connection -> {
            Channel parent = connection.channel().parent(); // the connection of an HTTP/2 stream, otherwise the server
            Channel channel = parent == null || parent instanceof ServerChannel ? connection.channel() : parent;
            counter.set(ours(channel));
            body.endUnread(() -> close(connection.channel(), over));
        });
        AtomicInteger ours = counter.get();
        ours.incrementAndGet();
        return () -> {
            over.set(true);
            ours.decrementAndGet();
        };
    }

    private static void close(Channel channel, AtomicBoolean over) {
        channel.eventLoop().execute(() -> {
            if (!over.get()) {
                channel.close();
            }
        });
    }

    static AtomicInteger ours(Channel channel) {
        Attribute<AtomicInteger> attribute = channel.attr(OURS);
        attribute.setIfAbsent(new AtomicInteger());
        return attribute.get();
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        long bytes = switch (message) {
            case ByteBuf buffer -> buffer.readableBytes();
            case FileRegion file -> file.count();
            default -> 0;
        };
        if (bytes == 0) {
            context.write(message, promise);
            return;
        }
        if (waiting == 0) {
            begun = now(context);
            sent = 0;
        }
        waiting += bytes;
        context.write(message, promise.unvoid().addListener(_ -> {
            waiting -= bytes;
            sent += bytes;
        }));
        if (look == null && ours(context.channel()).get() > 0) {
            lookAfter(limits.patience(0), context);
        }
    }

    private static long now(ChannelHandlerContext context) {
        return context.executor().ticker().nanoTime();
    }

    private void lookAfter(long nanos, ChannelHandlerContext context) {
        look = context.executor().schedule(() -> look(context), nanos, TimeUnit.NANOSECONDS);
    }

    private void look(ChannelHandlerContext context) {
        look = null;
        ChannelOutboundBuffer unsent = context.channel().unsafe().outboundBuffer();
        if (waiting == 0 || unsent == null || ours(context.channel()).get() == 0) {
            return;
        }
        long left = limits.patience(sent + unsent.currentProgress()) - (now(context) - begun);
        if (left < 0) {
            limits.counts().refuse(Reason.UNREAD);
            context.close();
        } else {
            lookAfter(left + 1, context);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (look != null) {
            look.cancel(false);
        }
    }
}
