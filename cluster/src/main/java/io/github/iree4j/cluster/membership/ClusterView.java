package io.github.iree4j.cluster.membership;

import io.github.iree4j.api.NotForApplications;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The live nodes as far as a node knows. Views of other nodes may differ.
 *
 * @param members the members, including the observer; the oldest incarnation first
 * @param standings the standing of each member, by the member's incarnation, as last reported by the member
 * @param joined when each member joined, by the member's incarnation, by the clock of the observer in nanoseconds; late by
 *     the time that the member's fastest sign of life took
 */
@NotForApplications
public record ClusterView(List<ClusterMember> members, Map<Long, Standing> standings, Map<Long, Long> joined) {

    /** The view of a node that has not joined. */
    public static final ClusterView EMPTY = new ClusterView(List.of(), Map.of(), Map.of());

    /** Copies and sorts. */
    public ClusterView {
        members = members.stream()
                .sorted(Comparator.comparing(
                        (ClusterMember each) -> each.identity().incarnation()))
                .toList();
        standings = Map.copyOf(standings);
        joined = Map.copyOf(joined);
    }

    /**
     * Returns a member.
     *
     * @param incarnation the member's incarnation
     * @return the member; null when not in this view
     */
    public @Nullable ClusterMember find(long incarnation) {
        int low = 0;
        int high = members.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            ClusterMember member = members.get(middle);
            int order = Long.compare(member.identity().incarnation(), incarnation);
            if (order == 0) {
                return member;
            }
            low = order < 0 ? middle + 1 : low;
            high = order < 0 ? high : middle - 1;
        }
        return null;
    }

    /**
     * Returns the standing of a member.
     *
     * @param incarnation the member's incarnation
     * @return the standing
     */
    public Standing standing(long incarnation) {
        return standings.getOrDefault(incarnation, Standing.PEACE);
    }

    /**
     * Returns how long one member joined after another.
     *
     * @param later the incarnation of the one
     * @param earlier the incarnation of the other
     * @return nanoseconds, negative when {@code later} joined first; 0 when unknown
     */
    public long joinedAfter(long later, long earlier) {
        Long one = joined.get(later);
        Long other = joined.get(earlier);
        return one == null || other == null ? 0 : one - other;
    }

    /**
     * Returns the member at an address. Addresses of living processes differ.
     *
     * @param host the member's host
     * @param port the member's port
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
