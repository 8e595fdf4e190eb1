package io.github.iree4j.cluster.membership;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that are alive as far as one node knows.
 *
 * @param number increases from view to view of one node; the same for all members of the view
 * @param members the members, the observer included, in the order that all of the view's members agree on
 * @param merge whether groups that did not see each other became one with this view. Which ones they were does not say who has failed whom:
 *     a node may be in the views of two groups, each of which has excluded the other
 */
public record ClusterView(long number, List<ClusterMember> members, boolean merge) {

    /** Copies the list. */
    public ClusterView {
        members = List.copyOf(members);
    }

    /**
     * Returns a member.
     *
     * @param incarnation its incarnation
     * @return the member; null when it is not in this view
     */
    public @Nullable ClusterMember find(long incarnation) {
        for (ClusterMember each : members) {
            if (each.identity().incarnation() == incarnation) {
                return each;
            }
        }
        return null;
    }
}
