package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * This node's use of a peer: devices, with memory, code, commands and lanes, each under a handle never reused. Safe
 * from any thread.
 */
final class RemoteClient {
    private static final int UNDECLARED = 0xFFFF;

    private final RemoteSession session;
    private final Questions questions;
    private final Map<Long, RemoteLane> lanes = new ConcurrentHashMap<>(); // by axis
    private final Map<Long, Load> loads = new HashMap<>(); // guarded by the map
    private final Set<RemoteDriver> drivers = ConcurrentHashMap.newKeySet();
    private final Map<RemoteDriver, Device> devices = new ConcurrentHashMap<>(); // open devices
    private volatile boolean closed;

    /** Code being loaded by the peer. */
    record Load(long transfer, CompletableFuture<List<RemoteExport>> exports) {}

    RemoteClient(RemoteSession session) {
        this.session = session;
        this.questions = new Questions(session);
    }

    /** Returns the questions of the peer about points of lanes, served by other nodes out of the peer's reach. */
    Questions questions() {
        return questions;
    }

    void add(RemoteDriver driver) {
        drivers.add(driver);
        IreeException cause = session.failure();
        if (closed && cause != null) {
            driver.lose(cause);
        }
    }

    /** Records the device of a driver. */
    void opened(RemoteDriver driver, Device device) {
        devices.put(driver, device);
        if (!drivers.contains(driver)) {
            devices.remove(driver); // closed meanwhile
        }
    }

    List<Device> devices() {
        return List.copyOf(devices.values());
    }

    void remove(RemoteDriver driver) {
        drivers.remove(driver);
        devices.remove(driver);
    }

    /** Opens a lane to a queue of a driver's device. Lanes open in the order of axes, so that the server can identify forgotten lanes. */
    synchronized RemoteLane open(RemoteDriver driver, int queue) {
        RemoteNode node = session.node();
        RemoteLane lane = new RemoteLane(driver, node.domain().axes().allocate(CausalDomain.QUEUE));
        lanes.put(lane.axis(), lane);
        node.lanes().add(lane);
        session.post(new FrameWriter(FrameType.OPEN_LANE)
                .u64(lane.axis())
                .u16(driver.device())
                .u16(queue));
        return lane;
    }

    /** Closes a lane after the last command was sent. */
    void close(RemoteLane lane) {
        lanes.remove(lane.axis());
        session.post(new FrameWriter(FrameType.CLOSE_LANE).u64(lane.axis()));
    }

    void allocate(int device, long handle, long size, GrantKey key) {
        session.post(new FrameWriter(FrameType.ALLOCATE)
                .u64(handle)
                .u16(device)
                .u64(size)
                .bytes(key.bytes()));
    }

    /**
     * Makes the peer keep a constant: by the digest, and by the bytes if the peer requests the bytes.
     *
     * @return the transfer of the bytes, to be withdrawn
     */
    long constant(int device, long handle, MemorySegment content, byte[] digest, GrantKey key) {
        long transfer = session.transfers().next();
        session.transfers().sendConstant(transfer, content);
        session.post(new FrameWriter(FrameType.CONSTANT)
                .u64(handle)
                .u16(device)
                .u64(transfer)
                .u64(content.byteSize())
                .bytes(digest)
                .bytes(key.bytes()));
        return transfer;
    }

    /** Makes the peer create a view of a constant. */
    void view(long handle, long constant, GrantKey key) {
        session.post(new FrameWriter(FrameType.VIEW).u64(handle).u64(constant).bytes(key.bytes()));
    }

    /** Makes the peer create a constant with the bytes of a view. */
    void seal(long handle, long view, long length, GrantKey key) {
        session.post(new FrameWriter(FrameType.SEAL)
                .u64(handle)
                .u64(view)
                .u64(length)
                .bytes(key.bytes()));
    }

    /** Records that the peer has noticed a write to a view, ahead of the end of the command. */
    void written(FrameReader in) {
        long handle = in.u64("handle");
        in.end();
        RemoteMemory memory = session.node().memory().get(handle);
        if (memory != null && memory.driver().session().equals(session)) { // otherwise closed
            memory.setWritten();
        }
    }

