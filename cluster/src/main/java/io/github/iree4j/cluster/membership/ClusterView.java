package io.github.iree4j.cluster.membership;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that are alive as far as one node knows.
 *
 * @param number increases from view to view of one node
 * @param members the members, the observer included, in the order that all of the view's members agree on
 * @param mergedFrom the groups that became one with this view, none of which knew the others; empty for a view that is no merge
 */
public record ClusterView(long number, List<ClusterMember> members, List<List<ClusterMember>> mergedFrom) {

    /** Copies the lists. */
    public ClusterView {
        members = List.copyOf(members);
        mergedFrom = mergedFrom.stream().map(List::copyOf).toList();
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

    /**
     * Returns whether, of two members that have failed each other, the first takes a new slot and the other stays. All members of a view
     * answer alike. After a merge the larger group stays, of equal ones the one with the lowest incarnation; within a group the lower
     * incarnation stays. Which one it is does not matter for correctness: neither comes back under its old name.
     *
     * @param incarnation a member
     * @param other another one
     * @return true if the first one yields
     */
    public boolean yields(long incarnation, long other) {
        List<ClusterMember> group = groupOf(incarnation);
        List<ClusterMember> others = groupOf(other);
        if (group.equals(others)) {
            return incarnation > other;
        }
        return group.size() == others.size() ? lowest(group) > lowest(others) : group.size() < others.size();
    }

    private List<ClusterMember> groupOf(long incarnation) {
        for (List<ClusterMember> group : mergedFrom) {
            if (group.stream().anyMatch(each -> each.identity().incarnation() == incarnation)) {
                return group;
            }
        }
        return List.of();
    }

    private static long lowest(List<ClusterMember> group) {
        return group.stream()
                .map(each -> each.identity().incarnation())
                .min(Comparator.naturalOrder())
                .orElse(Long.MAX_VALUE);
    }
}
