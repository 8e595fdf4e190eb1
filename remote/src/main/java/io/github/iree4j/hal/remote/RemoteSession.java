package io.github.iree4j.hal.remote;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The session with a peer. The session ends once, by failure, whatever the cause; then everything of the peer fails
 * here, and the peer's incarnation is never accepted again, unless the session has ended within the handshake.
 *
 * <p>Safe from any thread.
 */
public final class RemoteSession {
    /*
     * The dialer:    GREETING --HELLO_ACK--> OPEN        The other side:   NEW --HELLO--> ADMITTED --READY--> OPEN
     *
     * REMOTE-1: a session fails once, together with its parts: `failure` is set by compare-and-set, each part refuses
     * additions after the notification, under the lock of the part, and all parts are notified, whatever a part throws.
     * REMOTE-2: see PeerAxes.
     */
    private enum State {
        NEW,
        GREETING,
        ADMITTED,
        OPEN
    }

    private static final Logger LOG = LoggerFactory.getLogger(RemoteSession.class);

    private static final int LINKS_LIMIT = 1 << 16; // more than slots of machines and sessions

    private final RemoteNode node;
    private final PeerConnection connection;
    private final Map<PeerStream, Outbox> outboxes = new EnumMap<>(PeerStream.class);
    private final SessionWire wire;
    private final AtomicReference<@Nullable IreeException> failure = new AtomicReference<>();
    private final PeerAxes axes;
    private final Subscriptions subscriptions;
    private final Proxies proxies;
    private final RemoteClient client;
    private final RemoteServer server;
    private final Transfers transfers;
    private final RoundTrips roundTrips;
    private final Fetches fetches = new Fetches(this);
    private final Set<Long> links = ConcurrentHashMap.newKeySet(); // incarnations with a session with the peer
    private final List<Runnable> waiting = new ArrayList<>(); // actions until the session is open; guarded by this
    private State state = State.NEW; // guarded by this
    private volatile @Nullable Hello peer; // once admitted
    private volatile @Nullable IreeException draining;
    private final Object notice = new Object();
    private boolean noticed; // whether the peer was notified that this node drains; guarded by notice
    private volatile boolean isUsed; // whether either side has sent more than the greeting, or waits for the other

    RemoteSession(RemoteNode node, PeerConnection connection) {
        this.node = node;
        this.connection = connection;
        for (PeerStream stream : PeerStream.values()) {
            outboxes.put(stream, new Outbox(connection, stream, node.options().outboxBytes()));
        }
        this.axes = new PeerAxes(this, node.domain().tracker());
        this.wire = new SessionWire(this);
        this.subscriptions = new Subscriptions(this, node.options().objectLimit());
        this.proxies = new Proxies(this);
        this.client = new RemoteClient(this);
        this.server = new RemoteServer(this);
        this.transfers = new Transfers(this, node.options().chunkBytes());
        this.roundTrips = new RoundTrips(this);
    }

    // ---- For users.

    /**
     * Returns the peer.
     *
     * @return the identity of the peer; null while the handshake is in progress
     */
    public @Nullable NodeIdentity peer() {
        Hello hello = peer;
        return hello == null ? null : hello.identity();
    }

    /**
     * Returns whether the session is open.
     *
     * @return true once both sides have accepted each other, until the session fails
     */
    public boolean isOpen() {
        synchronized (this) {
            return state == State.OPEN && failure.get() == null;
        }
    }

    /**
     * Returns the peer's reason for accepting no more work.
     *
     * @return the reason; null while the peer accepts work
     */
    public @Nullable IreeException draining() {
        return draining;
    }

    /**
     * Returns the cause of the session's failure.
     *
     * @return the first cause; null while the session has not failed
     */
    public @Nullable IreeException failure() {
        return failure.get();
    }

    /**
     * Returns the devices served by the peer.
     *
     * @return the devices announced in the handshake; empty before
     */
    public List<RemoteDeviceInfo> devices() {
        Hello hello = peer;
        return hello == null ? List.of() : hello.devices();
    }

    /**
     * Returns the peer's axes known to this node, for observers: a frame may name more axes at any time.
     *
     * @return a snapshot, in the order of becoming known
     */
    public List<Long> axes() {
        return axes.all();
    }