    void release(long handle) {
        session.post(new FrameWriter(FrameType.RELEASE).u64(handle));
    }

    /** Makes the peer load code: by the digest, and by the bytes if the peer requests the bytes. */
    Load load(int device, long handle, ExecutableParams params) {
        MemorySegment data = params.data();
        long transfer = session.transfers().next();
        Load load = new Load(transfer, new CompletableFuture<>());
        synchronized (loads) {
            loads.put(handle, load);
        }
        session.transfers().send(transfer, 0, data, 0, () -> null, _ -> {});
        FrameWriter frame = new FrameWriter(FrameType.LOAD)
                .u64(handle)
                .u16(device)
                .u64(transfer)
                .u64(data.byteSize())
                .bytes(digest(data))
                .string(params.format())
                .u16(params.constants().length);
        for (int constant : params.constants()) {
            frame.u32(constant);
        }
        session.post(frame);
        IreeException cause = session.failure();
        if (cause != null) {
            load.exports.completeExceptionally(cause);
        }
        return load;
    }

    static byte[] digest(MemorySegment bytes) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            for (long at = 0; at < bytes.byteSize(); at += 1 << 20) {
                sha.update(bytes.asSlice(at, Math.min(1 << 20, bytes.byteSize() - at))
                        .toArray(ValueLayout.JAVA_BYTE));
            }
            return sha.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java runtime has this digest
        }
    }

    void loaded(FrameReader in) {
        long handle = in.u64("handle");
        Load load;
        synchronized (loads) {
            load = loads.remove(handle);
        }
        if (load == null) {
            throw in.corrupt("no executable %d is being loaded".formatted(handle));
        }
        IreeException failure = in.status(session + ": ");
        List<RemoteExport> exports = new ArrayList<>();
        int count = failure != null ? 0 : in.count("exports", in.u16("exports"), 7);
        for (int i = 0; i < count; i++) {
            String name = in.string("name");
            int constants = declared(in.u16("constants"));
            int bindings = declared(in.u16("bindings"));
            BitSet read = new BitSet();
            for (int left = in.u8("read bindings"); left > 0; left--) {
                read.set(in.u8("binding"));
            }
            exports.add(new RemoteExport(new ExecutableExport(name, 0, constants, bindings, 0, 0, 0, 0), read));
        }
        in.end();
        if (failure == null) {
            load.exports.complete(exports);
        } else {
            load.exports.completeExceptionally(failure);
        }
    }

    /** A count of an export; -1 for a count not declared by the executable. */
    private static int declared(int count) {
        return count == UNDECLARED ? -1 : count;
    }

    void accepted(FrameReader in) {
        long axis = in.u64("lane");
        long sequence = in.u64("sequence");
        in.end();
        RemoteLane lane = lanes.get(axis);
        if (lane != null) {
            lane.accepted(in, sequence);
        }
    }

    void completed(FrameReader in) {
        long axis = in.u64("lane");
        long sequence = in.u64("sequence");
        long epoch = in.size("epoch");
        IreeException failure = in.status(session + ": ");
        Frontier frontier = in.frontier();
        in.end();
        session.peerAxes().believed(frontier);
        RemoteLane lane = lanes.get(axis);
        if (lane != null) { // otherwise closed meanwhile
            lane.completed(in, sequence, epoch, failure);
        }
    }

    List<RemoteLaneStatistics> statistics() {
        List<RemoteLaneStatistics> all = new ArrayList<>();
        devices.forEach((driver, device) -> driver.statistics(device, all));
        all.sort(Comparator.comparingLong(RemoteLaneStatistics::axis));
        return all;
    }

    /** Continues when QUEUE has room again. */
    void resume() {
        lanes.values().forEach(RemoteLane::advance);
    }

    /** Fails all drivers and loads after the failure of the session. */
    void failAll(IreeException cause) {
        closed = true;
        questions.close();
        session.notifyEach(drivers, each -> each.lose(cause));
        List<Load> all;
        synchronized (loads) {
            all = List.copyOf(loads.values());
            loads.clear();
        }
        all.forEach(each -> each.exports.completeExceptionally(cause));
    }
}
