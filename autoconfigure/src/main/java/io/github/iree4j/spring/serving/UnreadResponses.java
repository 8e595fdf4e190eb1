package io.github.iree4j.spring.serving;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Closes a connection whose client reads nothing of what waits for it, which Netty would keep for ever; servlet containers do the same after
 * their own timeouts. For one connection, whose thread calls it.
 */
public final class UnreadResponses extends IdleStateHandler {

    private UnreadResponses(Duration patience) {
        super(true, 0, patience.toNanos(), 0, TimeUnit.NANOSECONDS);
    }

    /**
     * Adds the handler to a connection.
     *
     * @param pipeline of the connection
     * @param patience how long a client may read nothing, twice that at most
     */
    public static void addTo(ChannelPipeline pipeline, Duration patience) {
        pipeline.addFirst("iree4j.unreadResponses", new UnreadResponses(patience));
    }

    /** The first event after a write only says that no write has completed since, of which parts may have been sent. */
    @Override
    protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
        ChannelOutboundBuffer unsent = context.channel().unsafe().outboundBuffer();
        if (!event.isFirst() && unsent != null && unsent.totalPendingWriteBytes() > 0) {
            context.close();
        }
    }
}
