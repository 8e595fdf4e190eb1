package io.github.iree4j.cluster;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.Standing;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the mutual failures of a view's members, and decides whether this node yields. Not thread-safe.
 *
 * <p>Each member reports to the others its failures, and its weight: the size of the largest part of its view without
 * mutual failures, if the member is in the part. A member yields to a heavier opponent, or an older of equal weight, that is
 * itself unbeaten. So in any network, whoever sees whom, some member stays, and no two opponents go on seeing each other;
 * where all members see each other, exactly the largest part stays.
 *
 * <p>A failure of a member counts once the member has been seen for the grace period: a dead process leaves the view before.
 * A member decides on failures and standings unchanged for the grace period, when the others have received the same. Where
 * either keeps changing, a failure counts after four periods all the same.
 *
 * <p>Of two members with the same machine index, the member that joined later yields: a number tells no order where the
 * sessions of the two are counted in different files. Of members that joined at about the same time, the younger
 * incarnation yields.
 */
final class Conflicts {
    private static final int PERIODS_OF_CHANGES = 4;

    private final NodeIdentity self;
    private final long graceNanos;
    private Map<Pair, Long> since = new HashMap<>(); // when this node learned of a mutual failure of two members
    private Map<Long, Standing> standings = Map.of(); // of this node and its opponents
    private long changedNanos; // the last change of either
    // by incarnation; when a member with this machine index was first seen
    private final Map<Long, Long> twins = new HashMap<>();
    private Map<Long, IreeException> failed = Map.of(); // members failed by this node, with causes
    private ClusterView view = ClusterView.EMPTY;

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

    /**
     * Sets the present state.
     *
     * @param next the view
     * @param failures the nodes failed by this node, and the nodes having failed this node; perhaps outside the view
     */
    void update(ClusterView next, Map<Long, IreeException> failures, long now) {
        view = next;
        twins.keySet().removeIf(each -> next.find(each) == null);
        failed = new HashMap<>();
        failures.forEach((each, cause) -> {
            ClusterMember member = next.find(each);
            if (member != null && !isTwin(member)) { // the end of a former session of this machine is noticed late
                failed.put(each, cause);
            }
        });
        Map<Pair, Long> pairs = new HashMap<>();
        for (ClusterMember member : next.members()) {
            long reporter = member.identity().incarnation();
            Set<Long> reported = reporter == self.incarnation()
                    ? failed.keySet()
                    : next.standing(reporter).failed();
            for (long each : reported) {
                if (each != reporter && next.find(each) != null) {
                    Pair pair = Pair.of(reporter, each);
                    pairs.put(pair, since.getOrDefault(pair, now));
                }
            }
        }
        Map<Long, Standing> before = standings;
        boolean changed = !pairs.keySet().equals(since.keySet());
        since = pairs;
        stand();
        if (changed || !standings.equals(before)) {
            changedNanos = now;
        }
    }

    /** Computes the standing of this node. */
    private void stand() {
        Map<Long, Set<Long>> opponents = opponents();
        long own = self.incarnation();
        Set<Long> ofSelf = opponents.getOrDefault(own, Set.of());
        Set<Long> stay = ofSelf.isEmpty() ? Set.of() : StayingPart.of(opponents);
        int weight = stay.contains(own) ? stay.size() : 0;
        Map<Long, Standing> known = new HashMap<>();
        ofSelf.forEach(each -> known.put(each, view.standing(each)));
        boolean unbeaten = ofSelf.stream().noneMatch(each -> beats(each, view.standing(each), weight));
        known.put(own, new Standing(failed.keySet(), weight, unbeaten));
        standings = known;
    }

    /** Returns whether an opponent is to stay instead of this node. */
    private boolean beats(long opponent, Standing of, int ownWeight) {
        return of.weight() > ownWeight || of.weight() == ownWeight && opponent < self.incarnation();
    }

    /** Returns the standing of this node, for the other members. */
    Standing standing() {
        return standings.getOrDefault(self.incarnation(), Standing.PEACE);
    }

    private boolean isTwin(ClusterMember member) {
        return member.identity().machine() == self.machine()
                && member.identity().incarnation() != self.incarnation();
    }

    private boolean isDue(long other, long now) {
        Long begin = since.get(Pair.of(self.incarnation(), other));
        return begin != null
                && now - begin >= graceNanos
                && (now - changedNanos >= graceNanos || now - begin >= PERIODS_OF_CHANGES * graceNanos);
    }

    /** Returns the reason for this node to yield; null without a reason. */
    @Nullable
    IreeException whyYield(long now) {
        for (Map.Entry<Long, Standing> opponent : standings.entrySet()) {
            long each = opponent.getKey();
            Standing of = opponent.getValue();
            if (each != self.incarnation()
                    && beats(each, of, standing().weight())
                    && of.unbeaten()
                    && isDue(each, now)) {
                IreeException cause = failed.get(each);
                String text = "%s and %s have failed each other, and the latter yields, and needs a new identity: %s"
                        .formatted(
                                view.find(each),
                                self,
                                cause == null ? "the other node reported the failure" : cause.getMessage());
                return IreeException.of(StatusCode.ABORTED, text, cause);
            }
        }
        return whyTwin(now);
    }

    private @Nullable IreeException whyTwin(long now) {
        for (ClusterMember each : view.members()) {
            long other = each.identity().incarnation();
            if (isTwin(each) && now - twins.computeIfAbsent(other, _ -> now) >= graceNanos && isLater(other)) {
                return IreeException.of(
                        StatusCode.ALREADY_EXISTS,
                        "%s and %s have the same machine index, and the latter joined later, or at about the same time; give each node a different machine index"
                                .formatted(each, view.find(self.incarnation())));
            }
        }
        return null;
    }

    /**
     * Returns whether this node joined later than a twin. Each of the two sees the other join late by the time of the
     * fastest sign of life so far; the limits differ by more, so that not both stay. Where both yield, the two begin again
     * at the same time.
     */
    private boolean isLater(long twin) {
        long later = view.joinedAfter(self.incarnation(), twin);
        return later > graceNanos / 2 || later >= -graceNanos && self.incarnation() > twin;
    }

    /** Returns, for each member, the members failed by or having failed this member. */
    private Map<Long, Set<Long>> opponents() {
        Map<Long, Set<Long>> opponents = new HashMap<>();
        for (ClusterMember each : view.members()) {
            opponents.put(each.identity().incarnation(), new TreeSet<>());
        }
        for (Pair each : since.keySet()) {
            opponents.computeIfAbsent(each.low, _ -> new TreeSet<>()).add(each.high);
            opponents.computeIfAbsent(each.high, _ -> new TreeSet<>()).add(each.low);
        }
        return opponents;
    }
}
