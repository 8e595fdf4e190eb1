package io.github.iree4j.hal.remote;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The subscriptions of a peer to semaphores of this node. Safe from any thread. */
final class Subscriptions {
    private final RemoteSession session;
    private final int limit;
    private final Map<Long, Subscription> byNumber = new ConcurrentHashMap<>();
    // subscriptions waiting for room on the stream
    private final Set<Subscription> stalled = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    Subscriptions(RemoteSession session, int limit) {
        this.session = session;
        this.limit = limit;
    }

    void subscribe(FrameReader in) {
        long number = in.u64("subscription");
        long id = in.u64("semaphore");
        long from = in.size("from");
        int flags = in.u8("flags");
        in.end();
        if (flags > 1) {
            throw in.corrupt("unknown flags " + flags);
        }
        if (byNumber.containsKey(number)) {
            throw in.corrupt("subscription %d exists already".formatted(number));
        }
        if (byNumber.size() >= limit) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "SUBSCRIBE: %s has %d subscriptions, the limit".formatted(session, limit));
        }
        TimelineSemaphore semaphore = session.node().exports().find(id);
        if (semaphore == null && Axis.isValid(id)) {
            session.node().whenLane(id, new LaneWaiter() {
                @Override
                public void opened(TimelineSemaphore lane) {
                    start(number, lane, from, (flags & 1) != 0);
                }

                @Override
                public void refused(IreeException cause) {
                    fail(number, cause);
                }
            });
        } else if (semaphore == null) {
            fail(
                    number,
                    IreeException.of(StatusCode.NOT_FOUND, "%s exports no semaphore %d".formatted(session.node(), id)));
        } else {
            start(number, semaphore, from, (flags & 1) != 0);
        }
    }

    private void start(long number, TimelineSemaphore semaphore, long from, boolean once) {
        Subscription subscription = new Subscription(this, number, semaphore, from, once);
        byNumber.put(number, subscription);
        if (closed) {
            end(number);
            return;
        }
        IreeException failure = semaphore.failure();
        if (failure == null) {
            subscription.send();
        } else {
            subscription.reached(0, failure);
        }
    }

    private void fail(long number, IreeException cause) {
        post(new FrameWriter(FrameType.FAIL).u64(number).status(cause));
    }

    void unsubscribe(FrameReader in) {
        long number = in.u64("subscription");
        in.end();
        end(number); // the subscription may have ended meanwhile
    }

    private void end(long number) {
        Subscription subscription = byNumber.remove(number);
        if (subscription != null) {
            subscription.end();
            stalled.remove(subscription);
        }
    }

    void ended(long number) {
        byNumber.remove(number);
    }

    boolean hasRoom() {
        return session.outbox(PeerStream.QUEUE).hasRoom();
    }

    void stalled(Subscription subscription) {
        stalled.add(subscription);
    }

    /** Continues subscriptions when the stream has room again. */
    void resume() {
        List<Subscription> all = new ArrayList<>(stalled);
        boolean held = HeldCallbacks.begin();
        try {
            for (Subscription each : all) {
                stalled.remove(each);
                each.send();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    void post(FrameWriter frame) {
        session.post(frame);
    }

    int count() {
        return byNumber.size();
    }

    void close() {
        closed = true;
        byNumber.keySet().forEach(this::end);
    }

    /** A waiter for a lane announced by a client to others, and not opened here yet. */
    interface LaneWaiter {
        /** Called when the lane is open. */
        void opened(TimelineSemaphore lane);

        /** Called when the lane will never be open. */
        void refused(IreeException cause);
    }
}
