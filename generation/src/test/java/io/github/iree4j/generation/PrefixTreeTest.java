package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.generation.PrefixTree.Node;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class PrefixTreeTest {
    private static final int STRIDE = 2;

    /** Compares the tree with a map from the tokens up to the end of a page to the page. */
    @Test
    void aPathHasThePagesOfTheTokensWhateverIsEvicted() {
        int trials = Effort.rounds(800, 20_000);
        long seed = Effort.seed(PrefixTreeTest.class, trials + " trees", 48);
        for (int trial = 0; trial < trials; trial++) {
            SplittableRandom random = new SplittableRandom(seed + trial);
            PrefixTree tree = new PrefixTree(STRIDE);
            Map<String, Integer> pages = new HashMap<>();
            List<List<Node>> pinned = new ArrayList<>();
            Set<Integer> pinnedPages = new HashSet<>();
            int next = 1;
            for (int step = 0; step < 200; step++) {
                int[] tokens = random.ints(8, 0, 2).toArray();
                List<Node> path = new ArrayList<>(tree.match(tokens, random.nextInt(5)));
                tree.pin(path);
                for (int i = 0; i < path.size(); i++) {
                    assertThat(path.get(i).page())
                            .as("seed %d, trial %d", seed, trial)
                            .isEqualTo(pages.get(prefix(tokens, i)));
                }
                while (path.size() < 4 && random.nextInt(4) > 0) {
                    Node node = tree.extend(path, tokens, next);
                    String prefix = prefix(tokens, path.size());
                    path.add(node);
                    assertThat(node.page()).isEqualTo(pages.computeIfAbsent(prefix, _ -> node.page()));
                    next++;
                }
                pinned.add(path);
                while (pinned.size() > 3) {
                    List<Node> removed = pinned.remove(random.nextInt(pinned.size()));
                    if (random.nextInt(4) > 0) {
                        List<Node> other = tree.match(random.ints(8, 0, 2).toArray(), random.nextInt(5));
                        int freed = PrefixTree.freed(removed, other);
                        tree.pin(other);
                        int before = tree.idlePages();
                        tree.unpin(removed);
                        assertThat(tree.idlePages()).isEqualTo(before + freed);
                        tree.unpin(other);
                        continue;
                    }
                    for (int page : tree.discard(removed)) {
                        assertThat(pages.values().remove(page)).isTrue();
                        pinned.forEach(each ->
                                each.forEach(node -> assertThat(node.page()).isNotEqualTo(page)));
                    }
                }
                pinnedPages.clear();
                pinned.forEach(each -> each.forEach(node -> pinnedPages.add(node.page())));
                assertThat(tree.idlePages()).isEqualTo(pages.size() - pinnedPages.size());
                while (tree.idlePages() > 0 && random.nextInt(3) == 0) {
                    int evicted = tree.evict();
                    assertThat(pinnedPages).doesNotContain(evicted);
                    assertThat(pages.values().remove(evicted)).isTrue();
                }
            }
            pinned.forEach(tree::unpin);
            while (tree.idlePages() > 0) {
                assertThat(pages.values().remove(tree.evict())).isTrue();
            }
            assertThat(pages).isEmpty();
        }
    }

    private static String prefix(int[] tokens, int page) {
        return Arrays.toString(Arrays.copyOf(tokens, (page + 1) * STRIDE));
    }

    @Test
    void thePageUnusedForTheLongestTimeIsEvictedFirst() {
        PrefixTree tree = new PrefixTree(1);
        List<Node> first = new ArrayList<>(List.of(tree.extend(List.of(), new int[] {1}, 1)));
        List<Node> second = new ArrayList<>(List.of(tree.extend(List.of(), new int[] {2}, 2)));
        tree.unpin(first);
        tree.unpin(second);
        List<Node> again = tree.match(new int[] {1}, 1);
        tree.pin(again);
        tree.unpin(again);
        assertThat(tree.evict()).isEqualTo(2);
        assertThat(tree.evict()).isEqualTo(1);
    }
}
