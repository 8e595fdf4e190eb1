package io.github.iree4j.cluster;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** The accepted connections without frames from members. Connections silent for too long, or too many, end. Thread-safe. */
final class SilentLinks {
    // a peer needs a single silent connection; more come from malicious peers
    private static final int MOST = 64;

    private final NodeIdentity identity;
    private final long limitNanos;
    private final LongSupplier nanoTime;
    private final Map<PeerLink, Long> silent = new HashMap<>(); // with the time of acceptance; guarded by this

    /**
     * Creates an empty set.
     *
     * @param identity this node
     * @param limitNanos how long a connection may be silent
     * @param nanoTime the clock
     */
    SilentLinks(NodeIdentity identity, long limitNanos, LongSupplier nanoTime) {
        this.identity = identity;
        this.limitNanos = limitNanos;
        this.nanoTime = nanoTime;
    }

    /** Adds a connection opened by a peer, and ends the connection when too many connections are silent. */
    PeerLink admitted(PeerLink link) {
        int count;
        synchronized (this) {
            silent.keySet().removeIf(each -> !each.isSilent());
            silent.put(link, nanoTime.getAsLong());
            count = silent.size();
        }
        if (count > MOST) {
            link.drop(IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "%s has %d connections on which nothing is said, the limit is %d"
                            .formatted(identity, count, MOST)));
        }
        return link;
    }

    synchronized void remove(PeerLink link) {
        silent.remove(link);
    }

    synchronized List<PeerLink> links() {
        return List.copyOf(silent.keySet());
    }

    /** Ends the connections silent for too long. */
    void endLate() {
        List<PeerLink> late = new ArrayList<>();
        synchronized (this) {
            long now = nanoTime.getAsLong();
            silent.keySet().removeIf(link -> !link.isSilent());
            silent.forEach((link, since) -> {
                if (now - since >= limitNanos) {
                    late.add(link);
                }
            });
        }
        for (PeerLink each : late) {
            String why = each.isHeld()
                    ? "%s connected to %s, and was no member within %d ms"
                    : "%s connected to %s and said nothing within %d ms";
            each.drop(IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED, why.formatted(each.peer, identity, limitNanos / 1_000_000)));
        }
    }
}
