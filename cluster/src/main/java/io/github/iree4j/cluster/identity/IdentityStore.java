package io.github.iree4j.cluster.identity;

import io.github.iree4j.status.IreeException;
import java.time.Duration;

/**
 * Grants the slots of a cluster. Grants survive crashes of the node and of the store, since a slot granted twice gives
 * two timelines the same name.
 *
 * <p>Implementations MUST NOT grant a (machine, session) pair or an incarnation a second time, not even after the lease
 * has ended, and MUST refuse with RESOURCE_EXHAUSTED when no session is left: sessions do not wrap. Implementations MAY
 * block, and are safe from any thread.
 */
public interface IdentityStore extends AutoCloseable {

    /**
     * Leases a slot never leased before, of a machine index held by no other lease.
     *
     * @param duration how long the lease lasts unless renewed; positive
     * @return the lease; the caller releases it
     * @throws IreeException RESOURCE_EXHAUSTED when all machine indices are in use or all sessions used up;
     *     ALREADY_EXISTS when the configured machine index is in use; UNAVAILABLE when the store cannot be reached;
     *     DATA_LOSS when the store's content is damaged
     */
    IdentityLease acquire(Duration duration);

    /** Releases the store's resources. Leases remain valid until their end. */
    @Override
    default void close() {}
}
