package io.github.iree4j.spring.problems;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WaitGraphTests {

    /** Against reachability of small graphs, computed for all pairs. */
    @Test
    void deadlocksAndTheirDependentsMatchTheTransitiveClosure() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 2_000; round++) {
            int works = 1 + random.nextInt(12);
            boolean[][] reaches = new boolean[works][works];
            WaitGraph graph = new WaitGraph(works);
            for (int edge = random.nextInt(2 * works); edge > 0; edge--) {
                int from = random.nextInt(works);
                int to = random.nextInt(works);
                graph.add(from, to, null);
                reaches[from][to] = true;
            }
            boolean[][] edges = new boolean[works][];
            for (int i = 0; i < works; i++) {
                edges[i] = reaches[i].clone();
            }
            for (int via = 0; via < works; via++) {
                for (int from = 0; from < works; from++) {
                    for (int to = 0; to < works; to++) {
                        reaches[from][to] |= reaches[from][via] && reaches[via][to];
                    }
                }
            }
            BitSet deadlocked = graph.deadlocked();
            for (int work = 0; work < works; work++) {
                boolean expected = false;
                for (int on = 0; on < works; on++) {
                    expected |= reaches[on][on] && (on == work || reaches[work][on]);
                }
                assertThat(deadlocked.get(work))
                        .as("seed %d round %d", seed, round)
                        .isEqualTo(expected);
                BitSet some = new BitSet();
                some.set(work);
                BitSet behind = graph.behind(some);
                for (int from = 0; from < works; from++) {
                    assertThat(behind.get(from))
                            .as("seed %d round %d", seed, round)
                            .isEqualTo(from == work || reaches[from][work]);
                }
                if (expected) {
                    var cycle = graph.cycle(work, deadlocked);
                    for (int i = 0; i < cycle.size(); i++) {
                        assertThat(edges[cycle.get(i).waiter()][
                                        cycle.get((i + 1) % cycle.size()).waiter()])
                                .as("seed %d round %d", seed, round)
                                .isTrue();
                    }
                }
            }
        }
    }

    @Test
    void aChainOfAMillionTakesNoStack() {
        int works = 1_000_000;
        WaitGraph graph = new WaitGraph(works);
        for (int i = 1; i < works; i++) {
            graph.add(i, i - 1, null);
        }
        BitSet first = new BitSet();
        first.set(0);
        assertThat(graph.behind(first).cardinality()).isEqualTo(works);
        assertThat(graph.deadlocked().isEmpty()).isTrue();
        graph.add(0, works - 1, null);
        assertThat(graph.cycle(5, graph.deadlocked())).hasSize(works);
    }
}
