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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This process as a node of a cluster: sessions with other nodes, devices served to other nodes, and exported
 * semaphores.
 *
 * <p>A node opens no connection and creates no thread. A transport connects to peers and passes each connection to
 * {@link #dial} or {@link #accept}; membership reports lost peers to {@link #fail}. Safe from any thread.
 */
public final class RemoteNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteNode.class);

    private final NodeIdentity identity;
    private final SchedulingDomain domain;
    private final RemoteOptions options;
    private final List<Device> devices;
    private final List<String> names; // names of the devices, for peers
    private final SessionListener listener;
    private final Executor slow;
    private final RemoteTracer tracer;
    private final SemaphoreExports exports = new SemaphoreExports();
    private final ContentCache content;
    private final PeerTable peers;
    private final ClientLanes lanes = new ClientLanes();
    private final Links links = new Links(this);
    private final AtomicLong handles = new AtomicLong(); // of objects of this node at any peer
    private final Map<Long, RemoteMemory> memory = new ConcurrentHashMap<>(); // by handle
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
     * @param identity the leased identity of this process
     * @param domain the domain of the node's devices, with axes of the identity's machine and session
     * @return a builder
     * @throws IreeException INVALID_ARGUMENT when machine or session differ
     */
    public static Builder builder(NodeIdentity identity, SchedulingDomain domain) {
        return new Builder(identity, domain);
    }

    /**
     * Returns the identity of this node.
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

    /** Returns the device named in a frame. */
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

    /** Returns the span of the calling thread; null for none. */
    private @Nullable TraceParent trace() {
        try {
            return tracer.current();
        } catch (RuntimeException e) { // operations do not fail for lack of a trace
            LOG.warn("{} does not know the span of a thread", identity, e);
            return null;
        }
    }

    ContentCache content() {
        return content;
    }

    /** Bytes of memory of peers with failed sessions, until the memory is free. Counts against the limit of each peer. */
    AtomicLong leftBehind() {
        return leftBehind;
    }

    ClientLanes lanes() {
        return lanes;
    }

    /** Returns a new handle, for an object at any peer. */
    long handle() {
        return handles.incrementAndGet();
    }

    /** The memory of this node on devices of peers, by handle. */
    Map<Long, RemoteMemory> memory() {
        return memory;
    }

    SemaphoreExports exports() {
        return exports;
    }

    /**
     * Begins a session on a connection opened by this node: sends HELLO.
     *
     * @param connection the connection, closed by the session
     * @param peer the expected incarnation; 0 for any
     * @return the receiver of the connection's frames
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
     * Begins a session on a connection opened by a peer: waits for the peer's HELLO.
     *
     * @param connection the connection, closed by the session
     * @return the receiver of the connection's frames
     */
    public PeerListener accept(PeerConnection connection) {
        RemoteSession session = new RemoteSession(this, connection);
        IreeException refused = peers.begin(session, 0);
        if (refused != null) {
            session.reject(refused);
        }
        return session.wire();
    }

    /** Returns the description of this node. */
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
                    options.memoryLimit(),
                    device.isMemoryOfHost(),
                    device.allocator().hasViews()));
        }
        return new Hello(
                identity,
                expectedPeer,
                new Hello.Limits(options.chunkBytes(), options.commandWindow(), options.objectLimit()),
                axes,
                served);
    }

    /** Accepts a peer for a session, or returns the reason against the peer: see {@link PeerTable#admit}. */
    @Nullable
    IreeException admit(RemoteSession session, Hello hello, boolean dialed) {
        return peers.admit(session, hello, dialed);
    }

    void opened(RemoteSession session) {
        links.opened(session);
        listener.opened(session);
    }

    void draining(RemoteSession session, IreeException reason) {
        listener.draining(session, reason);
    }

    /** Records the failure of a session: the peer, if accepted, will never be accepted again. */
    void ended(RemoteSession session, IreeException cause) {
        peers.ended(session, cause);
    }

    void failed(RemoteSession session, IreeException cause) {
        links.failed(session);
        listener.failed(session, cause);
    }

    /**
     * Fails a peer: the peer's axes and semaphores, the peer's work here and this node's work at the peer. Idempotent
     * and sticky: the incarnation is never accepted again, and later frames of the peer are dropped.
     *
     * @param incarnation the peer, known or not
     * @param cause the cause
     */
    public void fail(long incarnation, IreeException cause) {
        peers.fail(incarnation, cause);
    }

    /**
     * Drains: notifies all peers that this node accepts no more work, and refuses new sessions. Commands of peers
     * arriving from now on fail with UNAVAILABLE, unless they only read; accepted commands are finished. {@link #close}
     * ends the sessions.
     *
     * @param reason the reason, for the peers
     */
    public void goAway(String reason) {
        IreeException cause = IreeException.of(
                StatusCode.UNAVAILABLE, "%s is leaving: %s; use another node".formatted(identity, reason));
        peers.leave(cause).forEach(each -> each.goAway(cause));
    }

    /** The reason for accepting no more work; null while the node accepts work. */
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
     * Waits until the commands of peers have ended, and the peers know of the end. For a draining node, before the
     * close: then no accepted work is lost. Peers may begin to read results within a quarter of a second.
     *
     * @param limit the longest wait
     * @return whether all commands have ended and all peers know
     */
    public boolean awaitQuiet(Duration limit) throws InterruptedException {
        return RemoteServer.awaitQuiet(this, System.nanoTime() + limit.toNanos());
    }

    /**
     * Returns the devices served by this node.
     *
     * @return the devices, borrowed, in the order of their numbers in frames
     */
    public List<Device> served() {
        return devices;
    }

    /**
     * Returns the sessions with known peers, open or being opened.
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

    /** Passes on the timeline of a client's lane here, once the lane is open: now or later. */
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
     * Returns the timeline of a lane served here.
     *
     * @throws IreeException NOT_FOUND while the lane is not open, and once the lane is forgotten
     */
    TimelineSemaphore lane(long axis) {
        return peers.ofAxis(axis).server().lane(axis);
    }

    /**
     * Returns the failed peers, with the causes.
     *
     * @return a snapshot, by incarnation
     */
    public Map<Long, IreeException> failures() {
        return peers.failures();
    }

    /**
     * Returns the axes failed together with peers.
     *
     * @return a snapshot: up to 64 axes of each peer with a former session, by the peer's incarnation
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

    /** Ends all sessions with CANCELLED, and refuses new sessions. Devices of the node stay open; idempotent. */
    @Override
    public void close() {
        IreeException cause = IreeException.of(StatusCode.CANCELLED, identity + " was closed");
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
        private RemoteOptions options = RemoteOptions.DEFAULTS;
        private SessionListener listener = SessionListener.NONE;
        private Executor slow = Runnable::run;
        private RemoteTracer tracer = RemoteTracer.NONE;

        private Builder(NodeIdentity identity, SchedulingDomain domain) {
            this.identity = identity;
            this.domain = domain;
            AxisAllocator axes = domain.axes();
            if (axes.machine() != identity.machine() || axes.session() != identity.session()) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "the domain allocates axes of m%d.s%d and the identity is %s; create the allocator with the leased slot"
                                .formatted(axes.machine(), axes.session(), identity));
            }
        }

        /**
         * Serves a device to peers.
         *
         * @param device a device of the node's domain; stays open as long as the node
         * @return this builder
         * @throws IreeException INVALID_ARGUMENT when the device is of another domain
         */
        public Builder device(Device device) {
            return device(device.id(), device);
        }

        /**
         * Serves a device to peers under a name.
         *
         * @param name the id for peers
         * @param device a device of the node's domain; stays open as long as the node
         * @return this builder
         * @throws IreeException INVALID_ARGUMENT when the device is of another domain; ALREADY_EXISTS when the name is
         *     taken
         */
        public Builder device(String name, Device device) {
            if (!device.schedulingDomain().equals(domain)) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "device '%s' is of another scheduling domain than %s; open it with the node's"
                                .formatted(device.id(), identity));
            }
            if (devices.putIfAbsent(name, device) != null) {
                throw IreeException.of(
                        StatusCode.ALREADY_EXISTS,
                        "%s serves a device '%s' already; give each device a different name".formatted(identity, name));
            }
            return this;
        }

        /**
         * Sets the limits.
         *
         * @param limits {@link RemoteOptions#DEFAULTS} unless set
         * @return this builder
         */
        public Builder options(RemoteOptions limits) {
            this.options = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Sets the listener notified of sessions.
         *
         * @param sessions the listener
         * @return this builder
         */
        public Builder listener(SessionListener sessions) {
            this.listener = Objects.requireNonNull(sessions, "sessions");
            return this;
        }

        /**
         * Sets the executor of long operations, such as loading code and allocating memory, so that the transport is
         * not delayed.
         *
         * @param executor the executor; the thread delivering the frame unless set
         * @return this builder
         */
        public Builder executor(Executor executor) {
            this.slow = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /**
         * Sets the tracer following traces to and from other nodes.
         *
         * @param spans the tracer; {@link RemoteTracer#NONE} unless set
         * @return this builder
         */
        public Builder tracer(RemoteTracer spans) {
            this.tracer = Objects.requireNonNull(spans, "spans");
            return this;
        }

        /**
         * Creates the node.
         *
         * @return the node; the caller closes the node, before its devices
         */
        public RemoteNode build() {
            return new RemoteNode(this);
        }
    }
}
