package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The live nodes as far as a node knows.
 *
 * @param number increases from view to view of a node; the same for all members of the view
 * @param members the members, including the observer, in an order agreed by all of the view's members
 * @param merge whether groups not seeing each other became a single group with this view. The former groups do not tell
 *     which nodes have failed each other: a node may be in the views of two groups excluding each other
 */
@NotForApplications
public record ClusterView(long number, List<ClusterMember> members, boolean merge) {

    /** Copies the list. */
    public ClusterView {
        members = List.copyOf(members);
    }

    /**
     * Returns a member.
     *
     * @param incarnation the member's incarnation
     * @return the member; null when not in this view
     */
    public @Nullable ClusterMember find(long incarnation) {
        for (ClusterMember each : members) {
            if (each.identity().incarnation() == incarnation) {
                return each;
            }
        }
        return null;
    }

    /**
     * Returns the member at an address. Addresses of living processes differ.
     *
     * @param host the member's host
     * @param port the member's port for data
     * @return the member; null when no member has the address
     */
    public @Nullable ClusterMember at(String host, int port) {
        for (ClusterMember each : members) {
            if (each.port() == port && each.host().equals(host)) {
                return each;
            }
        }
        return null;
    }
}
