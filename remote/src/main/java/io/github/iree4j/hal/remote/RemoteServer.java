package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
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
 * The work of a peer on this node: lanes, and the commands on the lanes, which use the peer's {@link ServerObjects}.
 * Frames arrive in sequence. Devices check the commands like the work of any program. Safe from any thread.
 */
final class RemoteServer {
    /** Limit on the weight of accepted, unfinished commands. */
    private static final long QUEUED_BYTES_LIMIT = 256L << 20;

    /** Limit on the remembered closed lanes of a client. */
    static final int CLOSED_LANES = 1 << 12;

    /** The time without a submission of any peer before a node is quiet: time to begin to read results. */
    private static final long READING_NANOS = 250_000_000;

    private final RemoteSession session;
    private final RemoteNode node;
    private final ServerObjects objects;
    private final ServerConstants constants;

    // Guarded by this.
    // by axis; open lanes, and closed lanes with unfinished commands
    private final Map<Long, ServerLane> lanes = new HashMap<>();
    private final Map<Long, ServerLane> over = new LinkedHashMap<>(); // closed lanes, for later questions; oldest first
    private long lastForgotten = -1; // highest ordinal of the forgotten lanes' axes
    private final Map<Long, List<Subscriptions.LaneWaiter>> expected = new HashMap<>(); // by axis
    private int expectedCount;
    private final Map<List<Long>, List<TimelineSemaphore>> asked = new HashMap<>(); // by axis and epoch
    private int inProgress; // number of commands, and of ranges copied by the peer
    private int fetches; // number of ranges copied by the peer
    private int admitted; // commands in progress for the client too: the client was not notified of the end
    private long accepted; // commands so far, except commands without reads arriving while this node drains
    private long queuedBytes; // weight of the admitted commands
    private @Nullable IreeException failure;

    RemoteServer(RemoteSession session) {
        this.session = session;
        this.node = session.node();
        this.objects = new ServerObjects(session, this::laneCount);
        this.constants = new ServerConstants(session, objects);
    }

    RemoteSession session() {
        return session;
    }

    ServerObjects objects() {
        return objects;
    }

    ServerConstants constants() {
        return constants;
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
                throw IreeException.of(
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

    /**
     * Records the end of the last command of a closed lane. The lane stays a while, for commands of other nodes waiting
     * for the lane's points.
     */
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

    /** Returns whether a lane was forgotten: clients open lanes in the order of axes. Under the lock. */
    private boolean isForgotten(long axis) {
        return Axis.ordinal(axis) <= lastForgotten;
    }

    /** Returns the timeline of an open lane, or of a closed lane that is remembered. */
    TimelineSemaphore lane(long axis) {
        synchronized (this) {
            ServerLane lane = lanes.getOrDefault(axis, over.get(axis));
            if (lane != null) {
                return lane.timeline();
            }
        }
        throw IreeException.of(
                StatusCode.NOT_FOUND, "%s has no lane '%s' here".formatted(session, Axis.toString(axis)));
    }

    /** Passes on the timeline of a lane of this client: now, or once the lane is open. */
    void whenLane(long axis, Subscriptions.LaneWaiter waiter) {
        ServerLane lane;
        IreeException cause;
        synchronized (this) {
            lane = lanes.getOrDefault(axis, over.get(axis));
            cause = failure;
            if (lane == null && cause == null && isForgotten(axis)) {
                cause = IreeException.of(
                        StatusCode.NOT_FOUND,
                        "lane '%s' of %s was closed, and %d others since"
                                .formatted(Axis.toString(axis), session, CLOSED_LANES));
            }
            if (lane == null && cause == null) {
                if (expectedCount >= node.options().objectLimit()) {
                    cause = IreeException.of(
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
                session.goAway(leaving); // REMOTE-9
                command.refuse(leaving);
            }
        } catch (RuntimeException | Error e) {
            command.abandon(IreeException.of(StatusCode.DATA_LOSS, "invalid command", e));
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
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s: %s has %d commands in progress, more than the %d per lane that were granted"
                                .formatted(
                                        in.type,
                                        session,
                                        admitted,
                                        node.options().commandWindow()));
            }
            if (queuedBytes + command.weight() > QUEUED_BYTES_LIMIT) {
                throw IreeException.of(
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

    /** Records that the client is about to learn of a command's end, and may then send another command. */
    synchronized void ending(ServerCommand command) {
        admitted--;
        queuedBytes -= command.weight();
    }

    /** Counts a range being copied by the peer among the commands in progress, until {@link #endFetch}. */
    synchronized void beginFetch(FrameReader in) {
        if (fetches == node.options().objectLimit()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s: %s copies %d ranges at once, the limit".formatted(in.type, session, fetches));
        }
        fetches++;
        inProgress++;
        accepted++;
        notifyAll();
    }

    /** Ends {@link #beginFetch}. */
    synchronized void endFetch() {
        fetches--;
        leave();
    }

    /** Records that a command has ended, and all waiters were notified. */
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
     * Waits until no peer has a command in progress, every peer has read of the end, and no peer has submitted more for
     * a while.
     *
     * @param deadline by {@link System#nanoTime}
     * @return false when the deadline passes before
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

    /** Waits until a command arrives; returns false when none arrives by the deadline. */
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

    /** Waits until no command is in progress; returns false when the deadline passes before. */
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

    /** Waits for a point of a lane, served here or by another node, without the lane's client. */
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
            // also when a session may begin later: the network between the nodes may be cut for long
        } catch (IreeException e) {
            ask(wait, axis, epoch);
        }
    }

    /**
     * Asks the client about a lane of a node unreachable from this node. Ending the command instead would be wrong:
     * later commands rely on the point as well.
     */
    private void ask(TimelineSemaphore wait, long axis, long epoch) {
        IreeException cause;
        boolean first = false;
        synchronized (this) {
            cause = failure;
            if (cause == null) {
                List<TimelineSemaphore> all = asked.computeIfAbsent(List.of(axis, epoch), _ -> new ArrayList<>());
                first = all.isEmpty();
                all.add(wait);
            }
        }
        if (cause != null) {
            wait.fail(cause);
        } else if (first) { // otherwise the answer to come is for all
            session.post(new FrameWriter(FrameType.ASK).u64(axis).u64(epoch));
        }
    }

    /** Handles the client's answer: the point is reached, or never will be, and everything before the point has ended. */
    void tell(FrameReader in) {
        long axis = in.u64("axis");
        long epoch = in.size("epoch");
        IreeException cause = in.status(session + ": ");
        in.end();
        List<TimelineSemaphore> due;
        synchronized (this) {
            due = asked.remove(List.of(axis, epoch));
        }
        if (due != null) { // otherwise answered before
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
            // Failed meanwhile, with the client's session.
        }
    }

    /** Handles the failure of the session. */
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
        session.notifyEach(waiting, each -> each.refused(cause));
        session.notifyEach(allLanes, each -> each.fail(cause));
        objects.failAll(cause);
    }
}
