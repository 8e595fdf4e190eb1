package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.Standing;
import io.github.iree4j.cluster.membership.Unreached;
import io.github.iree4j.cluster.transport.GrpcTransport;
import io.github.iree4j.cluster.transport.PeerHandler;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.hal.remote.PeerConnection;
import io.github.iree4j.hal.remote.PeerListener;
import io.github.iree4j.hal.remote.RemoteNode;
import io.github.iree4j.hal.remote.RemoteSession;
import io.github.iree4j.hal.remote.SessionListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as a member of a cluster: keeps a session with each node in the view of the membership, and fails lost
 * nodes.
 *
 * <p>A farewell, a refused address, another process at the address, and an interruption for too long fail the node's
 * incarnation, once and permanently; a view without the node only raises doubts. Two nodes that have failed each other
 * and still see each other cannot communicate under these names. The members of a view therefore report failed members
 * to each other; the largest set of members able to stay together stays, and all other members are fenced and take new
 * identities. Thread-safe.
 */
public final class ClusterNode implements AutoCloseable {
    /*
     * Of two nodes the node with the lower incarnation dials: on seeing the other node, and again after a pause while
     * the other node is in view and there is no session. Views are handled one at a time by the executor, since failing
     * a peer may run many callbacks.
     */
    private static final Logger log = LoggerFactory.getLogger(ClusterNode.class);

    private final NodeIdentity identity;
    private final RemoteNode node;
    private final GrpcTransport transport;
    private final ClusterMembership membership;
    private final String host;
    private final SilentLinks silent;
    private final LongSupplier nanoTime;
    private final Executor executor;
    private final List<ClusterListener> listeners;

    // Guarded by this.
    private final Map<Long, PeerLink> links = new HashMap<>(); // by incarnation; dialed, or with a session
    private final Map<Long, Attempt> attempts = new HashMap<>(); // by incarnation; attempts to dial peers
    // by incarnation; causes from members that have failed this node
    private final Map<Long, IreeException> rejected = new HashMap<>();
    private final Conflicts conflicts;
    private final AtomicReference<@Nullable ClusterView> latest = new AtomicReference<>(); // not handled yet
    private final long graceNanos;
    private @Nullable ClusterMember self;
    private ClusterView view = ClusterView.EMPTY;
    // The clock of conflicts stands still while this process does: a dead node seen before a pause is no opponent.
    private long attention;
    private long decided; // by the other clock
    private Standing reported = Standing.PEACE; // as the membership knows
    private @Nullable IreeException fenced;
    private boolean closed;
    private long views;

    /**
     * Creates a node outside any cluster.
     *
     * @param identity the node's identity, leased
     * @param builder creates the node's sessions; with devices and options
     * @param transport options for listening and connecting
     * @param membership finds the other nodes; left when this closes
     * @param host the host name or address used by peers
     * @param grace how long a peer may be both seen and failed before either node is fenced: longer than the detection
     *     of a dead process
     * @param nanoTime the clock
     * @param executor runs one task at a time, in order
     * @param listeners receive events, one after the other
     */
    public ClusterNode(
            NodeIdentity identity,
            RemoteNode.Builder builder,
            TransportOptions transport,
            ClusterMembership membership,
            String host,
            Duration grace,
            LongSupplier nanoTime,
            Executor executor,
            ClusterListener... listeners) {
        this.identity = identity;
        this.membership = membership;
        this.host = host;
        this.graceNanos = grace.toNanos();
        this.conflicts = new Conflicts(identity, graceNanos);
        this.silent = new SilentLinks(identity, transport.connectTimeout().toNanos(), nanoTime);
        this.nanoTime = nanoTime;
        this.decided = nanoTime.getAsLong();
        this.executor = executor;
        this.listeners = List.of(listeners);
        this.transport = new GrpcTransport(transport, new Connections());
        this.node = builder.listener(new Sessions()).build();
    }

    /**
     * Listens, and joins the cluster; does neither when this node is fenced or closed already. May block for some
     * seconds.
     *
     * @throws IreeException UNAVAILABLE when the port is in use or the membership cannot be joined
     */
    public void start() {
        if (isOut()) { // the lease was lost while the application started, say
            return;
        }
        ClusterMember member = transport.listen(identity, host);
        synchronized (this) {
            self = member;
        }
        membership.join(member, transport::ask, next -> {
            if (latest.getAndSet(next) == null) {
                executor.execute(this::seeLatest);
            }
        });
        if (isOut()) { // in between
            depart();
        }
    }

