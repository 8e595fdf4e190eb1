package io.github.iree4j.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterView;
import io.github.iree4j.cluster.membership.Standing;
import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Explores the yielding nodes, by the decisions of the code, in all states of small clusters. Sets of nodes and of
 * pairs of nodes are bits; the nodes are numbered by age. Time is abstract: nodes decide once nothing has changed for
 * long enough.
 */
class ConflictModelTests {

    private static final IreeException LOST = IreeException.of(StatusCode.UNAVAILABLE, "lost");
    private static final long GRACE = 10;

    private static int pairs(int nodes) {
        return nodes * (nodes - 1) / 2;
    }

    private static boolean has(long pairs, int one, int other) {
        int low = Math.min(one, other);
        int high = Math.max(one, other);
        return low != high && (pairs >> high * (high - 1) / 2 + low & 1) != 0;
    }

    private static NodeIdentity identity(int node) {
        return new NodeIdentity(7, node, 1, node + 1);
    }

    /** A cluster where some pairs of nodes have failed each other, and some pairs see each other. */
    private record State(int nodes, int alive, long failed, long seen) {

        boolean lives(int node) {
            return (alive >> node & 1) != 0;
        }

        boolean sees(int node, int other) {
            return lives(other) && (node == other || has(seen, node, other));
        }

        boolean isOpponent(int node, int other) {
            return lives(node) && sees(node, other) && has(failed, node, other);
        }

        State without(int yielding) {
            return new State(nodes, alive & ~yielding, failed, seen);
        }

        /** Returns the yielding nodes, once all reports have reached every node in sight. */
        int yielding() {
            Map<Integer, Conflicts> deciding = new TreeMap<>();
            for (int node = 0; node < nodes; node++) {
                if (lives(node)) {
                    deciding.put(node, new Conflicts(identity(node), GRACE));
                }
            }
            Map<Integer, Standing> standings = new HashMap<>();
            for (int round = 0; round < 4; round++) { // failures, weights, unbeaten nodes; then nothing changes
                deciding.forEach((node, conflicts) -> conflicts.update(view(node, standings), failures(node), 0));
                deciding.forEach((node, conflicts) -> standings.put(node, conflicts.standing()));
            }
            int yielding = 0;
            for (Map.Entry<Integer, Conflicts> each : deciding.entrySet()) {
                if (each.getValue().whyYield(GRACE) != null) {
                    yielding |= 1 << each.getKey();
                }
            }
            return yielding;
        }

        private Map<Long, IreeException> failures(int node) {
            Map<Long, IreeException> failures = new HashMap<>();
            for (int other = 0; other < nodes; other++) {
                if (has(failed, node, other)) {
                    failures.put(other + 1L, LOST);
                }
            }
            return failures;
        }

        private ClusterView view(int node, Map<Integer, Standing> standings) {
            List<ClusterMember> members = new ArrayList<>();
            Map<Long, Standing> known = new HashMap<>();
            for (int other = 0; other < nodes; other++) {
                if (sees(node, other)) {
                    members.add(new ClusterMember(identity(other), "host", other + 1));
                    known.put(other + 1L, standings.getOrDefault(other, Standing.PEACE));
                }
            }
            return new ClusterView(members, known, Map.of());
        }

        boolean isAtPeace() {
            for (int node = 0; node < nodes; node++) {
                for (int other = 0; other < node; other++) {
                    if (isOpponent(node, other)) {
                        return false;
                    }
                }
            }
            return true;
        }
    }

    /** Returns the survivors when nothing else happens. */
    private static int check(State begin) {
        State state = begin;
        while (true) {
            int yielding = state.yielding();
            assertThat(state.isAtPeace()).as("nobody yields in %s", state).isEqualTo(yielding == 0);
            assertThat(yielding).as("somebody stays in %s", state).isNotEqualTo(state.alive);
            for (int node = 0; node < state.nodes; node++) {
                if ((yielding >> node & 1) != 0) {
                    assertThat(hasStayingOpponent(state, yielding, node))
                            .as("node %d yields to a staying node, in %s", node, state)
                            .isTrue();
                }
            }
            if (yielding == 0) {
                return state.alive;
            }
            state = state.without(yielding);
        }
    }

    private static boolean hasStayingOpponent(State state, int yielding, int node) {
        for (int other = 0; other < state.nodes; other++) {
            if (state.isOpponent(node, other) && (yielding >> other & 1) == 0) {
                return true;
            }
        }
        return false;
    }

    /** For all combinations of failures and sight: cuts may heal pair by pair, and stay so for long. */
    @Test
    void inAnyNetworkConflictsEndAndEveryYieldIsToAStayingNode() {
        for (int nodes = 1; nodes <= 4; nodes++) {
            for (long seen = 0; seen < 1L << pairs(nodes); seen++) {
                for (long failed = 0; failed < 1L << pairs(nodes); failed++) {
                    check(new State(nodes, (1 << nodes) - 1, failed, seen));
                }
            }
        }
    }

    @Test
    @Tag("nightly")
    void inAnyNetworkOfFiveToo() {
        for (long seen = 0; seen < 1L << pairs(5); seen++) {
            for (long failed = 0; failed < 1L << pairs(5); failed++) {
                check(new State(5, 31, failed, seen));
            }
        }
    }

    /** Of 2^42 networks of seven nodes some. */
    @Test
    void inRandomNetworksOfSixAndSevenToo() {
        Random random = new Random(3);
        for (int round = 0; round < 3_000; round++) {
            int nodes = 6 + round % 2;
            long all = (1L << pairs(nodes)) - 1;
            long seen = random.nextBoolean() ? random.nextLong() & all : (random.nextLong() | random.nextLong()) & all;
            check(new State(nodes, (1 << nodes) - 1, random.nextLong() & all, seen));
        }
    }

    /** Parts of a network count for themselves, so states of parts are states of smaller networks. */
    @Test
    void amongNodesInSightOfEachOtherExactlyTheLargestPartStays() {
        for (int nodes = 1; nodes <= 5; nodes++) {
            theLargestPartStays(nodes);
        }
    }

    @Test
    @Tag("nightly")
    void amongSixAndSevenToo() {
        theLargestPartStays(6);
        theLargestPartStays(7); // 2,097,152 states
    }

    private static void theLargestPartStays(int nodes) {
        long all = (1L << pairs(nodes)) - 1;
        LongStream.rangeClosed(0, all).parallel().forEach(failed -> {
            Map<Long, Set<Long>> opponents = new HashMap<>();
            for (int node = 0; node < nodes; node++) {
                Set<Long> of = new TreeSet<>();
                for (int other = 0; other < nodes; other++) {
                    if (has(failed, node, other)) {
                        of.add((long) other);
                    }
                }
                opponents.put((long) node, of);
            }
            Set<Long> stay = StayingPart.of(opponents);
            int survivors = check(new State(nodes, (1 << nodes) - 1, failed, all));
            for (int node = 0; node < nodes; node++) {
                assertThat((survivors >> node & 1) != 0).isEqualTo(stay.contains((long) node));
            }
        });
    }
}
