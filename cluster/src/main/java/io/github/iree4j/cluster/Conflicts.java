package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.FailureReport;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which members of a view have failed each other, and which of them stay. Not thread-safe.
 *
 * <p>Views cannot say it, so the members report it: all of them after a merge, and those that have failed a member that stays in the view. Who
 * has the same reports comes to the same decision: the largest number of members of which no two have failed each other stays. A decision is
 * made when all members of a merge have reported, or when it has been known for long enough that the failed one is not a process that has died.
 */
final class Conflicts {
    private static final int MOST = 1024; // reports that are kept

    private final NodeIdentity self;
    private final long graceNanos;
    private final Map<Long, FailureReport> reports = new HashMap<>(); // the last one, by reporter
    private final Map<Pair, Long> since =
            new HashMap<>(); // when this node learned that two members have failed each other
    private final Map<Long, Long> twins = new HashMap<>(); // since when a member of this machine index is seen
    private final Map<Long, IreeException> failed = new HashMap<>(); // members that this node has failed, and why
    private ClusterView view = new ClusterView(0, List.of(), false);
    private long seenNanos; // since when this view
    private boolean complete; // all members of the merge have reported
    private boolean asked; // a member reports again, so it misses something

    private record Pair(long low, long high) {
        static Pair of(long one, long other) {
            return new Pair(Math.min(one, other), Math.max(one, other));
        }
    }

    /**
     * Creates it without a view.
     *
     * @param self this node
     * @param graceNanos longer than it takes to notice that a process has died
     */
    Conflicts(NodeIdentity self, long graceNanos) {
        this.self = self;
        this.graceNanos = graceNanos;
    }

    /** The view has changed. Reports may have come before it. */
    void see(ClusterView next, long now) {
        view = next;
        seenNanos = now;
        complete = false;
        asked = false;
        failed.keySet().removeIf(each -> next.find(each) == null);
        twins.keySet().removeIf(each -> next.find(each) == null);
        since.keySet().removeIf(each -> next.find(each.low) == null || next.find(each.high) == null);
        reports.entrySet()
                .removeIf(each ->
                        next.find(each.getKey()) == null && each.getValue().view() <= next.number());
        reports.forEach((reporter, report) -> note(reporter, report.failed(), now));
    }

    /** This node has failed some nodes, or they have failed it. Those that are no members of the view do not matter. */
    void fail(Map<Long, IreeException> nodes, long now) {
        nodes.forEach((each, cause) -> {
            ClusterMember member = view.find(each);
            if (member != null && !isTwin(member)) { // of a former session of this machine the end is noticed late
                failed.put(each, cause);
            }
        });
        note(self.incarnation(), failed.keySet(), now);
    }

    private boolean isTwin(ClusterMember member) {
        return member.identity().machine() == self.machine()
                && member.identity().incarnation() != self.incarnation();
    }

    private void note(long reporter, Collection<Long> members, long now) {
        if (view.find(reporter) != null) {
            for (long each : members) {
                if (each != reporter && view.find(each) != null) {
                    since.putIfAbsent(Pair.of(reporter, each), now);
                }
            }
        }
    }

    /** A node has reported. */
    void add(long reporter, FailureReport report, long now) {
        FailureReport before = reports.get(reporter);
        if (before == null ? reports.size() >= MOST : before.view() > report.view()) {
            return;
        }
        reports.put(reporter, report);
        note(reporter, report.failed(), now);
        asked |= reporter != self.incarnation() && before != null && before.view() == report.view();
        if (view.merge() && !complete && view.members().stream().allMatch(this::hasReported)) {
            complete = true; // so all of them live
            since.replaceAll((_, _) -> now - graceNanos);
        }
    }

    private boolean hasReported(ClusterMember member) {
        FailureReport report = reports.get(member.identity().incarnation());
        return report != null && report.view() == view.number();
    }

    /**
     * Returns what this node should tell the members now. A process that has died is failed by all, and leaves the view soon; there is nothing
     * to say about it.
     */
    @Nullable
    FailureReport due(long now) {
        boolean merging = view.merge() && now - seenNanos < graceNanos && (!complete || asked);
        asked = false;
        return merging || failed.keySet().stream().anyMatch(each -> isKnownFor(each, graceNanos / 2, now))
                ? new FailureReport(view.number(), failed.keySet())
                : null;
    }

    /** Whether this node has known for so long that it and a member have failed each other. */
    private boolean isKnownFor(long other, long nanos, long now) {
        Long begin = since.get(Pair.of(self.incarnation(), other));
        return begin != null && now - begin >= nanos;
    }

    /** Why this node has to go; null while it has not. */
    @Nullable
    IreeException whyYield(long now) {
        Map<Long, Set<Long>> opponents = opponents();
        Set<Long> stay = stay(opponents);
        long own = self.incarnation();
        if (!stay.contains(own)) {
            for (long each : opponents.getOrDefault(own, Set.of())) {
                if (stay.contains(each) && isKnownFor(each, graceNanos, now)) {
                    IreeException cause = failed.get(each);
                    String text = "%s and %s have failed each other, and this one yields; it needs a new identity: %s"
                            .formatted(view.find(each), self, cause == null ? "it said so" : cause.getMessage());
                    return new IreeException(StatusCode.ABORTED, text, cause);
                }
            }
        }
        return whyTwin(now);
    }

    private @Nullable IreeException whyTwin(long now) {
        for (ClusterMember each : view.members()) { // the elder ones come first
            long other = each.identity().incarnation();
            if (other == self.incarnation()) {
                break;
            }
            if (isTwin(each) && now - twins.computeIfAbsent(other, _ -> now) >= graceNanos) {
                return new IreeException(
                        StatusCode.ALREADY_EXISTS,
                        "%s and %s have the same machine index; give each node one of its own"
                                .formatted(each, view.find(self.incarnation())));
            }
        }
        return null;
    }

    /** Whom each member has failed or is failed by, as reported. */
    private Map<Long, Set<Long>> opponents() {
        Map<Long, Set<Long>> opponents = new HashMap<>();
        for (ClusterMember each : view.members()) {
            opponents.put(each.identity().incarnation(), new TreeSet<>());
        }
        reports.forEach((reporter, report) -> {
            for (long each : report.failed()) {
                if (each != reporter && opponents.containsKey(reporter) && opponents.containsKey(each)) {
                    opponents.get(reporter).add(each);
                    opponents.get(each).add(reporter);
                }
            }
        });
        return opponents;
    }

    /**
     * Returns members of which no two are opponents: the one with the fewest opponents, of equal ones the oldest, and so on among those that are
     * no opponents of it. Of a network that was cut into parts it is the largest part, and of five members or fewer as many as possible,
     * whoever has failed whom.
     *
     * @param opponents the opponents of each member; symmetric
     */
    static Set<Long> stay(Map<Long, Set<Long>> opponents) {
        Map<Long, Set<Long>> left = new TreeMap<>();
        opponents.forEach((each, of) -> left.put(each, new TreeSet<>(of)));
        Set<Long> stay = new HashSet<>();
        while (!left.isEmpty()) {
            long best = 0;
            int fewest = Integer.MAX_VALUE;
            for (Map.Entry<Long, Set<Long>> each : left.entrySet()) {
                if (each.getValue().size() < fewest) { // the lowest of those
                    best = each.getKey();
                    fewest = each.getValue().size();
                }
            }
            stay.add(best);
            Set<Long> gone = opponents.getOrDefault(best, Set.of());
            left.remove(best);
            left.keySet().removeAll(gone);
            left.values().forEach(each -> each.removeAll(gone));
        }
        return stay;
    }
}
