package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Questions of a peer about points of this node's lanes at nodes out of the peer's reach. The peer needs one answer for
 * each point awaited by a command in progress, so as many questions as such points may be open, and a repeated question
 * shares the answer. Questions arrive in sequence. Safe from any thread.
 */
final class Questions {
    private static final Runnable NOTHING = () -> {};

    private final RemoteSession session;
    private final AtomicLong awaited = new AtomicLong(); // points awaited by commands in progress at the peer
    private final Map<Point, Runnable> open = new ConcurrentHashMap<>(); // with the end of the wait
    private volatile boolean closed;

    private record Point(long axis, long epoch) {}

    Questions(RemoteSession session) {
        this.session = session;
    }

    /** Adds points awaited by a command about to be sent; negative once the command has ended. */
    void await(int points) {
        awaited.addAndGet(points);
    }

    /**
     * Answers a question: now, or once the point is reached or has ended.
     *
     * @throws IreeException RESOURCE_EXHAUSTED for more open questions than awaited points
     */
    void ask(FrameReader in) {
        long axis = in.u64("axis");
        long epoch = in.size("epoch");
        in.end();
        RemoteNode node = session.node();
        if (!node.identity().owns(axis)) {
            answer(
                    axis,
                    epoch,
                    IreeException.of(StatusCode.NOT_FOUND, "%s has no lane '%s'".formatted(node, Axis.toString(axis))));
            return;
        }
        Point point = new Point(axis, epoch);
        if (open.putIfAbsent(point, NOTHING) != null) {
            return; // the answer to come is for both
        }
        Runnable end = node.lanes().whenReached(axis, epoch, failure -> {
            open.remove(point); // first: the answer may end the command with the point
            answer(axis, epoch, failure);
        });
        if (!open.replace(point, NOTHING, end)) {
            end.run(); // answered, or closed
            return;
        }
        if (closed) {
            end(point);
        }
        long limit = awaited.get();
        if (open.size() > limit) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s: %s has %d open questions, the limit is the %d points awaited by commands in progress"
                            .formatted(in.type, session, open.size(), limit));
        }
    }

    private void answer(long axis, long epoch, @Nullable IreeException failure) {
        session.post(new FrameWriter(FrameType.TELL).u64(axis).u64(epoch).status(failure));
    }

    private void end(Point point) {
        Runnable end = open.remove(point);
        if (end != null) {
            end.run();
        }
    }

    /** Returns the number of open questions. */
    int count() {
        return open.size();
    }

    /** Forgets all questions after the failure of the session. */
    void close() {
        closed = true;
        open.keySet().forEach(this::end);
    }
}
