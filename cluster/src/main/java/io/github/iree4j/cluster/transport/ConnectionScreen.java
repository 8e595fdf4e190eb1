package io.github.iree4j.cluster.transport;

import io.grpc.ServerCredentials;
import io.grpc.internal.ObjectPool;
import io.grpc.netty.shaded.io.grpc.netty.GrpcHttp2ConnectionHandler;
import io.grpc.netty.shaded.io.grpc.netty.InternalNettyServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.InternalProtocolNegotiator.ProtocolNegotiator;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelOutboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelPromise;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Exception;
import io.grpc.netty.shaded.io.netty.util.AsciiString;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Sees each connection before gRPC does. At most {@link #MOST_STRANGERS} connections without a peer are kept; beyond
 * the limit the oldest is closed. A failed connection is logged as a single line with the source address, at most once
 * in ten seconds, where gRPC logs a stack trace for each failure. Thread-safe.
 */
final class ConnectionScreen {
    /*
     * gRPC notifies neither server nor filters of a connection failing before the protocol begins. So this class wraps
     * the handler beginning the protocol, with gRPC classes made for this purpose; these classes may change with the
     * version of gRPC. gRPC logs the failure while closing the channel, on the same thread: messages logged meanwhile
     * belong to this channel.
     */

    /** Limit on connections without a peer: more than the number of nodes, since all nodes may connect at once. */
    static final int MOST_STRANGERS = 512;

    private static final ThreadLocal<@Nullable Visitor> CLOSING = new ThreadLocal<>();

    /** The logger of gRPC for failures of connections. Referenced here, since the log manager holds no strong reference. */
    static final java.util.logging.Logger FAILURES =
            java.util.logging.Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerTransport.connections");

    /** The logger of gRPC for streams of a connection; a stack trace for each stream open when a connection ends. */
    static final java.util.logging.Logger STREAMS =
            java.util.logging.Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler");

    static {
        leaveOut(FAILURES, ConnectionScreen::isTold);
        leaveOut(STREAMS, ConnectionScreen::isEndOfConnection);
    }

    private static void leaveOut(java.util.logging.Logger logger, Predicate<LogRecord> known) {
        Filter before = logger.getFilter();
        logger.setFilter(each -> !known.test(each) && (before == null || before.isLoggable(each)));
    }

    private static boolean isEndOfConnection(LogRecord logged) {
        return logged.getThrown() instanceof Http2Exception.StreamException failure
                && String.valueOf(failure.getMessage()).startsWith("Stream closed before write");
    }

    private final ConnectionLog log;
    private final Map<SocketAddress, Channel> strangers = new LinkedHashMap<>(); // guarded by this

    ConnectionScreen(LongSupplier nanoTime) {
        this.log = new ConnectionLog(LoggerFactory.getLogger(ConnectionScreen.class), nanoTime);
    }

    /** Returns credentials passing each connection through here. */
    ServerCredentials at(ServerCredentials credentials) {
        var begins = InternalNettyServerCredentials.toNegotiator(credentials);
        return InternalNettyServerCredentials.create(
                (ObjectPool<? extends Executor> pool) -> new Door(begins.newNegotiator(pool)));
    }

    /** Records a connection as a peer's. */
    synchronized void knows(@Nullable SocketAddress peer) {
        strangers.remove(peer);
    }

    private void arrived(Channel channel) {
        SocketAddress from = channel.remoteAddress();
        if (from == null) { // gone already
            return;
        }
        Channel oldest = null;
        synchronized (this) {
            strangers.put(from, channel);
            if (strangers.size() > MOST_STRANGERS) {
                oldest = strangers.remove(strangers.keySet().iterator().next());
            }
        }
        channel.closeFuture().addListener(_ -> left(from, channel));
        if (oldest != null) {
            log(oldest.remoteAddress(), MOST_STRANGERS + " younger connections are no peer's either, the limit");
            // Not by the handler of HTTP/2, which would wait 10 s for an answer of the stranger.
            oldest.pipeline().firstContext().close();
        }
    }

    private synchronized void left(SocketAddress from, Channel channel) {
        strangers.remove(from, channel);
    }

    private static boolean isTold(LogRecord failure) {
        Visitor visitor = CLOSING.get();
        Throwable cause = failure.getThrown();
        if (visitor == null || cause == null) {
            return false;
        }
        visitor.log(cause);
        return true;
    }

    void log(@Nullable SocketAddress from, String why) {
        log.record(from, why);
    }

    /** Begins the protocol on each connection. */
    private final class Door implements ProtocolNegotiator {
        private final ProtocolNegotiator inner;

        Door(ProtocolNegotiator inner) {
            this.inner = inner;
        }

        @Override
        public AsciiString scheme() {
            return inner.scheme();
        }

        @Override
        public ChannelHandler newHandler(GrpcHttp2ConnectionHandler protocol) {
            ChannelHandler next = inner.newHandler(protocol);
            return new ChannelInboundHandlerAdapter() {
                @Override
                public void handlerAdded(ChannelHandlerContext context) {
                    context.pipeline().addFirst(new Visitor());
                    context.pipeline().replace(this, null, next);
                    arrived(context.channel());
                }
            };
        }

        @Override
        public void close() {
            inner.close();
        }
    }

    /** A connection. Every close from this side passes through here. */
    private final class Visitor extends ChannelOutboundHandlerAdapter {
        private @Nullable SocketAddress from;

        @Override
        public void handlerAdded(ChannelHandlerContext context) {
            from = context.channel().remoteAddress();
        }

        @Override
        public void close(ChannelHandlerContext context, ChannelPromise promise) throws Exception {
            CLOSING.set(this);
            try {
                super.close(context, promise);
            } finally {
                CLOSING.remove();
            }
        }

        void log(Throwable cause) {
            ConnectionScreen.this.log(from, cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
    }
}
