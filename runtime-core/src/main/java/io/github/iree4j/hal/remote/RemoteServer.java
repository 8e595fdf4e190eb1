package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a peer uses of this node: memory, code and commands under handles of its choice, and lanes. Its frames arrive one at a time; everything
 * that runs is checked by the devices, as the work of any program is. Safe from any thread.
 */
final class RemoteServer {
    /** Bytes of accepted commands that have not ended. */
    private static final long QUEUED_BYTES_LIMIT = 256L << 20;

    /** Closed lanes of a client that are remembered. */
    static final int CLOSED_LANES = 1 << 12;

    /** How long no peer may have submitted anything for a node to be quiet: time to begin to read results. */
    private static final long READING_NANOS = 250_000_000;

    /** Alignment of memory, at least what any device requires of a binding. */
    private static final long ALIGNMENT = 256;

    private static final int USAGES =
            BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS | BufferUsage.DISPATCH_UNIFORM_READ;

    private final RemoteSession session;
    private final RemoteNode node;

    // Guarded by this.
    private final Map<Long, ServerObject> objects = new HashMap<>(); // by handle
    private final Map<Long, Long> sizes = new HashMap<>(); // bytes of allocations, by handle
    private final Map<Long, ServerLane> lanes = new HashMap<>(); // by axis; open, or with commands that have not ended
    private final Map<Long, ServerLane> over =
            new LinkedHashMap<>(); // closed ones, for those who still ask; oldest first
    private long lastForgotten = -1; // the highest ordinal of those of their axes that were forgotten
    private final Map<Long, List<Subscriptions.LaneWaiter>> expected = new HashMap<>(); // by axis
    private int expectedCount;
    private final Map<List<Long>, List<TimelineSemaphore>> asked = new HashMap<>(); // by axis and epoch
    private long allocated;
    private int inProgress; // commands
    private long accepted; // commands so far
    private long queuedBytes;
    private @Nullable IreeException failure;

    RemoteServer(RemoteSession session) {
        this.session = session;
        this.node = session.node();
    }

    RemoteSession session() {
        return session;
    }

    // ---- Objects.

    /** The object of a handle, retained. Unknown ones cannot come from a correct client, but end only what uses them. */
    ServerObject find(long handle) {
        synchronized (this) {
            ServerObject object = objects.get(handle);
            if (object != null && object.tryRetain()) {
                return object;
            }
        }
        throw new IreeException(StatusCode.NOT_FOUND, "%s has nothing under handle %d here".formatted(session, handle));
    }

