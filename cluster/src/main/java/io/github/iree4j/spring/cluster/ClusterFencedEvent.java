package io.github.iree4j.spring.cluster;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import org.springframework.context.ApplicationEvent;

/** This node can take no part in the cluster any more unless it gets a new identity. */
public final class ClusterFencedEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    private final transient NodeIdentity identity;
    private final IreeException cause;

    /**
     * Creates the event.
     *
     * @param source who publishes it
     * @param identity what must not be used any more
     * @param cause why
     */
    public ClusterFencedEvent(Object source, NodeIdentity identity, IreeException cause) {
        super(source);
        this.identity = identity;
        this.cause = cause;
    }

    /**
     * Returns what must not be used any more.
     *
     * @return the identity
     */
    public NodeIdentity identity() {
        return identity;
    }

    /**
     * Returns why.
     *
     * @return the cause
     */
    public IreeException cause() {
        return cause;
    }
}
