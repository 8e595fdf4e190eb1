package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as a node of a cluster: its sessions with other nodes, the devices that it serves to them, and the semaphores that it exports.
 *
 * <p>A node opens no connection and makes no thread. A transport connects to peers and passes each connection to {@link #dial} or {@link #accept};
 * membership reports lost peers to {@link #fail}. Safe from any thread.
 */
public final class RemoteNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteNode.class);

    private final NodeIdentity identity;
    private final SchedulingDomain domain;
    private final RemoteOptions options;
    private final List<Device> devices;
    private final List<String> names; // of the devices, for peers
    private final SessionListener listener;
    private final Executor slow;
    private final RemoteTracer tracer;
    private final SemaphoreExports exports = new SemaphoreExports();
    private final ContentCache content;
    private final PeerTable peers;
    private final ClientLanes lanes = new ClientLanes();
    private final AtomicLong leftBehind = new AtomicLong();

    private RemoteNode(Builder builder) {
        this.identity = builder.identity;
        this.domain = builder.domain;
        this.options = builder.options;
        this.devices = List.copyOf(builder.devices.values());
        this.names = List.copyOf(builder.devices.keySet());
        this.listener = builder.listener;
        this.slow = builder.slow;
        this.tracer = builder.tracer;
        this.content = new ContentCache(options.contentLimit());
        this.peers = new PeerTable(identity);
        if (!tracer.equals(RemoteTracer.NONE)) {
            domain.contexts(this::trace);
        }
    }

    /**
     * Begins a node.
     *
     * @param identity who this process is, leased
     * @param domain the domain of its devices, whose axes have the machine and session of the identity
     * @return a builder
     * @throws IreeException INVALID_ARGUMENT when they differ
     */
    public static Builder builder(NodeIdentity identity, SchedulingDomain domain) {
        return new Builder(identity, domain);
    }

    /**
     * Returns who this node is.
     *
     * @return the identity
     */
    public NodeIdentity identity() {
        return identity;
    }

    SchedulingDomain domain() {
        return domain;
    }

    RemoteOptions options() {
        return options;
    }

    /** The device that a frame names. */
    Device device(FrameReader in) {
        int index = in.u16("device");
        if (index >= devices.size()) {
            throw in.corrupt("device %d of %d".formatted(index, devices.size()));
        }
        return devices.get(index);
    }

    Executor slow() {
        return slow;
    }

    RemoteTracer tracer() {
        return tracer;
    }

    /** The span that the calling thread is in; null for none. */
    private @Nullable TraceParent trace() {
        try {
            return tracer.current();
        } catch (RuntimeException e) { // operations do not fail for a lack of a trace
            LOG.warn("{} does not know the span of a thread", identity, e);
            return null;
        }
    }

    ContentCache content() {
        return content;
    }

    /** Bytes of memory of peers whose sessions have failed, until it is free. It counts against the limit of each peer. */
    AtomicLong leftBehind() {
        return leftBehind;
    }

    ClientLanes lanes() {
        return lanes;
    }

    SemaphoreExports exports() {
        return exports;
    }

    /**
     * Begins a session on a connection that this node opened: sends HELLO.
     *
     * @param connection the connection, which the session closes
     * @param peer the incarnation that is expected there; 0 for any
     * @return receives what arrives on the connection
     */
    public PeerListener dial(PeerConnection connection, long peer) {
        RemoteSession session = new RemoteSession(this, connection);
        IreeException refused = peers.begin(session, peer);
        if (refused == null) {
            session.sendHello(hello(peer));
        } else {
            session.reject(refused);
        }
        return session.wire();
    }

    /**
     * Begins a session on a connection that a peer opened: waits for its HELLO.
     *
     * @param connection the connection, which the session closes
     * @return receives what arrives on the connection
     */
    public PeerListener accept(PeerConnection connection) {
        RemoteSession session = new RemoteSession(this, connection);
        IreeException refused = peers.begin(session, 0);
        if (refused != null) {
            session.reject(refused);
        }
        return session.wire();
    }

    /** What this node says of itself. */
    Hello hello(long expectedPeer) {
        List<Hello.AxisEpoch> axes = new ArrayList<>();
        List<RemoteDeviceInfo> served = new ArrayList<>();
        for (int index = 0; index < devices.size(); index++) {
            Device device = devices.get(index);
            for (int i = 0; i < device.queueCount(); i++) {
                long axis = device.queue(i).axis();
                axes.add(new Hello.AxisEpoch(axis, domain.tracker().completed(axis)));
            }
            served.add(new RemoteDeviceInfo(
                    names.get(index),
                    device.info().driver(),
                    device.info().name(),
                    device.executableFormats(),
                    device.queueCount(),
                    options.memoryLimit()));
        }
        return new Hello(
                identity,
                expectedPeer,
                new Hello.Limits(options.chunkBytes(), options.commandWindow(), options.objectLimit()),
                axes,
                served);
    }

    /** Accepts a peer for a session, or says why not: see {@link PeerTable#admit}. */
    @Nullable
    IreeException admit(RemoteSession session, Hello hello, boolean dialed) {
        return peers.admit(session, hello, dialed);
    }

    void opened(RemoteSession session) {
        listener.opened(session);
    }

    void draining(RemoteSession session, IreeException reason) {
        listener.draining(session, reason);
    }

    /** A session has failed: its peer, if accepted, will never be accepted again. */
    void ended(RemoteSession session, IreeException cause) {
        peers.ended(session, cause);
    }

    void failed(RemoteSession session, IreeException cause) {
        listener.failed(session, cause);
    }

    /**
     * Fails a peer: its axes, its semaphores, the work that it has here and that this node has there. Idempotent and sticky: the incarnation is
     * never accepted again, and what it still sends is dropped.
     *
     * @param incarnation the peer, known or not
     * @param cause why
     */
    public void fail(long incarnation, IreeException cause) {
        peers.fail(incarnation, cause);
    }

    /**
     * Drains: tells all peers that this node accepts no more work, and refuses new sessions. Commands of peers that arrive from now on fail with
     * UNAVAILABLE, unless they only read; those that were accepted are finished. {@link #close} ends the sessions.
     *
     * @param reason why, for the peers
     */
    public void goAway(String reason) {
        IreeException cause = new IreeException(
                StatusCode.UNAVAILABLE, "%s is leaving: %s; use another node".formatted(identity, reason));
        peers.leave(cause).forEach(each -> each.goAway(cause));
    }

    /** Why this node accepts no more work; null while it does. */
    @Nullable
    IreeException leaving() {
        return peers.leaving();
    }

    /**
     * Returns whether this node drains.
     *
     * @return true once {@link #goAway} was called
     */
    public boolean isDraining() {
        return leaving() != null;
    }

    /**
     * Waits until the commands of peers are over, and the peers know that. For a node that drains, before it closes: then nothing that it accepted
     * is lost. Peers may begin to read results within a quarter of a second.
     *
     * @param limit how long to wait at most
     * @return whether that is so
     */
    public boolean awaitQuiet(Duration limit) throws InterruptedException {
        return RemoteServer.awaitQuiet(this, System.nanoTime() + limit.toNanos());
    }

    /**
     * Returns the devices that this node serves.
     *
     * @return the devices, borrowed, in the order of their numbers in frames
     */
    public List<Device> served() {
        return devices;
    }

    /**
     * Returns the sessions that are open or being opened with known peers.
     *
     * @return a snapshot, by incarnation
     */
    public List<RemoteSession> sessions() {
        return peers.sessions();
    }

    /**
     * Returns the session with a peer.
     *
     * @param incarnation the peer
     * @return the session
     * @throws IreeException NOT_FOUND when there is none; ABORTED when the peer has failed
     */
    public RemoteSession session(long incarnation) {
        return peers.session(incarnation);
    }

    /** Passes on the timeline of a lane that a client has here, once it is open: now or later. */
    void whenLane(long axis, Subscriptions.LaneWaiter waiter) {
        RemoteSession client;
        try {
            client = peers.ofAxis(axis);
        } catch (IreeException e) {
            waiter.refused(e);
            return;
        }
        client.server().whenLane(axis, waiter);
    }

    /**
     * Returns the peers that have failed, with the cause.
     *
     * @return a snapshot, by incarnation
     */
    public Map<Long, IreeException> failures() {
        return peers.failures();
    }

    /**
     * Returns axes of peers that failed with them.
     *
     * @return a snapshot: up to 64 of each peer that had a session, by incarnation
     */
    public Map<Long, List<Long>> failedAxes() {
        return peers.failedAxes();
    }

    /**
     * Lets peers wait for a semaphore of this node.
     *
     * @param semaphore the semaphore; retained until the export is closed
     * @return the export; the caller closes it
     */
    public SemaphoreExport export(TimelineSemaphore semaphore) {
        return exports.add(semaphore);
    }

    /** Ends all sessions with CANCELLED, and refuses new ones. Devices of the node stay open; idempotent. */
    @Override
    public void close() {
        IreeException cause = new IreeException(StatusCode.CANCELLED, identity + " was closed");
        List<RemoteSession> all = peers.close(cause);
        if (all == null) {
            return;
        }
        all.forEach(each -> each.fail(cause));
        exports.close();
        if (!tracer.equals(RemoteTracer.NONE)) {
            domain.contexts(() -> null);
        }
    }

    @Override
    public String toString() {
        return identity.toString();
    }

    /** Builds a node. Confined to one thread. */
    public static final class Builder {
        private final NodeIdentity identity;
        private final SchedulingDomain domain;
        private final Map<String, Device> devices = new LinkedHashMap<>();
        private RemoteOptions options = RemoteOptions.DEFAULT;
        private SessionListener listener = SessionListener.NONE;
        private Executor slow = Runnable::run;
        private RemoteTracer tracer = RemoteTracer.NONE;

        private Builder(NodeIdentity identity, SchedulingDomain domain) {
            this.identity = identity;
            this.domain = domain;
            AxisAllocator axes = domain.axes();
            if (axes.machine() != identity.machine() || axes.session() != identity.session()) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "the domain allocates axes of m%d.s%d and the identity is %s; create the allocator with the leased slot"
                                .formatted(axes.machine(), axes.session(), identity));
            }
        }

        /**
         * Serves a device to peers.
         *
         * @param device of the node's domain; stays open as long as the node
         * @return this builder
         * @throws IreeException INVALID_ARGUMENT when it is of another domain
         */
        public Builder device(Device device) {
            return device(device.id(), device);
        }

        /**
         * Serves a device to peers under a name.
         *
         * @param name its id for peers
         * @param device of the node's domain; stays open as long as the node
         * @return this builder
         * @throws IreeException INVALID_ARGUMENT when it is of another domain; ALREADY_EXISTS when the name is taken
         */
        public Builder device(String name, Device device) {
            if (!device.schedulingDomain().equals(domain)) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "device '%s' is of another scheduling domain than %s; open it with the node's"
                                .formatted(device.id(), identity));
            }
            if (devices.putIfAbsent(name, device) != null) {
                throw new IreeException(
                        StatusCode.ALREADY_EXISTS,
                        "%s serves a device '%s' already; give each a name of its own".formatted(identity, name));
            }
            return this;
        }

        /**
         * Sets the limits.
         *
         * @param limits {@link RemoteOptions#DEFAULT} unless set
         * @return this builder
         */
        public Builder options(RemoteOptions limits) {
            this.options = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Sets who learns of sessions.
         *
         * @param sessions the listener
         * @return this builder
         */
        public Builder listener(SessionListener sessions) {
            this.listener = Objects.requireNonNull(sessions, "sessions");
            return this;
        }

        /**
         * Sets who runs what takes long, so that it does not delay the transport: loading code, allocating memory.
         *
         * @param executor runs it; the thread that delivers the frame unless set
         * @return this builder
         */
        public Builder executor(Executor executor) {
            this.slow = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /**
         * Sets what follows traces to other nodes, and from them.
         *
         * @param spans the tracer; {@link RemoteTracer#NONE} unless set
         * @return this builder
         */
        public Builder tracer(RemoteTracer spans) {
            this.tracer = Objects.requireNonNull(spans, "spans");
            return this;
        }

        /**
         * Makes the node.
         *
         * @return the node; the caller closes it, before its devices
         */
        public RemoteNode build() {
            return new RemoteNode(this);
        }
    }
}
