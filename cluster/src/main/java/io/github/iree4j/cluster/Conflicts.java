package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.FailureReport;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the mutual failures of a view's members, and decides which members stay. Not thread-safe.
 *
 * <p>Views do not contain failures, so the members report failures: all members after a merge, and members that have
 * failed a member still in the view. Members with the same reports reach the same decision: the largest set of members
 * without mutual failures stays. A decision is made when all members of a merge have reported, or when a failure has
 * been known for long enough to exclude a dead process.
 */
final class Conflicts {
    private static final int MOST = 1024; // limit on kept reports

    private final NodeIdentity self;
    private final long graceNanos;
    private final Map<Long, FailureReport> reports = new HashMap<>(); // the last report, by reporter
    private final Map<Pair, Long> since = new HashMap<>(); // when this node learned of a mutual failure of two members
    // by incarnation; when a member with this machine index was first seen
    private final Map<Long, Long> twins = new HashMap<>();
    private final Map<Long, IreeException> failed = new HashMap<>(); // members failed by this node, with causes
    private ClusterView view = new ClusterView(0, List.of(), false);
    private long seenNanos; // since when this view
    private boolean complete; // all members of the merge have reported
    private boolean asked; // a member reports again, and so lacks a report

    private record Pair(long low, long high) {
        static Pair of(long one, long other) {
            return new Pair(Math.min(one, other), Math.max(one, other));
        }
    }

    /**
     * Creates an instance without a view.
     *
     * @param self this node
     * @param graceNanos longer than the detection of a dead process
     */
    Conflicts(NodeIdentity self, long graceNanos) {
        this.self = self;
        this.graceNanos = graceNanos;
    }

    /** Sets a new view. Reports may have arrived before the view. */
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

    /** Records nodes failed by this node, and nodes having failed this node. Nodes outside the view do not matter. */
    void fail(Map<Long, IreeException> nodes, long now) {
        nodes.forEach((each, cause) -> {
            ClusterMember member = view.find(each);
            if (member != null && !isTwin(member)) { // the end of a former session of this machine is noticed late
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
            complete = true; // so all members are alive
            since.replaceAll((_, _) -> now - graceNanos);
        }
    }

    private boolean hasReported(ClusterMember member) {
        FailureReport report = reports.get(member.identity().incarnation());
        return report != null && report.view() == view.number();
    }

    /**
     * Returns the report due to the members now. A dead process is failed by all, and leaves the view soon; there is
     * nothing to report about a dead process.
     */
    @Nullable
    FailureReport due(long now) {
        boolean merging = view.merge() && now - seenNanos < graceNanos && (!complete || asked);
        asked = false;
        return merging || failed.keySet().stream().anyMatch(each -> isKnownFor(each, graceNanos / 2, now))
                ? new FailureReport(view.number(), failed.keySet())
                : null;
    }

    /** Returns whether a mutual failure of this node and a member has been known for the given time. */
    private boolean isKnownFor(long other, long nanos, long now) {
        Long begin = since.get(Pair.of(self.incarnation(), other));
        return begin != null && now - begin >= nanos;
    }

    /** Returns the reason for this node to yield; null without a reason. */
    @Nullable
    IreeException whyYield(long now) {
        Map<Long, Set<Long>> opponents = opponents();
        Set<Long> stay = StayingPart.of(opponents);
        long own = self.incarnation();
        if (!stay.contains(own)) {
            for (long each : opponents.getOrDefault(own, Set.of())) {
                if (stay.contains(each) && isKnownFor(each, graceNanos, now)) {
                    IreeException cause = failed.get(each);
                    String text = "%s and %s have failed each other, and this one yields; it needs a new identity: %s"
                            .formatted(view.find(each), self, cause == null ? "it said so" : cause.getMessage());
                    return IreeException.of(StatusCode.ABORTED, text, cause);
                }
            }
        }
        return whyTwin(now);
    }

    private @Nullable IreeException whyTwin(long now) {
        for (ClusterMember each : view.members()) { // older members come first
            long other = each.identity().incarnation();
            if (other == self.incarnation()) {
                break;
            }
            if (isTwin(each) && now - twins.computeIfAbsent(other, _ -> now) >= graceNanos) {
                return IreeException.of(
                        StatusCode.ALREADY_EXISTS,
                        "%s and %s have the same machine index; give each node one of its own"
                                .formatted(each, view.find(self.incarnation())));
            }
        }
        return null;
    }

    /** Returns, for each member, the members failed by or having failed this member, as reported. */
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
}
