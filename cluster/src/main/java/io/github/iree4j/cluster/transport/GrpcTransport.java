package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.PeerStream;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects this node with other nodes by gRPC, on a separate port. Frames are handled on the threads of the network, so
 * handlers must not block.
 *
 * <p>Where TLS is on, both sides show a certificate issued by a trusted authority for the host advertised by the node.
 * Thread-safe.
 */
public final class GrpcTransport implements AutoCloseable {

    private static final int METADATA_BYTES = 4 << 10;
    private static final int STREAMS_PER_CONNECTION = 16;
    private static final int CLOSE_SECONDS = 2;
    private static final int FINISH_MILLIS = 500;
    private static final Logger log = LoggerFactory.getLogger(GrpcTransport.class);

    private final TransportOptions options;
    private final PeerHandler handler;
    private final ConnectionScreen door = new ConnectionScreen(System::nanoTime);
    private final SecureRandom random = new SecureRandom();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("iree-cluster-transport").factory());
    private final LastingConnections connections;
    private final MembershipMessages messages;
    private final AtomicReference<@Nullable Server> server = new AtomicReference<>();
    private volatile @Nullable ClusterMember self;
    private volatile boolean closed;

    /**
     * Creates a transport, neither listening nor connected.
     *
     * @param options how to listen and connect
     * @param handler receives the connections
     */
    public GrpcTransport(TransportOptions options, PeerHandler handler) {
        this.options = options;
        this.handler = handler;
        this.connections = new LastingConnections(options.resumeTimeout(), timer, this::redial, this::probe);
        this.messages = new MembershipMessages(options.tls() != null, this::membershipChannel, System::nanoTime);
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(1, TimeUnit.SECONDS); // never shut down: connections may still end after this has closed
        timer.allowCoreThreadTimeOut(true);
    }

    /**
     * Begins to listen.
     *
     * @param identity the identity of this node
     * @param host the host name or address used by peers
     * @return this node as known to peers, with the listening port
     * @throws IreeException UNAVAILABLE when the port is in use
     */
    public ClusterMember listen(NodeIdentity identity, String host) {
        AtomicReference<@Nullable AcceptedStreams> accepted = new AtomicReference<>();
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(Frames.SERVICE);
        for (PeerStream stream : PeerStream.values()) {
            service.addMethod(Frames.method(stream), (call, headers) -> {
                AcceptedStreams streams = accepted.get();
                if (streams == null) {
                    throw new IllegalStateException("not listening yet");
                }
                return streams.accept(stream).startCall(call, headers);
            });
        }
        service.addMethod(Frames.MEMBERSHIP, messages.answers(handler::asked, door::knows));
        long silenceMillis = Math.max(1, options.connectTimeout().toMillis());
        Server listening = NettyServerBuilder.forAddress(
                        new InetSocketAddress(options.address(), options.port()), door.at(serverCredentials()))
                .directExecutor()
                .addService(service.build())
                .maxInboundMessageSize(options.maximumFrameBytes())
                .maxInboundMetadataSize(METADATA_BYTES)
                .maxConcurrentCallsPerConnection(STREAMS_PER_CONNECTION)
                .handshakeTimeout(silenceMillis, TimeUnit.MILLISECONDS)
                .maxConnectionIdle(silenceMillis, TimeUnit.MILLISECONDS) // without streams
                .keepAliveTime(options.keepAlive().toMillis(), TimeUnit.MILLISECONDS)
                .keepAliveTimeout(options.keepAliveTimeout().toMillis(), TimeUnit.MILLISECONDS)
                .permitKeepAliveTime(options.keepAlive().toMillis() / 2, TimeUnit.MILLISECONDS)
                .build();
        try {
            listening.start();
        } catch (IOException e) {
            String address = options.address().getHostAddress();
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "cannot listen on %s port %d: %s".formatted(address, options.port(), e.getMessage()),
                    e,
                    new CannotListen(address, options.port()));
        }
        ClusterMember member = new ClusterMember(identity, host, listening.getPort());
        accepted.set(new AcceptedStreams(
                handler,
                member,
                options.tls() != null,
                this::window,
                timer,
                connections,
                task -> after(options.connectTimeout(), task),
                door::knows));
        self = member;
        messages.sender(member);
        server.set(listening);
        return member;
    }

    /**
     * Sends a message of the membership. The node at the address proves a certificate of the host advertised by the
     * node, perhaps another name than the address.
     *
     * @param address the address, not resolved
     * @param message the message, read until the reply
     * @param limit the longest wait for the reply
     * @param reply receives the reply, once, perhaps before the return of this method
     */
    public void ask(InetSocketAddress address, byte[] message, Duration limit, ClusterMembership.Reply reply) {
        messages.ask(address, message, limit, reply);
    }

    /**
     * Connects to another node. Reports success or failure to the handler, on another thread.
     *
     * @param peer the node
     * @throws IreeException FAILED_PRECONDITION before {@link #listen}
     */
    public void dial(ClusterMember peer) {
        byte[] number = number();
        DialedStreams.Outcome outcome = new DialedStreams.Outcome() {
            @Override
            public void established(GrpcConnection connection, Metadata answer) {
                LastingConnection lasting =
                        Objects.requireNonNull(connections.dialed(number, peer, connection), "random numbers differ");
                lasting.start(handler.dialed(lasting, peer));
            }

            @Override
            public void failed(IreeException cause) {
                handler.unreachable(peer, cause);
            }
        };
        try {
            open(peer, number, null, options.connectTimeout(), outcome);
        } catch (IllegalArgumentException e) { // gRPC does not accept the host
            outcome.failed(noAddress(peer, e));
        }
    }

    private static IreeException noAddress(ClusterMember peer, IllegalArgumentException cause) {
        return IreeException.of(
                StatusCode.UNAVAILABLE, "%s has no address: %s".formatted(peer, cause.getMessage()), cause);
    }

    private byte[] number() {
        byte[] number = new byte[LastingConnections.NUMBER_BYTES];
        random.nextBytes(number);
        return number;
    }

    private void redial(LastingConnection.Attempt attempt) {
        LastingConnection lost = attempt.connection();
        LastingConnections.Request request = connections.request(lost);
        open(lost.member(), number(), request.bytes(), attemptLimit(), new DialedStreams.Outcome() {
            @Override
            public void established(GrpcConnection connection, Metadata answer) {
                long[] received = LastingConnections.counts(answer.get(Frames.RESUME), 0);
                if (received == null) {
                    connection.close(IreeException.of(StatusCode.INCOMPATIBLE, lost.member() + " continues nothing"));
                    attempt.failed(
                            IreeException.of(StatusCode.NOT_FOUND, lost.member() + " did not continue the connection"));
                } else {
                    lost.resume(connection, request.ticket(), received);
                }
            }

            @Override
            public void failed(IreeException cause) {
                if (!closed) { // otherwise nobody waits, not even to say farewell
                    attempt.failed(cause);
                }
            }
        });
    }

    private Duration attemptLimit() {
        return options.connectTimeout().dividedBy(2).plusMillis(1);
    }

    /** Looks whether a process listens at the address of a peer that has to dial again. */
    private void probe(LastingConnection.Attempt attempt) {
        ClusterMember peer = attempt.connection().member();
        try (Socket socket = new Socket(Proxy.NO_PROXY)) {
            socket.connect(new InetSocketAddress(peer.host(), peer.port()), (int)
                    attemptLimit().toMillis());
            attempt.reached();
        } catch (IOException e) {
            attempt.failed(IreeException.of(
                    StatusCode.UNAVAILABLE, "no connection to %s: %s".formatted(peer, e.getMessage()), e));
        }
    }

    /**
     * Doubts the connections with a peer: each connection continues over other streams, or is interrupted if the peer
     * cannot be reached. No frame is lost.
     *
     * @param peer the peer
     * @param cause the reason for the doubt
     */
    public void doubt(ClusterMember peer, IreeException cause) {
        connections.doubt(peer, cause);
    }

    private void open(
            ClusterMember peer,
            byte[] number,
            byte @Nullable [] resumed,
            Duration limit,
            DialedStreams.Outcome outcome) {
        ClusterMember from = self;
        if (from == null) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "this node must listen before it dials " + peer);
        }
        ManagedChannel channel = channel(peer);
        ManagedChannel bulk = options.separateBulkConnection() ? channel(peer) : channel;
        DialedStreams streams = new DialedStreams(outcome, peer, timer, () -> {
            channel.shutdownNow();
            bulk.shutdownNow();
        });
        streams.open(
                from, number, resumed, stream -> stream == PeerStream.BULK.ordinal() ? bulk : channel, this::window);
        after(
                limit,
                () -> streams.giveUp(IreeException.of( // ends open streams
                        StatusCode.DEADLINE_EXCEEDED,
                        "%s did not answer within %d ms".formatted(peer, limit.toMillis()))));
    }

    private ManagedChannel channel(ClusterMember peer) {
        TransportOptions.Tls tls = options.tls();
        return channel(NettyChannelBuilder.forAddress(
                peer.host(), peer.port(), channelCredentials(tls == null ? List.of() : tls.authorities())));
    }

    private ManagedChannel membershipChannel(InetSocketAddress address) {
        TransportOptions.Tls tls = options.tls();
        return channel(NettyChannelBuilder.forAddress(
                address, channelCredentials(tls == null ? List.of() : AnyHostAuthorities.of(tls.authorities()))));
    }

    private ManagedChannel channel(NettyChannelBuilder builder) {
        return builder.directExecutor()
                .proxyDetector(_ -> null)
                .disableRetry()
                .disableServiceConfigLookUp()
                .maxInboundMessageSize(options.maximumFrameBytes())
                .maxInboundMetadataSize(METADATA_BYTES)
                .keepAliveTime(options.keepAlive().toMillis(), TimeUnit.MILLISECONDS)
                .keepAliveTimeout(options.keepAliveTimeout().toMillis(), TimeUnit.MILLISECONDS)
                .userAgent("iree4j")
                .build();
    }

    private int window(int stream) {
        return stream == PeerStream.BULK.ordinal() ? options.bulkWindow() : options.queueWindow();
    }

    private void after(Duration time, Runnable task) {
        timer.schedule(task, time.toMillis(), TimeUnit.MILLISECONDS);
    }

    private ServerCredentials serverCredentials() {
        TransportOptions.Tls tls = options.tls();
        return tls == null
                ? InsecureServerCredentials.create()
                : TlsServerCredentials.newBuilder()
                        .keyManager(tls.keys().toArray(KeyManager[]::new))
                        .trustManager(tls.authorities().toArray(TrustManager[]::new))
                        .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                        .build();
    }

    private ChannelCredentials channelCredentials(List<TrustManager> authorities) {
        TransportOptions.Tls tls = options.tls();
        return tls == null
                ? InsecureChannelCredentials.create()
                : TlsChannelCredentials.newBuilder()
                        .keyManager(tls.keys().toArray(KeyManager[]::new))
                        .trustManager(authorities.toArray(TrustManager[]::new))
                        .build();
    }

    /** Ends all connections, telling the peers so, and stops listening, so the port is free. */
    @Override
    public void close() {
        closed = true;
        connections.close(IreeException.of(StatusCode.CANCELLED, "the transport was closed"));
        messages.close();
        Server listening = server.get();
        if (listening == null) {
            return;
        }
        listening.shutdown();
        try {
            if (!listening.awaitTermination(FINISH_MILLIS, TimeUnit.MILLISECONDS)) { // a peer does not read
                listening.shutdownNow();
            }
            if (!listening.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                log.warn("port {} is not free yet after {} s", listening.getPort(), CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