    private synchronized boolean isOut() {
        return fenced != null || closed;
    }

    private void depart() {
        membership.leave();
        transport.close();
    }

    /**
     * Waits until there is a session with each node in the view.
     *
     * @param limit the longest wait
     * @return whether there are sessions with all nodes
     */
    public synchronized boolean awaitSessions(Duration limit) throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (fenced == null && !closed && (views == 0 || !isConnected())) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000 + 1);
        }
        return fenced == null && !closed;
    }

    /**
     * Waits for a session with a node.
     *
     * @param wanted selects the node
     * @param limit the longest wait
     * @return the session, open when found; empty without a session in time, or when this node is fenced or closed
     */
    public Optional<RemoteSession> awaitSession(Predicate<? super ClusterMember> wanted, Duration limit)
            throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            for (ClusterPeer each : peers()) {
                if (each.session() != null && wanted.test(each.member())) {
                    return Optional.of(each.session());
                }
            }
            synchronized (this) {
                long left = deadline - System.nanoTime();
                if (left <= 0 || fenced != null || closed) {
                    return Optional.empty();
                }
                if (view.members().stream().noneMatch(each -> wanted.test(each) && isConnected(each))) {
                    wait(left / 1_000_000 + 1); // otherwise a session was opened or is ending just now
                }
            }
        }
    }

    private boolean isConnected() {
        for (ClusterMember each : view.members()) {
            if (each.identity().incarnation() != identity.incarnation() && !isConnected(each)) {
                return false;
            }
        }
        return true;
    }

    private boolean isConnected(ClusterMember member) {
        PeerLink link = links.get(member.identity().incarnation());
        return link != null && link.open;
    }

    /**
     * Connects to peers after the pause, ends silent connections, decides conflicts, and measures round trips. To be
     * called regularly, about twice a second. Does not block; does nothing once this is closed.
     */
    public void look() {
        synchronized (this) {
            if (closed) { // the executor, too
                return;
            }
        }
        node.sessions().forEach(RemoteSession::measure);
        executor.execute(this::connect);
        executor.execute(silent::endLate);
        executor.execute(this::decide);
    }

    private void seeLatest() {
        ClusterView next = latest.getAndSet(null);
        if (next != null) {
            see(next);
        }
    }

    private void see(ClusterView next) {
        ClusterView before;
        synchronized (this) {
            if (closed) {
                return;
            }
            before = view;
            view = next;
            if (!next.members().equals(before.members())) {
                views++;
            }
            notifyAll();
            attempts.keySet().removeIf(incarnation -> next.find(incarnation) == null);
            rejected.keySet().removeIf(incarnation -> next.find(incarnation) == null); // the others have failed
        }
        if (!next.members().equals(before.members())) {
            log.info("{} sees {}", identity, next.members());
            failReplaced(next);
            for (ClusterMember each : before.members()) {
                if (next.find(each.identity().incarnation()) == null) {
                    // No proof of a failure: connections to the member show whether the member can be reached.
                    transport.doubt(
                            each,
                            IreeException.of(
                                    StatusCode.UNAVAILABLE, "%s left the view of %s".formatted(each, identity)));
                }
            }
            listeners.forEach(each -> each.viewChanged(next));
            silent.links().forEach(PeerLink::look);
        }
        connect();
        decide();
    }

    /** Fails nodes at whose address another process has joined: the addresses of living processes differ. */
    private void failReplaced(ClusterView next) {
        Map<Long, ClusterMember> replaced = new HashMap<>();
        synchronized (this) {
            links.forEach((incarnation, link) -> {
                ClusterMember there = next.at(link.peer.host(), link.peer.port());
                if (there != null && next.find(incarnation) == null) {
                    replaced.put(incarnation, there);
                }
            });
        }
        replaced.forEach((incarnation, by) -> node.fail(
                incarnation,
                IreeException.of(
                        StatusCode.UNAVAILABLE, "%s has taken the place of node %d".formatted(by, incarnation))));
    }

    private void connect() {
        List<ClusterMember> due = new ArrayList<>();
        synchronized (this) {
            if (closed || fenced != null) {
                return;
            }
            long now = nanoTime.getAsLong();
            Map<Long, IreeException> failures = node.failures();
            for (ClusterMember each : view.members()) {
                long incarnation = each.identity().incarnation();
                if (incarnation <= identity.incarnation()
                        || links.containsKey(incarnation)
                        || failures.containsKey(incarnation)
                        || rejected.containsKey(incarnation)) {
                    continue;
                }
                if (attempts.computeIfAbsent(incarnation, _ -> new Attempt()).begin(now)) {
                    due.add(each);
                }
            }
        }
        due.forEach(transport::dial);
    }

    /** Reports the standing of this node, and fences this node if this node has to yield to a member. */
    private void decide() {
        IreeException cause;
        Standing report;
        synchronized (this) {
            if (closed || fenced != null) {
                return;
            }
            long now = nanoTime.getAsLong();
            attention += Math.min(now - decided, graceNanos / 4);
            decided = now;
            Map<Long, IreeException> failures = new HashMap<>(rejected);
            failures.putAll(node.failures());
            conflicts.update(view, failures, attention);
            cause = conflicts.whyYield(attention);
            Standing standing = conflicts.standing();
            report = standing.equals(reported) ? null : standing;
            reported = standing;
        }
        if (cause != null) {
            fence(cause);
        } else if (report != null) {
            membership.report(report);
        }
    }

    /**
     * Takes this node out of the cluster: the node's sessions fail, and the node leaves. The node's devices remain
     * usable by this process. Idempotent.
     *
     * @param cause the cause
     */
    public void fence(IreeException cause) {
        synchronized (this) {
            if (fenced != null || closed) {
                return;
            }
            fenced = cause;
            notifyAll();
        }
        log.error("{} is fenced: {}", identity, cause.getMessage());
        node.close();
        executor.execute(this::depart);
        listeners.forEach(each -> each.fenced(cause));
    }

    /**
     * Notifies peers of the end of accepting work: peers do not choose this node any more, and further submissions fail
     * with UNAVAILABLE.
     *
     * @param reason the reason
     */
    public void goAway(String reason) {
        node.goAway(reason);
    }

    /**
     * Waits until all work submitted by peers before {@link #goAway} has completed, with completions known to the
     * peers.
     *
     * @param limit the longest wait
     * @return whether the work has completed in time
     */
    public boolean drain(Duration limit) throws InterruptedException {
        return node.awaitQuiet(limit);
    }

    /** Ends all sessions and leaves the cluster. May block for some seconds; idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            notifyAll();
        }
        node.close(); // before the view changes, which only raises doubts
        membership.leave();
        transport.close();
    }

    /**
     * Returns this node as known to peers.
     *
     * @return the member; empty before {@link #start()}
     */
    public synchronized Optional<ClusterMember> self() {
        return Optional.ofNullable(self);
    }

    /**
     * Returns this node's identity.
     *
     * @return the identity
     */
    public NodeIdentity identity() {
        return identity;
    }

    /**
     * Returns the sessions of the runtime.
     *
     * @return the node, borrowed
     */
    public RemoteNode remote() {
        return node;
    }

    /**
     * Returns the present members.
     *
     * @return the last view; empty before the first
     */
    public synchronized ClusterView view() {
        return view;
    }

    /**
     * Returns the number of views so far.
     *
     * @return the number
     */
    public synchronized long views() {
        return views;
    }

    /**
     * Returns the cause of this node's fencing.
     *
     * @return the cause; empty while not fenced
     */
    public synchronized Optional<IreeException> fenced() {
        return Optional.ofNullable(fenced);
    }

    /**
     * Returns the state of connections to the other nodes in the view.
     *
     * @return a snapshot, in the order of the view, without this node
     */
    public List<ClusterPeer> peers() {
        Map<Long, RemoteSession> open = openSessions();
        Map<Long, IreeException> failures = node.failures();
        List<ClusterPeer> peers = new ArrayList<>();
        synchronized (this) {
            for (ClusterMember each : view.members()) {
                long incarnation = each.identity().incarnation();
                if (each.equals(self)) {
                    continue;
                }
                Attempt attempt = attempts.get(incarnation);
                IreeException failure = failures.getOrDefault(
                        incarnation, rejected.getOrDefault(incarnation, attempt == null ? null : attempt.failure));
                peers.add(new ClusterPeer(each, open.get(incarnation), failure));
            }
        }
        return peers;
    }

    /**
     * Returns the nodes that are silent: missing from the view, with sessions that have not ended. Work at such a node
     * waits until the node is heard again, or fails with the session.
     *
     * @return a snapshot, in the order of incarnations
     */
    public List<ClusterPeer> silentPeers() {
        Map<Long, RemoteSession> open = openSessions();
        synchronized (this) {
            return open.entrySet().stream()
                    .filter(each -> links.containsKey(each.getKey()) && view.find(each.getKey()) == null)
                    .map(each -> new ClusterPeer(
                            Objects.requireNonNull(links.get(each.getKey())).peer, each.getValue(), null))
                    .toList();
        }
    }

    private Map<Long, RemoteSession> openSessions() {
        Map<Long, RemoteSession> open = new TreeMap<>();
        for (RemoteSession session : node.sessions()) {
            NodeIdentity peer = session.peer();
            if (peer != null && session.isOpen()) {
                open.put(peer.incarnation(), session);
            }
        }
        return open;
    }

    /**
     * Returns the addresses where the membership looks for nodes without success.
     *
     * @return the addresses with the causes
     */
    public List<Unreached> unreached() {
        return membership.unreached();
    }

    private synchronized boolean sees(ClusterMember member) {
        return member.equals(view.find(member.identity().incarnation()));
    }

    private void ended(PeerLink link, IreeException cause) {
        synchronized (this) {
            long incarnation = link.peer.identity().incarnation();
            links.remove(incarnation, link);
            silent.remove(link);
            if (!link.open && cause.code() == StatusCode.ABORTED && sees(link.peer)) {
                rejected.put(incarnation, cause);
            }
            if (link.dialed) {
                unreachable(link.peer, cause);
            }
        }
    }

    /** Returns whether the failure differs from the previous attempt's failure; otherwise each attempt would be logged. */
    private synchronized boolean unreachable(ClusterMember peer, IreeException cause) {
        Attempt attempt = attempts.get(peer.identity().incarnation());
        return attempt == null || attempt.end(cause, nanoTime.getAsLong());
    }

    /** Receives events of the transport. */
    private final class Connections implements PeerHandler {
        @Override
        public PeerListener accepted(PeerConnection connection, ClusterMember peer) {
            PeerLink link = new PeerLink(peer, connection, false, ClusterNode.this::sees, ClusterNode.this::ended);
            return silent.admitted(link.attach(node.accept(link)));
        }

        @Override
        public PeerListener dialed(PeerConnection connection, ClusterMember peer) {
            PeerLink link = new PeerLink(peer, connection, true, _ -> true, ClusterNode.this::ended);
            synchronized (ClusterNode.this) {
                links.putIfAbsent(peer.identity().incarnation(), link);
            }
            return link.attach(node.dial(link, peer.identity().incarnation()));
        }

        @Override
        public byte[] asked(ClusterMember peer, byte[] message) {
            return membership.asked(peer, message);
        }

        @Override
        public void unreachable(ClusterMember peer, IreeException cause) {
            if (ClusterNode.this.unreachable(peer, cause)) {
                log.warn("{} cannot connect to {}: {}", identity, peer, cause.getMessage());
            }
        }
    }

    /** Receives events of the runtime's sessions. */
    private final class Sessions implements SessionListener {
        @Override
        public void opened(RemoteSession session) {
            PeerLink link = (PeerLink) session.connection(); // of the peer named by the session
            synchronized (ClusterNode.this) {
                link.open = true;
                if (!link.isOver()) {
                    links.put(link.peer.identity().incarnation(), link);
                }
                attempts.remove(link.peer.identity().incarnation());
                ClusterNode.this.notifyAll();
            }
            log.info("{} has a session with {}", identity, link.peer);
            listeners.forEach(each -> each.connected(link.peer));
        }

        @Override
        public void draining(RemoteSession session, IreeException reason) {
            NodeIdentity peer = session.peer();
            log.info("{}: {} drains: {}", identity, session, reason.getMessage());
            if (peer != null) {
                listeners.forEach(each -> each.draining(peer.incarnation(), reason));
            }
        }

        @Override
        public void failed(RemoteSession session, IreeException cause) {
            NodeIdentity peer = session.peer();
            log.warn("{} lost {}: {}", identity, session, cause.getMessage());
            if (peer != null && node.failures().containsKey(peer.incarnation())) { // otherwise the peer dials again
                listeners.forEach(each -> each.failed(peer.incarnation(), cause));
            }
        }
    }
}