    /**
     * Waits for a semaphore exported by the peer: the proxy reaches each value once the peer reports the value, with
     * the value's frontier. The proxy fails with the session.
     *
     * @param id the number of the {@link SemaphoreExport}
     * @param from the first value of interest, at least 1
     * @return the proxy, at 0 at first; the caller closes the proxy, and {@linkplain #forget forgets} it when values do
     *     not matter any more
     * @throws IreeException the failure of the session; RESOURCE_EXHAUSTED at the peer's limit of subscriptions
     */
    public TimelineSemaphore semaphore(long id, long from) {
        isUsed = true;
        return proxies.subscribe(id, from, false);
    }

    /**
     * Opens a device of the peer. The result looks like a device of this process, with memory invisible to the host.
     * The queues are streams, which wait for each other and for queues of other peers' devices without this node.
     *
     * @param id the id of one of {@link #devices()}
     * @param options options of the node's scheduling domain; a queue count of 0 selects the device's count
     * @return the device, lost with the session; the caller closes the device
     * @throws IreeException NOT_FOUND when there is no such device; UNAVAILABLE when the peer drains; the failure of
     *     the session
     */
    public Device openDevice(String id, DeviceOptions options) {
        return openDevice(id, options, StreamDevice.CLOSE_LIMIT);
    }

