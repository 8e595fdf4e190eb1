package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which tokens the pages of a draft hold, while pages change hands. */
class DraftPagesTest {
    private static Sequence sequence(int[] pages, int... tokens) {
        Sequence sequence = new Sequence(new Generation(GenerationRequest.of(1, tokens), 0, 0));
        for (int page : pages) {
            sequence.addPage(page);
        }
        return sequence;
    }

    @Test
    void aPageWithTheSameTokensBehindOthersIsUnknown() {
        DraftPages pages = new DraftPages(2, 9);
        pages.read(sequence(new int[] {1, 2}, 1, 2, 3, 4), 0, 4);
        Sequence other = sequence(new int[] {5, 2}, 8, 8, 3, 4);
        assertThat(pages.known(other)).isZero();
        pages.read(other, 0, 2);
        assertThat(pages.known(other)).isEqualTo(2);
        assertThat(pages.known(sequence(new int[] {1, 2, 6}, 1, 2, 3, 4, 5))).isEqualTo(4);
    }

    @Test
    void pagesHoldTheLastReadTokens() {
        for (int seed = 0; seed < 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            int stride = random.nextInt(1, 4);
            DraftPages pages = new DraftPages(stride, 9);
            List<List<Integer>> held = new ArrayList<>(); // the tokens up to the end of the contents of each page
            IntStream.range(0, 9).forEach(_ -> held.add(List.of()));
            for (int turn = 0; turn < 60; turn++) {
                int[] table =
                        random.ints(1, 9).distinct().limit(random.nextInt(1, 6)).toArray();
                int length = random.nextInt(1, table.length * stride + 1);
                int[] tokens = random.ints(length, 0, 2).toArray();
                List<Integer> all = IntStream.of(tokens).boxed().toList();
                int known = 0;
                for (int at = 0; at < length; at++) {
                    List<Integer> there = held.get(table[at / stride]);
                    if (there.size() <= at
                            || there.size() > (at / stride + 1) * stride
                            || !there.subList(0, at + 1).equals(all.subList(0, at + 1))) {
                        break;
                    }
                    known = at + 1;
                }
                Sequence sequence = sequence(table, tokens);
                assertThat(pages.known(sequence)).as("seed %d", seed).isEqualTo(known);
                int from = random.nextInt(known + 1);
                int count = random.nextInt(length - from + 1);
                pages.read(sequence, from, count);
                for (int at = from; at < from + count; at++) {
                    held.set(table[at / stride], all.subList(0, at + 1));
                }
                if (random.nextInt(4) == 0) {
                    int forgotten = random.nextInt(1, 9);
                    pages.forget(forgotten);
                    held.set(forgotten, List.of());
                }
            }
        }
    }
}
