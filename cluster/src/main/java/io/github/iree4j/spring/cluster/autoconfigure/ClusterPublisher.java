package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.ClusterListener;
import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.cluster.ClusterFencedEvent;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.Executor;
import org.springframework.context.ApplicationEventPublisher;

/** Keeps the cluster's events among the recent events, and publishes the fencing of this node. */
final class ClusterPublisher implements ClusterListener {

    private final NodeIdentity identity;
    private final IreeEvents events;
    private final ApplicationEventPublisher publisher;
    private final Executor executor;

    /**
     * Creates a publisher.
     *
     * @param executor calls the listeners; listeners may block
     */
    ClusterPublisher(NodeIdentity identity, IreeEvents events, ApplicationEventPublisher publisher, Executor executor) {
        this.identity = identity;
        this.events = events;
        this.publisher = publisher;
        this.executor = executor;
    }

    @Override
    public void viewChanged(ClusterView view) {
        events.add("cluster.view", identity.toString(), view.members().toString());
    }

    @Override
    public void connected(ClusterMember peer) {
        events.add("cluster.connected", peer.toString(), "session is open");
    }

    @Override
    public void draining(long incarnation, IreeException reason) {
        events.add("cluster.draining", "node " + incarnation, String.valueOf(reason.getMessage()));
    }

    @Override
    public void failed(long incarnation, IreeException cause) {
        events.add("cluster.failed", "node " + incarnation, cause.toString());
    }

    @Override
    public void fenced(IreeException cause) {
        events.add("cluster.fenced", identity.toString(), cause.toString());
        executor.execute(() -> publisher.publishEvent(new ClusterFencedEvent(this, identity, cause)));
    }
}