    private ServerObject add(FrameReader in, long handle, String what) {
        synchronized (this) {
            checkNotFailed();
            if (objects.size() + lanes.size() >= node.options().objectLimit()) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %s has %d objects here, the limit is %d; release some"
                                .formatted(
                                        in.type,
                                        session,
                                        objects.size(),
                                        node.options().objectLimit()));
            }
            if (handle == 0 || objects.containsKey(handle)) {
                throw in.corrupt("handle %d is taken".formatted(handle));
            }
            ServerObject object = new ServerObject("%s %d of %s".formatted(what, handle, session));
            objects.put(handle, object);
            return object;
        }
    }

    private void checkNotFailed() { // under the lock: REMOTE-1
        IreeException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    private Device device(FrameReader in) {
        int index = in.u16("device");
        if (index >= node.devices().size()) {
            throw in.corrupt("device %d of %d".formatted(index, node.devices().size()));
        }
        return node.devices().get(index);
    }

    void allocate(FrameReader in) {
        long handle = in.u64("handle");
        Device device = device(in);
        long size = in.size("size");
        in.end();
        ServerObject object = add(in, handle, "memory");
        long before;
        synchronized (this) {
            before = allocated;
            if (size <= node.options().memoryLimit() - before) {
                allocated += size;
                sizes.put(handle, size);
            }
        }
        if (size > node.options().memoryLimit() - before) {
            object.settle(
                    null,
                    new IreeException(
                            StatusCode.RESOURCE_EXHAUSTED,
                            "%d bytes for %s, which has %d of the %d bytes that one peer may have"
                                    .formatted(
                                            size,
                                            session,
                                            before,
                                            node.options().memoryLimit())));
            return;
        }
        object.make(node.slow(), () -> {
            BufferParams params =
                    new BufferParams(MemoryType.DEVICE_LOCAL, USAGES, MemoryAccess.ALL, QueueAffinity.ANY, ALIGNMENT);
            return device.allocator().allocate(params, size);
        });
    }

    void record(FrameReader in) {
        long handle = in.u64("handle");
        Device device = device(in);
        RecordedCommands commands = RecordedCommands.read(in, this::find);
        try {
            in.end();
            ServerObject object = add(in, handle, "command buffer");
            object.make(node.slow(), () -> {
                try {
                    return commands.record(device, false);
                } finally {
                    commands.release();
                }
            });
        } catch (RuntimeException | Error e) {
            commands.release();
            throw e;
        }
    }

    void release(FrameReader in) {
        long handle = in.u64("handle");
        in.end();
        ServerObject object;
        synchronized (this) {
            object = objects.remove(handle);
            Long size = sizes.remove(handle);
            allocated -= size == null ? 0 : size;
        }
        if (object == null) {
            throw in.corrupt("%s has nothing under handle %d here".formatted(session, handle));
        }
        object.close();
    }

    // ---- Code.

    void load(FrameReader in) {
        long handle = in.u64("handle");
        Device device = device(in);
        long transfer = session.transfers().ofPeer(in, in.u64("transfer"));
        long length = in.size("length");
        byte[] digest = in.bytes("digest", 32);
        String format = in.string("format");
        int[] constants = new int[in.count("constants", in.u16("constants"), 4)];
        for (int i = 0; i < constants.length; i++) {
            constants[i] = in.u32("constant");
        }
        in.end();
        ServerObject object = add(in, handle, "executable");
        MemorySegment known = node.content().find(digest);
        if (known != null) {
            load(object, handle, device, format, known, constants);
            return;
        }
        if (length > node.options().contentLimit()) {
            refuse(
                    object,
                    handle,
                    new IreeException(
                            StatusCode.RESOURCE_EXHAUSTED,
                            "%d bytes of code, the limit is %d"
                                    .formatted(length, node.options().contentLimit())));
            return;
        }
        MemorySegment content =
                Arena.ofAuto().allocate(Math.max(1, length), ALIGNMENT).asSlice(0, length);
        session.transfers().receive(transfer, 0, content, true, () -> null, cause -> {
            if (cause != null) {
                refuse(object, handle, cause);
            } else if (!Arrays.equals(RemoteClient.digest(content), digest)) {
                refuse(
                        object,
                        handle,
                        new IreeException(
                                StatusCode.DATA_LOSS,
                                "%d bytes of code do not have the digest that was announced".formatted(length)));
            } else {
                node.content().add(digest, content);
                load(object, handle, device, format, content, constants);
            }
        });
    }

    private void load(
            ServerObject object, long handle, Device device, String format, MemorySegment content, int[] constants) {
        object.make(node.slow(), () -> {
            try {
                Executable executable = device.createExecutable(new ExecutableParams(format, content, null, constants));
                FrameWriter frame = new FrameWriter(FrameType.LOADED)
                        .u64(handle)
                        .status(null)
                        .u16(executable.exportCount());
                for (int i = 0; i < executable.exportCount(); i++) {
                    ExecutableExport export = executable.export(i);
                    frame.string(export.name()).u16(export.constantCount()).u16(export.bindingCount());
                }
                session.post(frame);
                return executable;
            } catch (IreeException e) {
                session.post(new FrameWriter(FrameType.LOADED).u64(handle).status(e));
                throw e;
            }
        });
    }

    private void refuse(ServerObject object, long handle, IreeException cause) {
        object.settle(null, cause);
        session.post(new FrameWriter(FrameType.LOADED).u64(handle).status(cause));
    }

    // ---- Lanes.

    void openLane(FrameReader in) {
        long axis = in.u64("lane");
        Device device = device(in);
        int queue = in.u16("queue");
        in.end();
        if (queue >= device.queueCount()) {
            throw in.corrupt("queue %d of %d".formatted(queue, device.queueCount()));
        }
        if (!Axis.isValid(axis) || !Objects.requireNonNull(session.peer()).owns(axis)) {
            throw in.corrupt("axis '%s' does not belong to %s".formatted(Axis.toString(axis), session));
        }
        ServerLane lane = new ServerLane(this, axis, device.queue(queue));
        List<Subscriptions.LaneWaiter> waiting;
        synchronized (this) {
            checkNotFailed();
            if (lanes.size() >= node.options().objectLimit()) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %d lanes of %s, the limit".formatted(in.type, lanes.size(), session));
            }
            if (over.containsKey(axis) || isForgotten(axis) || lanes.putIfAbsent(axis, lane) != null) {
                throw in.corrupt("lane '%s' was opened before".formatted(Axis.toString(axis)));
            }
            waiting = expected.remove(axis);
            expectedCount -= waiting == null ? 0 : waiting.size();
        }
        if (waiting != null) {
            waiting.forEach(each -> each.opened(lane.timeline()));
        }
    }

    void closeLane(FrameReader in) {
        ServerLane lane = lane(in, in.u64("lane"));
        in.end();
        lane.close(in);
    }

    /** A closed lane has ended its last command. It stays a while, for commands of other nodes that wait for points of it. */
    void retire(ServerLane lane) {
        ServerLane oldest = null;
        synchronized (this) {
            if (failure != null || !lanes.remove(lane.axis(), lane)) {
                return;
            }
            over.put(lane.axis(), lane);
            if (over.size() > CLOSED_LANES) {
                oldest = over.values().iterator().next();
                over.remove(oldest.axis());
                lastForgotten = Math.max(lastForgotten, Axis.ordinal(oldest.axis()));
            }
        }
        if (oldest != null) {
            oldest.forget();
        }
    }

    List<ServedLaneStatistics> statistics() {
        List<ServerLane> all;
        synchronized (this) {
            all = List.copyOf(lanes.values());
        }
        return all.stream()
                .map(ServerLane::statistics)
                .sorted(Comparator.comparingLong(ServedLaneStatistics::axis))
                .toList();
    }

    private ServerLane lane(FrameReader in, long axis) {
        synchronized (this) {
            ServerLane lane = lanes.get(axis);
            if (lane == null) {
                throw in.corrupt("%s has no lane '%s' here".formatted(session, Axis.toString(axis)));
            }
            return lane;
        }
    }

    /** Clients open lanes in the order of their axes, but for a few. Under the lock. */
    private boolean isForgotten(long axis) {
        return Axis.ordinal(axis) <= lastForgotten;
    }

    /** Passes on the timeline of a lane of this client: now, or once it is open. */
    void whenLane(long axis, Subscriptions.LaneWaiter waiter) {
        ServerLane lane;
        IreeException cause;
        synchronized (this) {
            lane = lanes.getOrDefault(axis, over.get(axis));
            cause = failure;
            if (lane == null && cause == null && isForgotten(axis)) {
                cause = new IreeException(
                        StatusCode.NOT_FOUND,
                        "lane '%s' of %s was closed, and %d others since"
                                .formatted(Axis.toString(axis), session, CLOSED_LANES));
            }
            if (lane == null && cause == null) {
                if (expectedCount >= node.options().objectLimit()) {
                    cause = new IreeException(
                            StatusCode.RESOURCE_EXHAUSTED,
                            "%d waits for lanes of %s that are not open, the limit".formatted(expectedCount, session));
                } else {
                    expected.computeIfAbsent(axis, _ -> new ArrayList<>()).add(waiter);
                    expectedCount++;
                    return;
                }
            }
        }
        if (lane != null) {
            waiter.opened(lane.timeline());
        } else {
            waiter.refused(Objects.requireNonNull(cause));
        }
    }

    void command(FrameReader in) {
        int bytes = in.remaining();
        ServerLane lane = lane(in, in.u64("lane"));
        long sequence = in.u64("sequence");
        long epoch = in.size("epoch");
        if (!lane.isNext(in, sequence, epoch)) {
            return;
        }
        enter(in, bytes);
        ServerCommand command = new ServerCommand(sequence, epoch, bytes);
        try {
            command.trace(TraceParent.read(in));
            List<long[]> waits = new ArrayList<>(0);
            int waitCount = in.count("waits", in.u8("waits"), 24);
            for (int i = 0; i < waitCount; i++) {
                waits.add(new long[] {in.u64("incarnation"), in.u64("axis"), in.size("epoch")});
            }
            new CommandReader(this, lane.queue().device(), in, command).read();
            in.end();
            waits.forEach(each -> await(command.addWait(), each[0], each[1], each[2]));
            IreeException leaving = node.leaving();
            if (leaving != null && command.isNewWork()) {
                command.refuse(leaving);
            }
        } catch (RuntimeException | Error e) {
            command.abandon(new IreeException(StatusCode.DATA_LOSS, "invalid command", e));
            leave(command);
            throw e;
        }
        lane.accept(command);
    }

    ServerObject use(ServerCommand command, long handle) {
        return command.use(find(handle));
    }

    private void enter(FrameReader in, int bytes) {
        synchronized (this) {
            if (inProgress >= node.options().commandWindow() * Math.max(1, lanes.size())) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %s has %d commands in progress, more than the %d per lane that were granted"
                                .formatted(
                                        in.type,
                                        session,
                                        inProgress,
                                        node.options().commandWindow()));
            }
            if (queuedBytes + bytes > QUEUED_BYTES_LIMIT) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: commands of %s in progress have %d bytes, the limit is %d"
                                .formatted(in.type, session, queuedBytes, QUEUED_BYTES_LIMIT));
            }
            inProgress++;
            accepted++;
            notifyAll();
            queuedBytes += bytes;
        }
    }

    void leave(ServerCommand command) {
        synchronized (this) {
            inProgress--;
            queuedBytes -= command.bytes();
            if (inProgress == 0) {
                notifyAll();
            }
        }
    }

    synchronized int inProgress() {
        return inProgress;
    }

    /**
     * Waits until nothing of any peer is in progress, each has read so, and none has submitted more for a while.
     *
     * @param deadline by {@link System#nanoTime}
     * @return false when that is not so by then
     */
    static boolean awaitQuiet(RemoteNode node, long deadline) throws InterruptedException {
        while (true) {
            List<RemoteSession> all = node.sessions();
            long[] accepted = new long[all.size()];
            for (int i = 0; i < accepted.length; i++) {
                RemoteSession each = all.get(i);
                if (each.isOpen()
                        && !(each.server().awaitNone(deadline)
                                && each.roundTrips().await(deadline))) {
                    return false;
                }
                accepted[i] = each.server().accepted();
            }
            long until = Math.min(deadline, System.nanoTime() + READING_NANOS);
            boolean quiet = true;
            for (int i = 0; i < accepted.length; i++) {
                quiet &= !all.get(i).server().awaitMore(accepted[i], until);
            }
            if (quiet) {
                return true;
            }
        }
    }

    private synchronized long accepted() {
        return accepted;
    }

    /** Waits until a command comes; false when none does by the deadline. */
    private synchronized boolean awaitMore(long than, long deadline) throws InterruptedException {
        while (accepted == than) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000 + 1);
        }
        return true;
    }

    /** Waits until no command is in progress; false when there is one at the deadline. */
    private synchronized boolean awaitNone(long deadline) throws InterruptedException {
        while (inProgress > 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            wait(left / 1_000_000 + 1);
        }
        return true;
    }

    /** Waits for a point of a lane, served here or by another node, without its client. */
    private void await(TimelineSemaphore wait, long incarnation, long axis, long epoch) {
        if (incarnation == node.identity().incarnation()) {
            node.whenLane(axis, new Subscriptions.LaneWaiter() {
                @Override
                public void opened(TimelineSemaphore lane) {
                    lane.whenReached(epoch, (_, failure) -> settle(wait, failure, lane.frontierAt(epoch)));
                }

                @Override
                public void refused(IreeException cause) {
                    wait.fail(cause);
                }
            });
            return;
        }
        try {
            node.whenSession(incarnation, () -> {
                try {
                    TimelineSemaphore proxy =
                            node.session(incarnation).proxies().subscribe(axis, epoch, true);
                    proxy.whenReached(epoch, (_, failure) -> {
                        if (failure == null) {
                            settle(wait, null, proxy.frontierAt(epoch));
                        } else {
                            ask(wait, axis, epoch);
                        }
                    });
                    proxy.close();
                } catch (IreeException e) {
                    ask(wait, axis, epoch);
                }
            });
        } catch (IreeException e) {
            ask(wait, axis, epoch);
        }
    }

    /**
     * Asks the client about a lane of a node that this one cannot reach. To end the command instead would be wrong: those behind it rely on the
     * point as well.
     */
    private void ask(TimelineSemaphore wait, long axis, long epoch) {
        IreeException cause;
        synchronized (this) {
            cause = failure;
            if (cause == null) {
                asked.computeIfAbsent(List.of(axis, epoch), _ -> new ArrayList<>())
                        .add(wait);
            }
        }
        if (cause != null) {
            wait.fail(cause);
        } else {
            session.post(new FrameWriter(FrameType.ASK).u64(axis).u64(epoch));
        }
    }

    /** The client's answer: the point is reached, or never will be. */
    void tell(FrameReader in) {
        long axis = in.u64("axis");
        long epoch = in.size("epoch");
        IreeException cause = in.status(session + ": ");
        in.end();
        List<TimelineSemaphore> due;
        synchronized (this) {
            due = asked.remove(List.of(axis, epoch));
        }
        if (due != null) { // else answered before
            due.forEach(each -> settle(each, cause, null));
        }
    }

    private static void settle(TimelineSemaphore wait, @Nullable IreeException cause, @Nullable Frontier frontier) {
        if (cause != null) {
            wait.fail(cause);
            return;
        }
        try {
            wait.signal(1, frontier == null ? Frontier.UNKNOWN : frontier);
        } catch (IreeException e) {
            // Failed meanwhile, with the session of its client.
        }
    }

    /** The session has failed. */
    void failAll(IreeException cause) {
        List<ServerLane> allLanes;
        List<ServerObject> allObjects;
        List<Subscriptions.LaneWaiter> waiting = new ArrayList<>();
        synchronized (this) {
            failure = cause;
            allLanes = new ArrayList<>(lanes.values());
            allLanes.addAll(over.values());
            over.clear();
            allObjects = List.copyOf(objects.values());
            objects.clear();
            sizes.clear();
            expected.values().forEach(waiting::addAll);
            expected.clear();
            asked.clear(); // failed by their commands
        }
        waiting.forEach(each -> each.refused(cause));
        allLanes.forEach(each -> each.fail(cause));
        allObjects.forEach(Resource::close);
    }

    static Buffer buffer(ServerObject object) {
        return object.get(Buffer.class);
    }
}
