package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a peer has this node do: lanes, and the commands on them, which use its {@link ServerObjects}. Its frames arrive one at a time; everything
 * that runs is checked by the devices, as the work of any program is. Safe from any thread.
 */
final class RemoteServer {
    /** Weight of accepted commands that have not ended. */
    private static final long QUEUED_BYTES_LIMIT = 256L << 20;

    /** Closed lanes of a client that are remembered. */
    static final int CLOSED_LANES = 1 << 12;

    /** How long no peer may have submitted anything for a node to be quiet: time to begin to read results. */
    private static final long READING_NANOS = 250_000_000;

    private final RemoteSession session;
    private final RemoteNode node;
    private final ServerObjects objects;

    // Guarded by this.
    private final Map<Long, ServerLane> lanes = new HashMap<>(); // by axis; open, or with commands that have not ended
    private final Map<Long, ServerLane> over =
            new LinkedHashMap<>(); // closed ones, for those who still ask; oldest first
    private long lastForgotten = -1; // the highest ordinal of those of their axes that were forgotten
    private final Map<Long, List<Subscriptions.LaneWaiter>> expected = new HashMap<>(); // by axis
    private int expectedCount;
    private final Map<List<Long>, List<TimelineSemaphore>> asked = new HashMap<>(); // by axis and epoch
    private int inProgress; // commands
    private int admitted; // those of them that the client counts too: it has not been told of their end
    private long accepted; // commands so far, without those that come while this node drains and read nothing
    private long queuedBytes; // of those
    private @Nullable IreeException failure;

    RemoteServer(RemoteSession session) {
        this.session = session;
        this.node = session.node();
        this.objects = new ServerObjects(session, this::laneCount);
    }

    RemoteSession session() {
        return session;
    }

    ServerObjects objects() {
        return objects;
    }

    private void checkNotFailed() { // under the lock: REMOTE-1
        IreeException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    // ---- Lanes.

    void openLane(FrameReader in) {
        long axis = in.u64("lane");
        Device device = node.device(in);
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

    private synchronized int laneCount() {
        return lanes.size();
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

    /** Clients open lanes in the order of their axes. Under the lock. */
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
        ServerCommand command = new ServerCommand(sequence, epoch, bytes);
        boolean entered = false;
        try {
            command.trace(TraceParent.read(in));
            List<LanePoint> waits = new ArrayList<>(0);
            int waitCount = in.count("waits", in.u8("waits"), 24);
            for (int i = 0; i < waitCount; i++) {
                waits.add(new LanePoint(in.u64("incarnation"), in.u64("axis"), in.size("epoch")));
            }
            new CommandReader(this, lane.queue().device(), in, command).read();
            in.end();
            enter(in, command);
            entered = true;
            waits.forEach(each -> await(command.addWait(each), each.incarnation(), each.axis(), each.epoch()));
            IreeException leaving = node.leaving();
            if (leaving != null && command.isNewWork()) {
                command.refuse(leaving);
            }
        } catch (RuntimeException | Error e) {
            command.abandon(new IreeException(StatusCode.DATA_LOSS, "invalid command", e));
            if (entered) {
                leave(); // the session ends
            }
            throw e;
        }
        lane.accept(command);
    }

    ServerObject use(ServerCommand command, long handle) {
        return command.use(objects.find(handle));
    }

    private void enter(FrameReader in, ServerCommand command) {
        boolean counts = node.leaving() == null || command.isReading();
        synchronized (this) {
            if (admitted >= node.options().commandWindow() * Math.max(1, lanes.size())) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %s has %d commands in progress, more than the %d per lane that were granted"
                                .formatted(
                                        in.type,
                                        session,
                                        admitted,
                                        node.options().commandWindow()));
            }
            if (queuedBytes + command.weight() > QUEUED_BYTES_LIMIT) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: commands of %s in progress take %d bytes, the limit is %d"
                                .formatted(in.type, session, queuedBytes, QUEUED_BYTES_LIMIT));
            }
            inProgress++;
            admitted++;
            if (counts) {
                accepted++;
                notifyAll();
            }
            queuedBytes += command.weight();
        }
    }

    /** The client is about to learn that a command has ended, and may send another in its place. */
    synchronized void ending(ServerCommand command) {
        admitted--;
        queuedBytes -= command.weight();
    }

    /** A command has ended, and all that wait for it were told. */
    synchronized void leave() {
        inProgress--;
        if (inProgress == 0) {
            notifyAll();
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
                public void refused(IreeException cause) { // forgotten, for example
                    ask(wait, axis, epoch);
                }
            });
            return;
        }
        try {
            RemoteSession other = node.session(incarnation);
            other.whenOpen(List.of(() -> {
                try {
                    TimelineSemaphore proxy = other.proxies().subscribe(axis, epoch, true);
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
            }));
        } catch (IreeException e) { // also when there may be one later: the network between the two may be cut for long
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

    /** The client's answer: the point is reached, or never will be, and everything before it is over. */
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
        List<Subscriptions.LaneWaiter> waiting = new ArrayList<>();
        synchronized (this) {
            failure = cause;
            allLanes = new ArrayList<>(lanes.values());
            allLanes.addAll(over.values());
            over.clear();
            expected.values().forEach(waiting::addAll);
            expected.clear();
            asked.clear(); // failed by their commands
        }
        session.tellEach(waiting, each -> each.refused(cause));
        session.tellEach(allLanes, each -> each.fail(cause));
        objects.failAll(cause);
    }

    static Buffer buffer(ServerObject object) {
        return object.get(Buffer.class);
    }
}
