package io.github.iree4j.cluster.identity;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * An {@link IdentityStore} in a log kept together by the nodes, by Apache Ratis: without any other server, for a fixed
 * list of three or more nodes. The position of a node in the list is the node's machine index, taken by no other node;
 * the log counts the node's sessions.
 *
 * <p>Leasing and renewing need a majority of the nodes. Renewing writes nothing: a renewal queries whether the session
 * is still the last session of the machine index, and a leader without a majority cannot answer the query. So a
 * minority is fenced at the end of the leases, and so is a node when another node was started in the same place.
 *
 * <p>The server runs from the first lease until {@link #close()}, also while this node holds no lease, for the sake of
 * the other nodes.
 */
public final class RatisIdentityStore implements IdentityStore {
    private static final TimeDuration SHORTEST_ELECTION = TimeDuration.valueOf(1, TimeUnit.SECONDS);
    private static final TimeDuration LONGEST_ELECTION = TimeDuration.valueOf(2, TimeUnit.SECONDS);
    private static final TimeDuration PAUSE = TimeDuration.valueOf(200, TimeUnit.MILLISECONDS);
    private static final int RENEWALS_PER_PATIENCE = 15;

    private final RatisOptions options;
    private final SecureRandom random = new SecureRandom();
    private @Nullable RaftServer server; // guarded by this, like the rest
    private @Nullable RaftClient client;
    private @Nullable Held held;
    private boolean closed;

    /**
     * Creates a store. Listens from the first lease on.
     *
     * @param options the nodes
     */
    public RatisIdentityStore(RatisOptions options) {
        this.options = options;
    }

    @Override
    public synchronized IdentityLease acquire(Duration duration) {
        if (held != null) {
            throw IreeException.of(
                    StatusCode.ALREADY_EXISTS, "machine index %d is leased by this process".formatted(options.self()));
        }
        RaftClient asking = started();
        String answer = await(
                asking.async().send(SessionStateMachine.grant(options.self(), random.nextLong())),
                options.patience(),
                "lease a slot");
        if (answer.equals(SessionStateMachine.NOTHING)) {
            throw Slots.exhausted(options.self());
        }
        SessionCounts counts = SessionCounts.parse(answer, "the log of identities");
        Held granted = new Held(new NodeIdentity(
                counts.clusterId(), options.self(), counts.session(options.self()), counts.incarnation()));
        held = granted;
        return granted;
    }

    private RaftClient started() {
        RaftClient known = client;
        if (known != null) {
            return known;
        }
        if (closed) {
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, "the store of identities is closed");
        }
        List<RaftPeer> peers = new ArrayList<>();
        for (int place = 0; place < options.peers().size(); place++) {
            InetSocketAddress each = options.peers().get(place);
            String host = each.getHostString().contains(":") ? "[" + each.getHostString() + "]" : each.getHostString();
            peers.add(RaftPeer.newBuilder()
                    .setId("node" + place)
                    .setAddress(host + ":" + each.getPort())
                    .build());
        }
        UUID name = UUID.nameUUIDFromBytes(("iree4j " + options.cluster()).getBytes(StandardCharsets.UTF_8));
        RaftGroup group = RaftGroup.valueOf(RaftGroupId.valueOf(name), peers);
        Parameters parameters = new Parameters();
        RatisOptions.Tls tls = options.tls();
        if (tls != null) {
            GrpcConfigKeys.TLS.setConf(parameters, new GrpcTlsConfig(tls.key(), tls.authorities(), true));
        }
        RaftProperties properties = properties();
        RaftServer starting = null;
        try {
            starting = RaftServer.newBuilder()
                    .setServerId(peers.get(options.self()).getId())
                    .setGroup(group)
                    .setProperties(properties)
                    .setParameters(parameters)
                    .setStateMachine(new SessionStateMachine())
                    .setOption(
                            Files.isDirectory(options.directory().resolve(name.toString()))
                                    ? RaftStorage.StartupOption.RECOVER
                                    : RaftStorage.StartupOption.FORMAT)
                    .build();
            starting.start();
        } catch (IOException | RuntimeException e) { // Ratis wraps exceptions of its threads
            closeQuietly(starting);
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "cannot keep identities in '%s' and serve them at '%s': %s"
                            .formatted(options.directory(), options.peers().get(options.self()), e),
                    e);
        }
        int attempts =
                Math.toIntExact(Math.max(1, options.patience().toMillis() / PAUSE.toLong(TimeUnit.MILLISECONDS)));
        RaftClient made = RaftClient.newBuilder()
                .setProperties(properties)
                .setParameters(parameters)
                .setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.retryUpToMaximumCountWithFixedSleep(attempts, PAUSE))
                .build();
        server = starting;
        client = made;
        return made;
    }

    private RaftProperties properties() {
        InetSocketAddress own = options.peers().get(options.self());
        RaftProperties properties = new RaftProperties();
        RaftServerConfigKeys.setStorageDir(
                properties, List.of(options.directory().toAbsolutePath().toFile()));
        GrpcConfigKeys.Server.setHost(properties, own.getHostString());
        GrpcConfigKeys.Server.setPort(properties, own.getPort());
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, SHORTEST_ELECTION);
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, LONGEST_ELECTION);
        RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
        return properties;
    }

    private static void closeQuietly(@Nullable AutoCloseable some) {
        try {
            if (some != null) {
                some.close();
            }
        } catch (Exception e) { // as declared; nothing depends on the close
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns the answer of the nodes, as text. */
    private String await(CompletableFuture<RaftClientReply> asked, Duration limit, String what) {
        Exception cause;
        try {
            RaftClientReply reply = asked.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            if (reply.isSuccess()) {
                return reply.getMessage().getContent().toStringUtf8();
            }
            cause = reply.getException();
        } catch (TimeoutException | ExecutionException e) {
            cause = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(StatusCode.CANCELLED, "interrupted while waiting to " + what, e);
        }
        throw IreeException.of(
                StatusCode.UNAVAILABLE,
                "no majority of %s could %s within %d ms: %s".formatted(options.peers(), what, limit.toMillis(), cause),
                cause);
    }

    @Override
    public synchronized void close() {
        closed = true;
        closeQuietly(client);
        closeQuietly(server);
        client = null;
        server = null;
    }

    private synchronized @Nullable RaftClient asking(Held lease) {
        return held == lease ? client : null;
    }

    private synchronized void release(Held lease) {
        if (held == lease) {
            held = null;
        }
    }

    /** A lease. */
    private final class Held implements IdentityLease {
        private final NodeIdentity identity;

        Held(NodeIdentity identity) {
            this.identity = identity;
        }

        @Override
        public NodeIdentity identity() {
            return identity;
        }

        @Override
        public void renew() {
            RaftClient asking = asking(this);
            if (asking == null) {
                throw ended();
            }
            String answer = await(
                    asking.async().sendReadOnlyUnordered(SessionStateMachine.text("last")),
                    options.patience().dividedBy(RENEWALS_PER_PATIENCE),
                    "renew the lease of " + identity);
            SessionCounts counts = SessionCounts.parse(answer, "the log of identities");
            if (counts.clusterId() != identity.clusterId()
                    || counts.session(identity.machine()) != identity.session()) {
                throw ended();
            }
        }

        private IreeException ended() {
            return IreeException.of(
                    StatusCode.ABORTED,
                    "the lease of " + identity + " has ended, or another node was started in its place");
        }

        @Override
        public void release() {
            RatisIdentityStore.this.release(this);
        }
    }
}
