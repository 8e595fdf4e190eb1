package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DevicePattern;
import io.github.iree4j.hal.stream.DriverLimits;
import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.MemoryKind;
import io.github.iree4j.hal.stream.MemoryKinds;
import io.github.iree4j.hal.stream.StreamDriver;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.status.DeviceLost;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A device of a peer as hardware with streams: the lanes are queues of the peer's device. */
final class RemoteDriver implements StreamDriver {
    /** Alignment of buffers, at least any device's requirement for a binding. */
    private static final long ALIGNMENT = 256;

    private static final long LOAD_SECONDS = 60;

    private final RemoteSession session;
    private final RemoteClient client;
    private final RemoteDeviceInfo info;
    private final int device;
    private final List<RemoteLane> lanes;
    private final AtomicLong allocated = new AtomicLong(); // bytes at the peer
    private final MemoryKinds kinds;
    private final Object progress = new Object(); // notified when a timeline was raised
    private volatile @Nullable IreeException lost;

    RemoteDriver(RemoteSession session, int device, int laneCount) {
        this.session = session;
        this.client = session.client();
        this.device = device;
        this.info = session.devices().get(device);
        MemoryKind far = new MemoryKind("remote", 1, 1, info.memoryLimit(), MemoryType.DEVICE_LOCAL);
        int host = MemoryType.HOST_LOCAL | MemoryType.HOST_CACHED | MemoryType.DEVICE_VISIBLE;
        MemoryKind near =
                new MemoryKind("host", 0, 0, Math.min(Runtime.getRuntime().maxMemory(), info.memoryLimit()), host);
        this.kinds = new MemoryKinds(far, null, near, near);
        List<RemoteLane> all = new ArrayList<>(laneCount);
        for (int i = 0; i < laneCount; i++) {
            all.add(client.open(this, i % info.queueCount()));
        }
        this.lanes = List.copyOf(all);
        client.add(this); // last: the session may fail, for all lanes at once
    }

    RemoteSession session() {
        return session;
    }

    RemoteClient client() {
        return client;
    }

    int device() {
        return device;
    }

    long incarnation() {
        return session.peerIncarnation();
    }

    /** Returns machine and session of the peer as in the names of axes; no other node ever has the same. */
    String slot() {
        NodeIdentity peer = Objects.requireNonNull(session.peer());
        return "m" + peer.machine() + ".s" + peer.session();
    }

    RemoteDeviceInfo info() {
        return info;
    }

    /** Returns memory of this device, or of another device that this device copies from. */
    RemoteMemory memory(StreamStorage storage) {
        return Objects.requireNonNull(session.node().memory().get(storage.handle()), "closed memory");
    }

