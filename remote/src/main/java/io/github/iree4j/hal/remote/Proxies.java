package io.github.iree4j.hal.remote;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Semaphores of a peer, as known to this node: a proxy reaches a value when the peer's ADVANCE has arrived, with the
 * frontier of the value. The proxy fails with the session. Safe from any thread; frames arrive in sequence.
 */
final class Proxies {
    private static final SemaphoreOptions OPTIONS = SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.SYSTEM_WIDE);

    /** A proxy referenced by this class until the subscription ends. */
    private record Proxy(TimelineSemaphore semaphore, boolean once) {}

    private final RemoteSession session;
    private final Map<Long, Proxy> byNumber = new HashMap<>(); // guarded by this, like the rest
    private long last;
    private boolean closed;

    Proxies(RemoteSession session) {
        this.session = session;
    }

    /**
     * Subscribes to a semaphore of the peer.
     *
     * @param id the number of the semaphore, or the axis of a lane
     * @param from the first value of interest
     * @param once whether the subscription ends with the first answer
     * @return the proxy, at 0 until the first answer; the caller closes it
     * @throws IreeException the failure of the session; RESOURCE_EXHAUSTED at the peer's limit
     */
    TimelineSemaphore subscribe(long id, long from, boolean once) {
        TimelineSemaphore semaphore = TimelineSemaphore.create(OPTIONS);
        semaphore.keepHistory();
        semaphore.setName(session);
        long number;
        synchronized (this) {
            IreeException failure = session.failure();
            if (failure != null || closed) {
                semaphore.close();
                throw failure != null ? failure : IreeException.of(StatusCode.ABORTED, session + " has ended");
            }
            if (byNumber.size() >= session.peerLimits().objectLimit()) {
                semaphore.close();
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%d subscriptions at %s, the limit".formatted(byNumber.size(), session));
            }
            semaphore.retain();
            number = ++last;
            byNumber.put(number, new Proxy(semaphore, once));
        }
        session.post(new FrameWriter(FrameType.SUBSCRIBE)
                .u64(number)
                .u64(id)
                .u64(from)
                .u8(once ? 1 : 0));
        return semaphore;
    }

    /** Ends the subscription of a proxy. The proxy then reaches no further value. */
    void unsubscribe(TimelineSemaphore semaphore) {
        Proxy gone = null;
        long number = 0;
        synchronized (this) {
            for (Map.Entry<Long, Proxy> each : byNumber.entrySet()) {
                if (each.getValue().semaphore.equals(semaphore)) {
                    number = each.getKey();
                    gone = each.getValue();
                }
            }
            byNumber.remove(number);
        }
        if (gone != null) {
            session.post(new FrameWriter(FrameType.UNSUBSCRIBE).u64(number));
            gone.semaphore.release();
        }
    }

    void advance(FrameReader in) {
        long number = in.u64("subscription");
        long value = in.size("value");
        Frontier frontier = in.frontier();
        in.end();
        Proxy proxy;
        synchronized (this) {
            proxy = find(in, number);
            if (proxy == null) {
                return; // unsubscribed meanwhile
            }
            if (value > TimelineSemaphore.MAXIMUM_VALUE || value <= proxy.semaphore.value()) {
                throw in.corrupt("value %d of subscription %d is not above %d"
                        .formatted(value, number, proxy.semaphore.value()));
            }
            if (proxy.once) {
                byNumber.remove(number);
            }
        }
        Frontier known = session.peerAxes().believed(frontier);
        boolean held = HeldCallbacks.begin();
        try {
            proxy.semaphore.signal(value, known);
            if (proxy.once) {
                proxy.semaphore.release();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    void fail(FrameReader in) {
        long number = in.u64("subscription");
        IreeException failure = in.status(session + ": ");
        in.end();
        if (failure == null) {
            throw in.corrupt("subscription %d fails with status OK".formatted(number));
        }
        Proxy proxy;
        synchronized (this) {
            proxy = find(in, number);
            byNumber.remove(number);
        }
        if (proxy != null) {
            proxy.semaphore.fail(failure);
            proxy.semaphore.release();
        }
    }

    private @Nullable Proxy find(FrameReader in, long number) {
        if (number <= 0 || number > last) {
            throw in.corrupt("subscription %d is not one of the %d that were made".formatted(number, last));
        }
        return byNumber.get(number);
    }

    synchronized int count() {
        return byNumber.size();
    }

    /** Fails all proxies after the failure of the session. */
    void failAll(IreeException cause) {
        List<Proxy> all;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(byNumber.values());
            byNumber.clear();
        }
        for (Proxy each : all) {
            each.semaphore.fail(cause);
            each.semaphore.release();
        }
    }
}
