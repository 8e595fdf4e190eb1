package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.BodyLimits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection whose client reads what waits for it more slowly than {@link BodyLimits#patience} allows; Netty would keep it for ever.
 * The time begins when something waits, and ends when all of it is sent. For one connection, whose thread calls it.
 */
public final class UnreadResponses extends ChannelOutboundHandlerAdapter {

    private final BodyLimits limits;
    private long begun;
    /** Bytes of messages that are sent, since it began; and of those that are not, or in part. */
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
     * @param limits say how long a client may take
     */
    public static void addTo(ChannelPipeline pipeline, BodyLimits limits) {
        pipeline.addFirst("iree4j.unreadResponses", new UnreadResponses(limits));
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
        if (look == null) {
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
        if (waiting == 0 || unsent == null) {
            return;
        }
        long left = limits.patience(sent + unsent.currentProgress()) - (now(context) - begun);
        if (left < 0) {
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