    /** Opens a device whose {@code close()} waits for work for at most the limit. */
    Device openDevice(String id, DeviceOptions options, Duration closeLimit) {
        IreeException cause = failure();
        if (cause == null) {
            cause = draining;
        }
        if (cause != null) {
            throw cause;
        }
        if (!options.schedulingDomain().equals(node.domain())) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "device '%s' of %s is opened in another scheduling domain than %s's".formatted(id, this, node));
        }
        List<RemoteDeviceInfo> all = devices();
        for (int i = 0; i < all.size(); i++) {
            RemoteDeviceInfo info = all.get(i);
            if (info.id().equals(id)) {
                isUsed = true;
                int count = options.queueCount() == 0 ? info.queueCount() : options.queueCount();
                RemoteDriver driver = new RemoteDriver(this, i, count);
                try {
                    Device device = new StreamDevice(
                            new DeviceInfo("remote", id + "@" + driver.slot(), info.name() + " of " + this),
                            options,
                            driver,
                            closeLimit);
                    client.opened(driver, device);
                    return device;
                } catch (RuntimeException | Error e) {
                    driver.close();
                    throw e;
                }
            }
        }
        throw IreeException.of(
                StatusCode.NOT_FOUND,
                "%s serves no device '%s'; it serves: %s"
                        .formatted(
                                this, id, all.stream().map(RemoteDeviceInfo::id).toList()));
    }

    /**
     * Returns the peer's devices opened by this node, and not closed.
     *
     * @return a snapshot, borrowed
     */
    public List<Device> opened() {
        return client.devices();
    }

    /**
     * Ends the subscription of a proxy.
     *
     * @param proxy a result of {@link #semaphore}; the proxy keeps its value
     */
    public void forget(TimelineSemaphore proxy) {
        proxies.unsubscribe(proxy);
    }

    /**
     * Returns the counters of the session.
     *
     * @return the counters now
     */
    public RemoteSessionStatistics statistics() {
        List<RemoteStreamStatistics> streams = new ArrayList<>();
        outboxes.forEach((stream, out) -> streams.add(new RemoteStreamStatistics(
                stream, out.frames(), out.bytes(), wire.frames(stream), wire.bytes(stream), out.waitingBytes())));
        return new RemoteSessionStatistics(
                streams,
                wire.dropped(),
                axes.all().size(),
                subscriptions.count(),
                proxies.count(),
                server.inProgress(),
                lanes().stream().mapToInt(RemoteLaneStatistics::inFlight).sum(),
                roundTrips.averageNanos());
    }

    /**
     * Returns the queues of the peer's devices opened by this node.
     *
     * @return a snapshot, by axis
     */
    public List<RemoteLaneStatistics> lanes() {
        return client.statistics();
    }

    /**
     * Returns the lanes of the peer on devices of this node.
     *
     * @return a snapshot, by axis
     */
    public List<ServedLaneStatistics> servedLanes() {
        return server.statistics();
    }

    /** Measures a round trip, unless a measurement is in progress. Without effect while the session is not open. */
    public void measure() {
        if (isOpen()) {
            roundTrips.measure();
        }
    }

    /**
     * Returns the connection carrying the frames.
     *
     * @return the argument of {@link RemoteNode#dial} or {@link RemoteNode#accept}
     */
    public PeerConnection connection() {
        return connection;
    }

    /**
     * Fails the session: the axes, semaphores and devices of the peer fail, the peer's work here ends, and the
     * connection is closed. Idempotent; the first cause stays.
     *
     * @param cause the cause
     */
    public void fail(IreeException cause) {
        if (!failure.compareAndSet(null, Objects.requireNonNull(cause, "cause"))) { // REMOTE-1
            return;
        }
        boolean held = HeldCallbacks.begin();
        try {
            notifyEach(parts(cause), Runnable::run);
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Returns the actions notifying the parts of the failure, in order. */
    private List<Runnable> parts(IreeException cause) {
        return List.of(
                () -> node.ended(this, cause),
                () -> axes.fail(absenceHere(cause)), // REMOTE-2
                () -> transfers.failAll(cause), // before devices are lost together with their memory
                () -> proxies.failAll(absenceHere(cause)),
                subscriptions::close,
                () -> fetches.failAll(cause),
                () -> server.failAll(cause),
                () -> client.failAll(cause),
                roundTrips::close,
                () -> outboxes.values().forEach(Outbox::close),
                () -> connection.close(cause),
                this::open,
                () -> node.failed(this, cause));
    }

    /** Returns the failure of local work that only waits for the peer: such work has broken no protocol and no limit. */
    private IreeException absenceHere(IreeException cause) {
        return switch (cause.code()) {
            case ABORTED, CANCELLED -> cause;
            default -> absence(cause);
        };
    }

    /** Returns the failure of another node's work that only waits for the peer. The other node has not closed this node either. */
    IreeException absence(IreeException cause) {
        return cause.code() == StatusCode.UNAVAILABLE
                ? cause
                : IreeException.of(StatusCode.UNAVAILABLE, "%s is lost: %s".formatted(this, cause.getMessage()), cause);
    }

    /** Notifies each element, even if an earlier notification throws: a session fails once, so nobody else would. */
    <T> void notifyEach(Iterable<? extends T> all, Consumer<? super T> notification) {
        for (T each : all) {
            try {
                notification.accept(each);
            } catch (RuntimeException | Error e) {
                LOG.error("{} has failed or opened, and a waiter could not be notified", this, e);
            }
        }
    }

    @Override
    public String toString() {
        NodeIdentity identity = peer();
        return (identity == null ? "unknown node" : identity.toString()) + " at " + connection.describe();
    }

    // ---- The handshake.

    void sendHello(Hello hello) {
        synchronized (this) {
            state = State.GREETING;
        }
        FrameWriter frame = new FrameWriter(FrameType.HELLO);
        hello.write(frame);
        post(frame);
    }

    /** Sends the reason against a session, and ends. */
    void reject(IreeException why) {
        post(new FrameWriter(FrameType.REJECT).status(why));
        fail(why);
    }

    void hello(FrameReader in) {
        Hello hello = Hello.read(in);
        expect(State.NEW, in);
        IreeException refused = node.admit(this, hello, false);
        if (refused != null) {
            reject(refused);
            return;
        }
        synchronized (this) {
            if (state == State.NEW) { // otherwise the session has failed meanwhile
                state = State.ADMITTED;
            }
        }
        FrameWriter frame =
                new FrameWriter(FrameType.HELLO_ACK).u64(hello.identity().incarnation());
        node.hello(hello.identity().incarnation()).write(frame);
        post(frame);
    }

    void helloAck(FrameReader in) {
        in.u64("session");
        Hello hello = Hello.read(in);
        expect(State.GREETING, in);
        IreeException refused = node.admit(this, hello, true);
        if (refused != null) {
            reject(refused);
            return;
        }
        axes.learn(hello);
        post(new FrameWriter(FrameType.READY));
        open();
        node.opened(this);
    }

    void ready(FrameReader in) {
        in.end();
        expect(State.ADMITTED, in);
        axes.learn(Objects.requireNonNull(peer)); // not before: the peer may never hear of the handshake
        open();
        node.opened(this);
    }

    void rejected(FrameReader in) {
        IreeException why = in.status("rejected by " + this + ": ");
        in.end();
        fail(why != null ? why : in.corrupt("a rejection with status OK"));
    }

    private void expect(State wanted, FrameReader in) {
        synchronized (this) {
            if (state != wanted) {
                throw in.corrupt("came in state %s, and is for state %s".formatted(state, wanted));
            }
        }
    }

    /**
     * Whether the peer may have used the session, or this node has. Otherwise nothing of the peer has failed here: the
     * peer may not even know of the session, and dials again.
     */
    boolean hasBegun() {
        synchronized (this) {
            return state == State.OPEN || isUsed;
        }
    }

    /** Records the accepted peer, in no other session. */
    void admitted(Hello hello) {
        peer = hello;
    }

    /** Opens the session, or ends the wait for the opening. */
    private void open() {
        List<Runnable> due;
        synchronized (this) {
            state = State.OPEN;
            due = List.copyOf(waiting);
            waiting.clear();
        }
        notifyEach(due, Runnable::run);
    }

    /** Runs actions once the session is open or has failed, in either case on a thread of the transport or this thread. */
    void whenOpen(List<Runnable> actions) {
        synchronized (this) {
            if (state != State.OPEN) {
                waiting.addAll(actions);
                return;
            }
        }
        actions.forEach(Runnable::run);
    }

    /** Notifies the peer, once, that this node accepts no more work: ahead of everything posted after this call. */
    void goAway(IreeException cause) {
        synchronized (notice) { // REMOTE-9: so that no refusal of another thread comes before the notice
            if (!noticed) {
                noticed = true;
                whenOpen(List.of(() -> post(new FrameWriter(FrameType.GOAWAY).status(cause))));
            }
        }
    }

    void goAway(FrameReader in) {
        IreeException why = in.status(this + ": ");
        in.end();
        IreeException reason = why != null ? why : IreeException.of(StatusCode.UNAVAILABLE, this + " drains");
        draining = reason;
        whenOpen(List.of(() -> node.draining(this, reason)));
    }

    /** Checks the admission of the peer, required for frames of QUEUE and BULK. */
    void checkOpen(FrameReader in) {
        if (peer == null) {
            throw in.corrupt("came before the handshake");
        }
        isUsed = true;
    }

    // ---- For the parts.

    RemoteNode node() {
        return node;
    }

    SessionWire wire() {
        return wire;
    }

    Subscriptions subscriptions() {
        return subscriptions;
    }

    Proxies proxies() {
        return proxies;
    }

    RemoteClient client() {
        return client;
    }

    RemoteServer server() {
        return server;
    }

    Transfers transfers() {
        return transfers;
    }

    Fetches fetches() {
        return fetches;
    }

    RoundTrips roundTrips() {
        return roundTrips;
    }

    PeerAxes peerAxes() {
        return axes;
    }

    /** The incarnation of the admitted peer. */
    long peerIncarnation() {
        return Objects.requireNonNull(peer(), "admitted").incarnation();
    }

    /** Records whether the peer has a session with another node. */
    void linked(FrameReader in) {
        long incarnation = in.u64("incarnation");
        boolean isOpen = in.u8("open") != 0;
        in.end();
        if (!isOpen) {
            links.remove(incarnation);
        } else if (links.size() < LINKS_LIMIT) {
            links.add(incarnation);
        } else {
            throw in.corrupt("sessions with more than %d nodes".formatted(LINKS_LIMIT));
        }
    }

    /** Whether the peer has reported a session with another node. */
    boolean isLinkedTo(long incarnation) {
        return links.contains(incarnation);
    }

    /** Whether this side dialed. */
    boolean isDialer() {
        return node.identity().incarnation() < peerIncarnation();
    }

    Outbox outbox(PeerStream stream) {
        return Objects.requireNonNull(outboxes.get(stream));
    }

    Hello.Limits peerLimits() {
        return Objects.requireNonNull(peer, "admitted").limits();
    }

    /**
     * Sends a frame, now or when there is room. A peer not reading is failed by closing the connection, since the
     * caller may hold locks, and failing parts call back.
     */
    void post(FrameWriter frame) {
        try {
            outbox(frame.type.stream).post(frame);
        } catch (IreeException e) {
            connection.close(e);
        }
    }

    /** Continues when a stream has room again. */
    void resume(PeerStream stream) {
        if (stream == PeerStream.QUEUE) {
            subscriptions.resume();
            client.resume();
        } else if (stream == PeerStream.BULK) {
            transfers.resume();
        }
    }
}
