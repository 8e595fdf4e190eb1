package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.FailureReport;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
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

    private static ClusterView view(long number, boolean merge, long... incarnations) {
        return new ClusterView(
                number,
                Arrays.stream(incarnations)
                        .mapToObj(each -> new ClusterMember(identity(each), "host", 7600))
                        .toList(),
                merge);
    }

    private static Map<Long, IreeException> failures(Set<Long> nodes) {
        return nodes.stream().collect(Collectors.toMap(each -> each, _ -> LOST));
    }

    /** What becomes of nodes that have failed some others and meet in a merge, whatever the order in which their reports come. */
    private static Set<Long> stayAfterMerge(Map<Long, Set<Long>> failed, Random order) {
        long[] all = failed.keySet().stream().mapToLong(each -> each).toArray();
        ClusterView merge = view(9, true, all);
        Map<Long, Conflicts> nodes = new TreeMap<>();
        Map<Long, FailureReport> reports = new HashMap<>();
        failed.forEach((each, of) -> {
            Conflicts node = new Conflicts(identity(each), GRACE);
            node.see(view(8, false, each), 0);
            node.see(merge, 100);
            node.fail(failures(of), 100);
            reports.put(each, node.due(100));
            nodes.put(each, node);
        });
        Set<Long> stay = new TreeSet<>();
        nodes.forEach((each, node) -> {
            List<Long> reporters = new ArrayList<>(reports.keySet());
            Collections.shuffle(reporters, order);
            for (long reporter : reporters) {
                assertThat(node.whyYield(200)).as("before all have reported").isNull();
                node.add(reporter, reports.get(reporter), 200);
            }
            if (node.whyYield(200) == null) {
                stay.add(each);
            }
        });
        return stay;
    }

    /** Its group had two, as many as that of the others, and one was in both. */
    @Test
    void aNodeThatWasCutOffYieldsAlsoWhenItHadNotLostAllOthersYet() {
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
                assertThat(stayAfterMerge(failed, order)).isEqualTo(others(3, lost));
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
    void theLargestPartStaysAndOfEqualOnesThatWithTheOldestNode() {
        assertThat(stayAfterMerge(parts(List.of(Set.of(1L), Set.of(2L, 3L))), new Random(1)))
                .containsExactly(2L, 3L);
        assertThat(stayAfterMerge(parts(List.of(Set.of(2L, 3L), Set.of(1L, 4L))), new Random(2)))
                .containsExactly(1L, 4L);
        assertThat(stayAfterMerge(parts(List.of(Set.of(1L), Set.of(2L, 4L, 6L), Set.of(3L, 5L))), new Random(3)))
                .containsExactly(2L, 4L, 6L);
        assertThat(stayAfterMerge(parts(List.of(Set.of(3L), Set.of(1L), Set.of(2L))), new Random(4)))
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

    /** With more members in conflict than are searched, a set to which no member can be added. */
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

    /** All that may have come about among up to six. */
    @Test
    void asManyAsCanStayTogetherDoWhoeverHasFailedWhom() {
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

    /** Each node has failed only some of those that have failed it; the reports are the same for all. */
    @Test
    void ofManyThatHaveFailedEachOtherInOneDirectionOrBothNoTwoStay() {
        Random random = new Random(5);
        for (int round = 0; round < 200; round++) {
            int nodes = 2 + random.nextInt(12);
            Map<Long, Set<Long>> failed = new TreeMap<>();
            for (long each = 1; each <= nodes; each++) {
                Set<Long> of = new TreeSet<>(others(nodes, each));
                of.removeIf(_ -> random.nextInt(4) > 0);
                failed.put(each, of);
            }
            Set<Long> stay = stayAfterMerge(failed, random);
            assertThat(stay).isNotEmpty();
            assertThat(isAtPeace(stay, failed)).as("%s of %s", stay, failed).isTrue();
        }
    }

    /** Reports are lost, and who yields leaves the view, which is no merge then. */
    @Test
    void noTwoThatHaveFailedEachOtherAreLeftWhateverReportsAreLost() {
        Random random = new Random(6);
        for (int round = 0; round < 300; round++) {
            int nodes = 2 + random.nextInt(6);
            int lossPercent = random.nextInt(3) * 40;
            boolean merge = random.nextBoolean();
            Map<Long, Set<Long>> failed = new TreeMap<>();
            for (long each = 1; each <= nodes; each++) {
                Set<Long> of = new TreeSet<>(others(nodes, each));
                of.removeIf(_ -> random.nextInt(3) > 0);
                failed.put(each, of);
            }
            Set<Long> left = leftOver(failed, merge, lossPercent, random);
            assertThat(left).isNotEmpty();
            assertThat(isAtPeace(left, failed)).as("%s of %s", left, failed).isTrue();
            if (merge && lossPercent == 0) {
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

    private static Set<Long> leftOver(Map<Long, Set<Long>> failed, boolean merge, int lossPercent, Random random) {
        Map<Long, Conflicts> nodes = new TreeMap<>();
        long number = 1;
        for (long each : failed.keySet()) {
            Conflicts node = new Conflicts(identity(each), GRACE);
            node.see(view(1, merge, failed.keySet().stream().mapToLong(n -> n).toArray()), 0);
            nodes.put(each, node);
        }
        for (long now = 0; now < 20 * GRACE; now += 500) {
            for (Map.Entry<Long, Conflicts> each : nodes.entrySet()) {
                each.getValue().fail(failures(failed.get(each.getKey())), now);
                FailureReport report = each.getValue().due(now);
                for (Conflicts other : nodes.values()) {
                    if (report != null && random.nextInt(100) >= lossPercent) {
                        other.add(each.getKey(), report, now);
                    }
                }
            }
            long time = now;
            if (nodes.values().removeIf(each -> each.whyYield(time) != null)) {
                number++;
                for (Conflicts each : nodes.values()) {
                    each.see(
                            view(
                                    number,
                                    false,
                                    nodes.keySet().stream().mapToLong(n -> n).toArray()),
                            now);
                }
            }
        }
        return new TreeSet<>(nodes.keySet());
    }

    @Test
    void aProcessThatHasDiedFencesNoOther() {
        Conflicts two = new Conflicts(identity(2), GRACE);
        two.see(view(1, false, 1, 2), 0);
        two.fail(failures(Set.of(1L)), 100);
        assertThat(two.due(100))
                .as("what it tells while nothing has to be told")
                .isNull();
        assertThat(two.due(100 + GRACE / 2)).isEqualTo(new FailureReport(1, Set.of(1L)));
        two.add(2, new FailureReport(1, Set.of(1L)), 100 + GRACE / 2);
        assertThat(two.whyYield(100 + GRACE - 1)).isNull();
        two.see(view(2, false, 2), 100 + GRACE);
        two.fail(failures(Set.of(1L)), 100 + GRACE);
        assertThat(two.whyYield(100 + 9 * GRACE)).isNull();
        assertThat(two.due(100 + 9 * GRACE)).isNull();
    }

    /** One that is as old as the others, but without a session with any of them. */
    @Test
    void withoutAMergeTheOneThatAllHaveFailedYieldsAfterAWhile() {
        Map<Long, Set<Long>> failed = Map.of(1L, Set.of(2L, 3L), 2L, Set.of(1L), 3L, Set.of(1L));
        for (long each : new long[] {1, 2, 3}) {
            Conflicts node = new Conflicts(identity(each), GRACE);
            node.see(view(4, false, 1, 2, 3), 0);
            node.fail(failures(failed.get(each)), 0);
            failed.forEach((reporter, of) -> node.add(reporter, new FailureReport(4, of), GRACE / 2));
            assertThat(node.whyYield(GRACE - 1)).isNull();
            if (each == 1) {
                assertThat(node.whyYield(GRACE)).hasMessageContaining("this one yields");
            } else {
                assertThat(node.whyYield(GRACE)).isNull();
            }
        }
    }

    @Test
    void aReportThatComesBeforeItsViewCounts() {
        Conflicts two = new Conflicts(identity(2), GRACE);
        two.see(view(4, false, 2), 0);
        two.add(1, new FailureReport(5, Set.of(2L)), 10);
        assertThat(two.whyYield(10)).isNull();
        two.see(view(5, true, 1, 2), 20);
        two.add(2, new FailureReport(5, Set.of()), 20);
        assertThat(two.whyYield(20)).hasMessageContaining("it said so");
    }

    @Test
    void oneThatMissesAReportIsToldAgain() {
        Conflicts one = new Conflicts(identity(1), GRACE);
        one.see(view(5, true, 1, 2), 0);
        assertThat(one.due(0)).isNotNull();
        assertThat(one.due(500)).as("while the other has not reported").isNotNull();
        one.add(1, new FailureReport(5, Set.of()), 600);
        one.add(2, new FailureReport(5, Set.of()), 600);
        assertThat(one.due(1000)).isNull();
        one.add(2, new FailureReport(5, Set.of()), 1100);
        assertThat(one.due(1500)).isNotNull();
        assertThat(one.due(2000)).isNull();
        one.add(2, new FailureReport(5, Set.of()), 1100);
        assertThat(one.due(GRACE)).as("when it has been too long").isNull();
    }
}
