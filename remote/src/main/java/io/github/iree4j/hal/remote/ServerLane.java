package io.github.iree4j.hal.remote;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.stream.RunRequests;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A lane of a client on a queue of this node: runs the commands one after the other, and reports each end to the
 * client. Other nodes can wait for the timeline of the lane.
 */
final class ServerLane {
    /*
     * REMOTE-5: every accepted command ends once: the head is ended by the thread removing the head from `commands`,
     * and the next command is started only then. After the session has failed, commands end without a report.
     */
    private final RemoteServer server;
    private final long axis;
    private final DeviceQueue queue;
    private final TimelineSemaphore timeline =
            TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.SYSTEM_WIDE));
    private final RunRequests advances = new RunRequests();
    private final ArrayDeque<ServerCommand> commands = new ArrayDeque<>(); // guarded by this, like the rest
    private long lastSequence;
    private long lastEpoch;
    private boolean busy; // whether the head was started
    private boolean closing; // whether the client sends no more commands
    private @Nullable IreeException ended;

    ServerLane(RemoteServer server, long axis, DeviceQueue queue) {
        this.server = server;
        this.axis = axis;
        this.queue = queue;
        timeline.keepHistory();
    }

    long axis() {
        return axis;
    }

    DeviceQueue queue() {
        return queue;
    }

    /** The client of the lane; never null once a session is open. */
    @Nullable
    NodeIdentity client() {
        return server.session().peer();
    }

    RemoteTracer tracer() {
        return server.session().node().tracer();
    }

    TimelineSemaphore timeline() {
        return timeline;
    }

    /**
     * Checks the place of a command in the lane.
     *
     * @return false for a command accepted before
     * @throws IreeException DATA_LOSS for a gap, and for an epoch that does not rise
     */
    synchronized boolean isNext(FrameReader in, long sequence, long epoch) {
        if (sequence <= lastSequence) {
            return false;
        }
        if (closing) {
            throw in.corrupt("command %d of lane %d, which is closed".formatted(sequence, axis));
        }
        if (sequence != lastSequence + 1) {
            throw in.corrupt("command %d of lane %d follows command %d".formatted(sequence, axis, lastSequence));
        }
        if (epoch <= lastEpoch || epoch > TimelineSemaphore.MAXIMUM_VALUE) {
            throw in.corrupt("epoch %d of lane %d does not rise above %d".formatted(epoch, axis, lastEpoch));
        }
        return true;
    }

    void accept(ServerCommand command) {
        IreeException cause;
        synchronized (this) {
            cause = ended;
            if (cause == null) {
                lastSequence = command.sequence();
                lastEpoch = command.epoch();
                commands.add(command);
            }
        }
        if (cause != null) {
            command.abandon(cause);
            return;
        }
        server.session().post(new FrameWriter(FrameType.ACCEPTED).u64(axis).u64(command.sequence()));
        advance();
    }

    /** Starts the head, unless started before. A single thread at a time, so commands ending at once do not nest. */
    void advance() {
        if (!advances.ask()) {
            return;
        }
        do {
            boolean more = true;
            while (more) {
                more = startNext();
            }
        } while (advances.again());
    }

    private boolean startNext() {
        ServerCommand head;
        synchronized (this) {
            head = commands.peek();
            if (head == null || busy || ended != null) {
                return false;
            }
            if (!head.isReadyOrThen(this::advance)) {
                return false;
            }
            busy = true;
        }
        head.start(queue, this);
        return true;
    }

    /** Handles the end of the head. */
    void ended(ServerCommand command, @Nullable IreeException failure, Frontier frontier) {
        synchronized (this) {
            if (ended != null || commands.peek() != command) {
                return; // abandoned
            }
        }
        server.ending(command); // before the client may send another command instead
        server.session() // while the command is the head: the next may end on another thread
                .post(new FrameWriter(FrameType.COMPLETED)
                        .u64(axis)
                        .u64(command.sequence())
                        .u64(command.epoch())
                        .status(failure)
                        .frontier(frontier));
        try {
            timeline.signal(command.epoch(), frontier);
        } catch (IreeException e) {
            if (timeline.failure() == null) { // otherwise the session has failed
                throw e;
            }
        }
        synchronized (this) {
            if (ended != null) {
                return;
            }
            commands.remove(); // REMOTE-5
            busy = false;
        }
        server.leave();
        advance();
        if (isOver()) {
            server.retire(this);
        }
    }

    /** Closes the lane: the client sends no more commands. */
    void close(FrameReader in) {
        synchronized (this) {
            if (closing) {
                throw in.corrupt("lane %d is closed".formatted(axis));
            }
            closing = true;
        }
        if (isOver()) {
            server.retire(this);
        }
    }

    synchronized ServedLaneStatistics statistics() {
        return new ServedLaneStatistics(axis, queue.device().id(), queue.index(), timeline.value(), commands.size());
    }

    /** Whether the lane is closed, and every command has ended. */
    private synchronized boolean isOver() {
        return closing && commands.isEmpty() && ended == null;
    }

    /** Closes the timeline: no command can begin to wait for the lane any more. */
    void forget() {
        timeline.close();
    }

    /** Fails the lane after the failure of the session. */
    void fail(IreeException cause) {
        List<ServerCommand> all;
        synchronized (this) {
            ended = cause;
            all = List.copyOf(commands);
            commands.clear();
        }
        server.session().notifyEach(all, each -> {
            try {
                each.abandon(cause);
            } finally {
                server.leave();
            }
        });
        timeline.fail(cause);
        timeline.close();
    }
}
