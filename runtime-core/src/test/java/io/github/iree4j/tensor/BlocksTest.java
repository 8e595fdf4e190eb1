package io.github.iree4j.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Shape;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlocksTest {
    private static final long SEED = 4711;
    private final Random random = new Random(SEED);

    private long[] sizes(int rank, int least, int most) {
        return random.longs(rank, least, most + 1).toArray();
    }

    /** The place of each element by the indices. */
    private static Map<String, Integer> places(long[] shape) {
        Map<String, Integer> places = new HashMap<>();
        int count = (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        for (int at = 0; at < count; at++) {
            long[] index = new long[shape.length];
            int rest = at;
            for (int d = shape.length - 1; d >= 0; d--) {
                index[d] = rest % shape[d];
                rest /= (int) shape[d];
            }
            places.put(Arrays.toString(index), at);
        }
        return places;
    }

    @Test
    void theFirstElementsOfEachDimensionAreCopiedAndNoOthers() {
        System.out.println("seed " + SEED);
        for (int round = 0; round < 500; round++) {
            int rank = random.nextInt(5);
            long[] part = sizes(rank, 0, 3);
            long[] fromShape =
                    Arrays.stream(part).map(size -> size + random.nextInt(3)).toArray();
            long[] toShape =
                    Arrays.stream(part).map(size -> size + random.nextInt(3)).toArray();
            Map<String, Integer> source = places(fromShape);
            Map<String, Integer> target = places(toShape);
            short[] from = new short[source.size()];
            short[] to = new short[target.size()];
            short[] expected = new short[target.size()];
            for (int i = 0; i < from.length; i++) {
                from[i] = (short) (i + 1);
            }
            for (String index : places(part).keySet()) {
                expected[target.get(index)] = from[source.get(index)];
            }
            Blocks.copy(
                    MemorySegment.ofArray(from),
                    Shape.of(fromShape),
                    MemorySegment.ofArray(to),
                    Shape.of(toShape),
                    Shape.of(part),
                    2);
            assertThat(to)
                    .as("%s of %s into %s", Arrays.toString(part), Arrays.toString(fromShape), Arrays.toString(toShape))
                    .containsExactly(expected);
        }
    }

    @Test
    void leadingBlocksAreJustTheFirstBytes() {
        for (int round = 0; round < 2_000; round++) {
            long[] shape = sizes(random.nextInt(5), 1, 3);
            long[] part =
                    Arrays.stream(shape).map(size -> random.nextLong(size + 1)).toArray();
            Map<String, Integer> places = places(shape);
            Map<String, Integer> wanted = places(part);
            boolean first = wanted.entrySet().stream()
                    .allMatch(each -> places.get(each.getKey()).equals(each.getValue()));
            assertThat(Blocks.comeFirst(Shape.of(shape), Shape.of(part)))
                    .as("%s of %s", Arrays.toString(part), Arrays.toString(shape))
                    .isEqualTo(first);
        }
    }
}
