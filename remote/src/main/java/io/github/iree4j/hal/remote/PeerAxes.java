package io.github.iree4j.hal.remote;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The axes of a peer known to this node, and the epochs reached according to the peer. Safe from any thread. */
final class PeerAxes {
    /*
     * REMOTE-2: no axis of a failed peer stays alive: axes are learned under the lock of `axes`, taken by fail() after
     * the session has set its failure.
     */
    private final RemoteSession session;
    private final FrontierTracker tracker;
    private final Set<Long> axes = new LinkedHashSet<>(); // registered with the tracker; guarded by the set

    PeerAxes(RemoteSession session, FrontierTracker tracker) {
        this.session = session;
        this.tracker = tracker;
    }

    /** Returns the axes, in the order of becoming known. */
    List<Long> all() {
        synchronized (axes) {
            return List.copyOf(axes);
        }
    }

    /** Fails the axes, once the session has failed. */
    void fail(IreeException cause) {
        all().forEach(axis -> tracker.fail(axis, cause)); // REMOTE-2
    }

    /** Records the axes announced in the handshake. */
    void learn(Hello hello) {
        for (Hello.AxisEpoch each : hello.axes()) {
            learn(each.axis(), each.epoch());
        }
    }

    /**
     * Records the epoch reached by an axis of the peer.
     *
     * @throws IreeException the session's failure; RESOURCE_EXHAUSTED for too many axes
     */
    private void learn(long axis, long epoch) {
        synchronized (axes) {
            IreeException cause = session.failure();
            if (cause != null) {
                throw cause; // REMOTE-2
            }
            if (!axes.contains(axis)) {
                if (axes.size() >= Hello.AXES_LIMIT) {
                    throw IreeException.of(
                            StatusCode.RESOURCE_EXHAUSTED,
                            "%s has %d axes, the limit".formatted(session, Hello.AXES_LIMIT));
                }
                tracker.register(axis);
                axes.add(axis);
            }
        }
        tracker.advance(axis, epoch);
    }

    /**
     * Records the epochs implied by the frontier of an operation that has ended at the peer: the peer's own entries
     * have completed. Entries of third nodes unknown to this node are dropped. Such entries could never complete here,
     * and an ended operation needs none of them.
     *
     * @return the frontier with the entries known here
     */
    Frontier believed(Frontier frontier) {
        NodeIdentity from = Objects.requireNonNull(session.peer());
        boolean whole = true;
        for (int i = 0; i < frontier.size(); i++) {
            if (from.owns(frontier.axis(i))) {
                learn(frontier.axis(i), frontier.epoch(i));
            } else {
                whole &= isKnown(frontier.axis(i));
            }
        }
        return whole ? frontier : known(frontier, from);
    }

    private boolean isKnown(long axis) {
        return tracker.isRegistered(axis);
    }

    private Frontier known(Frontier frontier, NodeIdentity from) {
        MutableFrontier kept = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
        for (int i = 0; i < frontier.size(); i++) {
            long axis = frontier.axis(i);
            if ((from.owns(axis) || isKnown(axis)) && !(frontier.hasProducer() && axis == frontier.producerAxis())) {
                kept.insertOrRaise(axis, frontier.epoch(i), _ -> 0);
            }
        }
        if (frontier.isTainted()) {
            kept.taint();
        }
        return frontier.hasProducer() && (from.owns(frontier.producerAxis()) || isKnown(frontier.producerAxis()))
                ? kept.produce(frontier.producerAxis(), frontier.producerEpoch(), _ -> 0)
                : kept.snapshot();
    }
}