    /** Charges bytes at the peer. */
    void charge(long bytes) {
        long limit = info.memoryLimit();
        long used = allocated.getAndUpdate(before -> bytes > limit - before ? before : before + bytes);
        if (bytes > limit - used) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%d bytes on device '%s' of %s exceed the %d that it grants, of which %d are in use"
                            .formatted(bytes, info.id(), session, limit, used));
        }
    }

    void uncharge(long bytes) {
        allocated.addAndGet(-bytes);
    }

    // ---- Progress.

    /** Notifies waiters after a timeline was raised, or the device was lost. */
    void changed() {
        synchronized (progress) {
            progress.notifyAll();
        }
    }

    /** Loses the device after the failure of the session: nothing runs at the peer for this node any more, and no memory is touched. */
    void lose(IreeException cause) {
        if (lost == null) {
            lost = cause;
            session.notifyEach(lanes, RemoteLane::abandon);
            changed();
        }
    }

    @Override
    public boolean isLost() {
        return lost != null;
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    @Override
    public @Nullable IreeException draining() {
        return session.draining();
    }

    @Nullable
    IreeException failure() {
        return lost;
    }

    void checkNotLost() {
        IreeException cause = lost;
        if (cause != null) {
            throw IreeException.of(
                    StatusCode.ABORTED,
                    "device '%s' of %s is lost: %s".formatted(info.id(), session, cause.getMessage()),
                    cause,
                    new DeviceLost(info.id()));
        }
    }

    @Override
    public void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos) {
        long start = System.nanoTime();
        synchronized (progress) {
            while (lost == null && !anyReached(timelines, values, count)) {
                long left = timeoutNanos == Long.MAX_VALUE ? 0 : timeoutNanos - (System.nanoTime() - start);
                if (left < 0 || left == 0 && timeoutNanos != Long.MAX_VALUE) {
                    return;
                }
                try {
                    progress.wait(left / 1_000_000, (int) (left % 1_000_000));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
        checkNotLost();
    }

    private static boolean anyReached(DriverTimeline[] timelines, long[] values, int count) {
        for (int i = 0; i < count; i++) {
            if (((RemoteTimeline) timelines[i]).hasReached(values[i])) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean canWaitForLanesOf(StreamDriver other) {
        return other instanceof RemoteDriver remote && remote.session.node() == session.node() && !remote.isLost();
    }

    /** Returns whether both are the same device of the same peer, opened twice. */
    boolean isSameAs(RemoteDriver other) {
        return session == other.session && device == other.device;
    }

    /** Other memory is copied if the peer with the memory reads it without a queue, for itself or for a peer with a session. */
    @Override
    public boolean canCopyFrom(StreamDriver other) {
        return other instanceof RemoteDriver giver
                && giver != this
                && giver.session.node() == session.node()
                && !giver.isLost()
                && !isLost()
                && (isSameAs(giver)
                        || giver.info.isMemoryOfHost()
                                && (giver.session == session || session.isLinkedTo(giver.incarnation())));
    }

    @Override
    public List<Lane> lanes() {
        return List.copyOf(lanes);
    }

    /** Adds the state of the lanes of the device; each lane has a single queue. */
    void statistics(Device of, List<RemoteLaneStatistics> all) {
        for (int i = 0; i < lanes.size(); i++) {
            all.add(lanes.get(i).statistics(of.queue(i).axis()));
        }
    }

    @Override
    public DriverTimeline createTimeline(long value, boolean shared) {
        if (shared) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "a remote device shares no semaphores with drivers; export one with RemoteNode.export");
        }
        return new RemoteTimeline(this, null, value);
    }

    // ---- Memory.

    @Override
    public MemoryKinds memoryKinds() {
        return kinds;
    }

    @Override
    public DriverLimits limits() {
        return new DriverLimits(ALIGNMENT, Long.MAX_VALUE, 0, 0);
    }

    @Override
    public String identity() {
        return "%s of node %d".formatted(info.id(), incarnation());
    }

    @Override
    public DriverMemory allocate(long size, MemoryKind kind, boolean shared) {
        if (shared) {
            throw IreeException.of(StatusCode.UNIMPLEMENTED, "a remote device exports no memory; copy it");
        }
        checkNotLost();
        long handle = session.node().handle();
        try {
            return kind.isMappable()
                    ? RemoteMemory.near(this, handle, size, ALIGNMENT)
                    : RemoteMemory.far(this, handle, size);
        } catch (OutOfMemoryError e) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED, "the process has no %d bytes left".formatted(size), e);
        }
    }

    @Override
    public String hostMemoryObstacle() {
        return session + " does not see the memory of this process";
    }

    @Override
    public DriverMemory importHost(long address, long size, boolean readOnly) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, hostMemoryObstacle());
    }

    @Override
    public boolean hasConstants() {
        return info.hasViews();
    }

    @Override
    public DriverMemory importConstant(MemorySegment bytes) {
        checkNotLost();
        try {
            return RemoteMemory.constant(this, session.node().handle(), bytes);
        } catch (InternalError e) {
            throw FileFault.of("constant of %d bytes for %s".formatted(bytes.byteSize(), session), e);
        }
    }

    // ---- Code.

    @Override
    public List<String> formats() {
        return info.formats();
    }

    /** Compares with the driver at the serving node, since programs request a device by its local kind. */
    @Override
    public boolean isNamed(String pattern) {
        return DevicePattern.matches(pattern, info.driver());
    }

    @Override
    public Executable load(ExecutableParams params) {
        checkNotLost();
        long handle = session.node().handle();
        RemoteClient.Load load = client.load(device, handle, params);
        try {
            return new RemoteExecutable(this, handle, params.format(), await(load, params));
        } catch (RuntimeException | Error e) {
            client.release(handle);
            throw e;
        } finally {
            session.transfers().withdraw(load.transfer()); // the bytes belong to the caller again
        }
    }

    private List<RemoteExport> await(RemoteClient.Load load, ExecutableParams params) {
        try {
            return load.exports().get(LOAD_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IreeException failure
                    ? failure.during("loading code")
                    : new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IreeException.of(StatusCode.CANCELLED, "interrupted while %s loads code".formatted(session), e);
        } catch (TimeoutException e) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "%s has not loaded %d bytes of code within %d s"
                            .formatted(session, params.data().byteSize(), LOAD_SECONDS),
                    e);
        }
    }

    @Override
    public StreamEncoder encoder(StreamMemory all) {
        return new RemoteEncoder(this);
    }

    @Override
    public void close() {
        lanes.forEach(lane -> {
            lane.close();
            session.node().lanes().closed(lane);
        });
        client.remove(this);
    }
}
