package io.github.iree4j.cluster.identity;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;

/** A slot held by a node for a limited time. Calls may block; safe from any thread. */
public interface IdentityLease {

    /**
     * Returns the holder's identity.
     *
     * @return the identity, always the same
     */
    NodeIdentity identity();

    /**
     * Extends the lease to its full duration from now.
     *
     * @throws IreeException ABORTED when the lease has ended: the holder must stop using the slot; UNAVAILABLE when the
     *     store cannot be reached; then the call may be repeated
     */
    void renew();

    /** Ends the lease, so that another node may use the machine index. Does nothing for an ended lease, or when the store is gone. */
    void release();
}
