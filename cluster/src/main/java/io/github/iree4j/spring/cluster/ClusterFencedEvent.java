package io.github.iree4j.spring.cluster;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import org.springframework.context.ApplicationEvent;

/** This node can take no part in the cluster any more without a new identity. */
public final class ClusterFencedEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    private final transient NodeIdentity identity;
    private final IreeException cause;

    /**
     * Creates the event.
     *
     * @param source the publisher
     * @param identity the identity not to be used any more
     * @param cause the cause
     */
    public ClusterFencedEvent(Object source, NodeIdentity identity, IreeException cause) {
        super(source);
        this.identity = identity;
        this.cause = cause;
    }

    /**
     * Returns the identity not to be used any more.
     *
     * @return the identity
     */
    public NodeIdentity identity() {
        return identity;
    }

    /**
     * Returns the cause of the fencing.
     *
     * @return the cause
     */
    public IreeException cause() {
        return cause;
    }
}
