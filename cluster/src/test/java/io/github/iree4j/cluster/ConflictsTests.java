package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.Standing;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ConflictsTests {
    private static final long GRACE = 6000;
    private static final IreeException LOST = IreeException.of(StatusCode.UNAVAILABLE, "it left");

    private static NodeIdentity identity(long incarnation) {
        return new NodeIdentity(7, (int) incarnation, 1, incarnation);
    }

    /** A view of members with some failures; all members see each other. */
    private static ClusterView view(Map<Long, Set<Long>> failed) {
        Map<Long, Standing> known = new TreeMap<>();
        failed.forEach((each, of) -> known.put(each, new Standing(of, 0, true)));
        Map<Long, Standing> standings = new TreeMap<>();
        for (int round = 0; round < 3; round++) { // failures, then weights, then unbeaten nodes
            failed.forEach((each, of) -> {
                Conflicts node = new Conflicts(identity(each), GRACE);
                node.update(of(known), failures(of), 0);
                standings.put(each, node.standing());
            });
            known.putAll(standings);
        }
        return of(known);
    }

    private static ClusterView of(Map<Long, Standing> standings) {
        return new ClusterView(
                standings.keySet().stream()
                        .map(each -> new ClusterMember(identity(each), "host", 7600))
                        .toList(),
                standings,
                Map.of());
    }

    private static Map<Long, IreeException> failures(Set<Long> nodes) {
        return nodes.stream().collect(Collectors.toMap(each -> each, _ -> LOST));
    }

    /** The outcome for nodes that have failed some others and meet, in any order of reports. */
    private static Set<Long> stayAfterMeeting(Map<Long, Set<Long>> failed, Random order) {
        Set<Long> stay = new TreeSet<>();
        failed.forEach((each, of) -> {
            Conflicts node = new Conflicts(identity(each), GRACE);
            Map<Long, Set<Long>> reported = new TreeMap<>();
            failed.keySet().forEach(member -> reported.put(member, Set.of()));
            List<Long> reporters = new ArrayList<>(failed.keySet());
            Collections.shuffle(reporters, order);
            long now = 100;
            for (long reporter : reporters) {
                node.update(view(reported), failures(of), now);
                assertThat(node.standing().failed()).isEqualTo(of);
                assertThat(node.whyYield(now)).as("before all have reported").isNull();
                reported.put(reporter, failed.get(reporter));
                now += order.nextLong(GRACE / 4 / failed.size());
            }
            node.update(view(failed), failures(of), now);
            assertThat(node.whyYield(now)).as("while others may know less").isNull();
            node.update(view(failed), failures(of), now + GRACE);
            if (node.whyYield(now + GRACE) == null) {
                stay.add(each);
            }
        });
        return stay;
    }

    /** The node's group had two members, as many as the others' group, and one member was in both. */
    @Test
    void aCutOffNodeYieldsAlsoBeforeLosingAllOthers() {
        Random order = new Random(1);
        for (long lost : new long[] {1, 2, 3}) {
            for (long unnoticed : new long[] {1, 2, 3}) {
                Map<Long, Set<Long>> failed = new TreeMap<>();
                for (long each = 1; each <= 3; each++) {
                    failed.put(each, each == lost ? others(3, lost) : Set.of(lost));
                }
                failed.put(
                        lost,
                        others(3, lost).stream()
                                .filter(each -> each != unnoticed)
                                .collect(Collectors.toSet()));
                assertThat(stayAfterMeeting(failed, order)).isEqualTo(others(3, lost));
            }
        }
    }

    private static Set<Long> others(int count, long without) {
        return LongStream.rangeClosed(1, count)
                .filter(each -> each != without)
                .boxed()
                .collect(Collectors.toSet());
    }

    @Test
    void theLargestPartStaysAndOfEqualPartsThePartWithTheOldestNode() {
        assertThat(stayAfterMeeting(parts(List.of(Set.of(1L), Set.of(2L, 3L))), new Random(1)))
                .containsExactly(2L, 3L);
        assertThat(stayAfterMeeting(parts(List.of(Set.of(2L, 3L), Set.of(1L, 4L))), new Random(2)))
                .containsExactly(1L, 4L);
        assertThat(stayAfterMeeting(parts(List.of(Set.of(1L), Set.of(2L, 4L, 6L), Set.of(3L, 5L))), new Random(3)))
                .containsExactly(2L, 4L, 6L);
        assertThat(stayAfterMeeting(parts(List.of(Set.of(3L), Set.of(1L), Set.of(2L))), new Random(4)))
                .containsExactly(1L);
    }

    private static Map<Long, Set<Long>> parts(List<Set<Long>> parts) {
        Map<Long, Set<Long>> failed = new TreeMap<>();
        for (Set<Long> part : parts) {
            for (long each : part) {
                Set<Long> others = new TreeSet<>();
                parts.stream().filter(other -> other != part).forEach(others::addAll);
                failed.put(each, others);
            }
        }
        return failed;
    }

    /** With more members in conflict than the search takes, a set without room for another member. */
    @Test
    void ofManyMembersNoneYieldsToNobody() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            int nodes = random.nextInt(30, 120);
            Map<Long, Set<Long>> opponents = random(nodes, random.nextDouble() / 2, random);
            Set<Long> stay = StayingPart.of(opponents);
            assertThat(isAtPeace(stay, opponents)).isTrue();
            opponents.forEach(
                    (each, of) -> assertThat(stay.contains(each) || of.stream().anyMatch(stay::contains))
                            .as("%d stays, or an opponent does", each)
                            .isTrue());
        }
    }

    @Test
    void asManyAsCanStayTogetherDoAmongAFewMore() {
        Random random = new Random(8);
        for (int round = 0; round < 300; round++) {
            Map<Long, Set<Long>> opponents = random(random.nextInt(6, 13), random.nextDouble(), random);
            Set<Long> stay = StayingPart.of(opponents);
            assertThat(isAtPeace(stay, opponents)).isTrue();
            assertThat(stay).as("%s", opponents).hasSize(most(opponents));
        }
    }

    private static Map<Long, Set<Long>> random(int nodes, double conflicts, Random random) {
        Map<Long, Set<Long>> opponents = new TreeMap<>();
        for (long each = 0; each < nodes; each++) {
            opponents.put(each, new TreeSet<>());
            for (long other = 0; other < each; other++) {
                if (random.nextDouble() < conflicts) {
                    opponents.get(each).add(other);
                    opponents.get(other).add(each);
                }
            }
        }
        return opponents;
    }

    /** All possible states of up to six nodes. */
    @Test
    void asManyAsPossibleStayTogetherWhateverTheFailures() {
        for (int nodes = 1; nodes <= 6; nodes++) {
            int pairs = nodes * (nodes - 1) / 2;
            for (int graph = 0; graph < 1 << pairs; graph++) {
                Map<Long, Set<Long>> opponents = new TreeMap<>();
                for (long each = 0; each < nodes; each++) {
                    opponents.put(each, new TreeSet<>());
                }
                int bit = 0;
                for (long low = 0; low < nodes; low++) {
                    for (long high = low + 1; high < nodes; high++) {
                        if ((graph >> bit++ & 1) != 0) {
                            opponents.get(low).add(high);
                            opponents.get(high).add(low);
                        }
                    }
                }
                Set<Long> stay = StayingPart.of(opponents);
                assertThat(isAtPeace(stay, opponents)).isTrue();
                assertThat(stay).as("%s", opponents).hasSize(most(opponents));
            }
        }
    }

    private static int most(Map<Long, Set<Long>> opponents) {
        int most = 0;
        for (int choice = 0; choice < 1 << opponents.size(); choice++) {
            int chosen = choice;
            if (Integer.bitCount(choice) > most
                    && isAtPeace(
                            opponents.keySet().stream()
                                    .filter(each -> (chosen >> each & 1) != 0)
                                    .collect(Collectors.toSet()),
                            opponents)) {
                most = Integer.bitCount(choice);
            }
        }
        return most;
    }

    private static boolean isAtPeace(Set<Long> nodes, Map<Long, Set<Long>> opponents) {
        return nodes.stream().noneMatch(each -> opponents.get(each).stream().anyMatch(nodes::contains));
    }

    /** Each node has failed only some of its accusers; the reports are the same for all. */
    @Test
    void ofManyWithFailuresOfEachOtherInOneDirectionOrBothNoTwoStay() {
        Random random = new Random(5);
        for (int round = 0; round < 50; round++) {
            int nodes = 2 + random.nextInt(12);
            Map<Long, Set<Long>> failed = new TreeMap<>();
            for (long each = 1; each <= nodes; each++) {
                Set<Long> of = new TreeSet<>(others(nodes, each));
                of.removeIf(_ -> random.nextInt(4) > 0);
                failed.put(each, of);
            }
            Set<Long> stay = stayAfterMeeting(failed, random);
            assertThat(stay).isNotEmpty();
            assertThat(isAtPeace(stay, failed)).as("%s of %s", stay, failed).isTrue();
        }
    }

    /** Reports come late, and a yielding node leaves the view. */
    @Test
    void noPairWithAFailureStaysAndAsManyAsPossibleDoHoweverLateReportsCome() {
        Random random = new Random(6);
        for (int round = 0; round < 60; round++) {
            int nodes = 2 + random.nextInt(6);
            int lossPercent = random.nextInt(3) * 40;
            Map<Long, Set<Long>> failed = new TreeMap<>();
            for (long each = 1; each <= nodes; each++) {
                Set<Long> of = new TreeSet<>(others(nodes, each));
                of.removeIf(_ -> random.nextInt(3) > 0);
                failed.put(each, of);
            }
            Set<Long> left = leftOver(failed, lossPercent, random);
            assertThat(left).isNotEmpty();
            assertThat(isAtPeace(left, failed)).as("%s of %s", left, failed).isTrue();
            if (lossPercent == 0) {
                assertThat(left).isEqualTo(StayingPart.of(symmetric(failed)));
            }
        }
    }

    private static Map<Long, Set<Long>> symmetric(Map<Long, Set<Long>> failed) {
        Map<Long, Set<Long>> both = new TreeMap<>();
        failed.keySet().forEach(each -> both.put(each, new TreeSet<>()));
        failed.forEach((each, of) -> of.forEach(other -> {
            both.get(each).add(other);
            both.get(other).add(each);
        }));
        return both;
    }

    private static Set<Long> leftOver(Map<Long, Set<Long>> failed, int lossPercent, Random random) {
        Map<Long, Conflicts> nodes = new TreeMap<>();
        Map<Long, Map<Long, Standing>> known = new TreeMap<>(); // by node, the reports by member
        for (long each : failed.keySet()) {
            nodes.put(each, new Conflicts(identity(each), GRACE));
            Map<Long, Standing> nothing = new TreeMap<>();
            failed.keySet().forEach(member -> nothing.put(member, Standing.PEACE));
            known.put(each, nothing);
        }
        for (long now = 0; now < 40 * GRACE; now += 500) {
            for (long each : nodes.keySet()) {
                known.get(each).keySet().retainAll(nodes.keySet());
                for (long other : nodes.keySet()) {
                    if (random.nextInt(100) >= lossPercent) {
                        known.get(each).put(other, nodes.get(other).standing());
                    }
                }
                nodes.get(each).update(of(known.get(each)), failures(failed.get(each)), now);
            }
            long time = now;
            nodes.values().removeIf(each -> each.whyYield(time) != null);
        }
        return new TreeSet<>(nodes.keySet());
    }

    @Test
    void aDeadProcessFencesNoOther() {
        Conflicts two = new Conflicts(identity(2), GRACE);
        Map<Long, Set<Long>> both = Map.of(1L, Set.of(), 2L, Set.of());
        two.update(view(both), failures(Set.of(1L)), 100);
        assertThat(two.standing().failed()).containsExactly(1L);
        two.update(view(both), failures(Set.of(1L)), 100 + GRACE - 1);
        assertThat(two.whyYield(100 + GRACE - 1)).isNull();
        two.update(view(Map.of(2L, Set.of(1L))), failures(Set.of(1L)), 100 + GRACE);
        assertThat(two.standing().failed()).isEmpty();
        assertThat(two.whyYield(100 + 9 * GRACE)).isNull();
    }

    /** A node as old as the others, but without a session with any of them. */
    @Test
    void aNodeFailedByAllYields() {
        Map<Long, Set<Long>> failed = Map.of(1L, Set.of(2L, 3L), 2L, Set.of(1L), 3L, Set.of(1L));
        for (long each : new long[] {1, 2, 3}) {
            Conflicts node = new Conflicts(identity(each), GRACE);
            node.update(view(failed), failures(failed.get(each)), 0);
            assertThat(node.whyYield(GRACE - 1)).isNull();
            if (each == 1) {
                assertThat(node.whyYield(GRACE)).hasMessageContaining("the latter yields");
            } else {
                assertThat(node.whyYield(GRACE)).isNull();
            }
        }
    }

    @Test
    void aNodeYieldsToAMemberThatHasFailedTheNodeAlone() {
        Conflicts two = new Conflicts(identity(2), GRACE);
        two.update(view(Map.of(1L, Set.of(2L), 2L, Set.of())), Map.of(), 10);
        assertThat(two.whyYield(10 + GRACE)).hasMessageContaining("the other node reported the failure");
        assertThat(two.standing().failed()).isEmpty();
    }

    /** Sessions counted in different files tell no order. Each sees the other join late by the time of a sign of life. */
    @Test
    void ofTwoNodesWithTheSameMachineIndexTheLaterYieldsAndNotBothStay() {
        Random random = new Random(5);
        for (int round = 0; round < 2000; round++) {
            NodeIdentity first = new NodeIdentity(7, 1, 14, 14 * 256 + 1);
            NodeIdentity later =
                    random.nextBoolean() ? new NodeIdentity(7, 1, 1, 257) : new NodeIdentity(7, 1, 15, 4000);
            long apart = random.nextBoolean() ? random.nextLong(GRACE * 2) : random.nextLong(GRACE * 1000);
            boolean firstYields = yields(first, later, 0, apart + random.nextLong(GRACE / 8));
            boolean laterYields = yields(later, first, apart, random.nextLong(GRACE / 8));
            assertThat(firstYields || laterYields).as("%d apart", apart).isTrue();
            if (apart > GRACE || later.incarnation() > first.incarnation()) {
                assertThat(firstYields).as("%d apart", apart).isFalse();
            }
        }
    }

    private static boolean yields(NodeIdentity self, NodeIdentity twin, long joined, long twinJoined) {
        Conflicts node = new Conflicts(self, GRACE);
        ClusterView view = new ClusterView(
                List.of(new ClusterMember(self, "one", 7600), new ClusterMember(twin, "other", 7600)),
                Map.of(),
                Map.of(self.incarnation(), joined, twin.incarnation(), twinJoined));
        node.update(view, Map.of(), 10);
        assertThat(node.whyYield(10)).as("a former process may still be seen").isNull();
        return node.whyYield(10 + GRACE) != null;
    }

    @Test
    void changingFailuresPostponeTheDecisionButNotForEver() {
        Conflicts three = new Conflicts(identity(3), GRACE);
        long now = 0;
        for (boolean more = false; now < 4 * GRACE; now += GRACE / 2, more = !more) {
            three.update(flapping(more), Map.of(), now);
            assertThat(three.whyYield(now)).isNull();
        }
        three.update(flapping(true), Map.of(), now);
        assertThat(three.whyYield(now)).hasMessageContaining("the latter yields");
    }

    /** Nodes 1 and 2 have failed node 3; the report of node 4 changes. */
    private static ClusterView flapping(boolean more) {
        return view(Map.of(1L, Set.of(3L), 2L, Set.of(3L), 3L, Set.of(), 4L, more ? Set.of(2L) : Set.of()));
    }
}
