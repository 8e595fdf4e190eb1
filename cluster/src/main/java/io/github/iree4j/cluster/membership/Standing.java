package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import java.util.Set;

/**
 * A node among nodes having failed each other, as the node sees itself. Of two such nodes, the node of more weight stays; of
 * equal weight, the older.
 *
 * @param failed the incarnations of members of the node's view failed by the node; at most 1024
 * @param weight the number of nodes in the largest part of the node's view without mutual failures, if the node is in this
 *     part; 0 for a node in no such part, and for a node without mutual failures; at most 1024
 * @param unbeaten whether no member of the node's view in a mutual failure with the node is to stay instead
 */
@NotForApplications
public record Standing(Set<Long> failed, int weight, boolean unbeaten) {

    /** The standing of a node without mutual failures. */
    public static final Standing PEACE = new Standing(Set.of(), 0, true);

    /** Copies the set. */
    public Standing {
        failed = Set.copyOf(failed);
    }
}
