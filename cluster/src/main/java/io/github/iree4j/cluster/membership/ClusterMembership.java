package io.github.iree4j.cluster.membership;

import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Tells a node which other nodes are alive. Implementations detect crashes and silence; they carry no data.
 *
 * <p>A member that left a view MAY be in a later one, after the network has healed. Its peers have failed it by then, see {@link
 * ClusterView#yields}. Safe from any thread.
 */
public interface ClusterMembership {

    /**
     * Joins, as the first member if there is no other. May block for some seconds. May be called again after {@link #leave()}, with another
     * identity.
     *
     * @param self this node
     * @param views called with each view, the first of which contains this node: for one view at a time, in order. MUST be quick and MUST
     *     NOT block
     * @throws IreeException UNAVAILABLE when it cannot join; FAILED_PRECONDITION when it has joined
     */
    void join(ClusterMember self, Consumer<ClusterView> views);

    /** Leaves, so that the other nodes see it go at once. Does nothing when this has not joined. No view is reported after it returns. */
    void leave();

    /**
     * Returns where this looks for nodes and reaches none. MUST NOT block on the network.
     *
     * @return the addresses with the causes; empty when all were reached, or the implementation does not know
     */
    default List<Unreached> unreached() {
        return List.of();
    }
}
