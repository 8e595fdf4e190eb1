package io.github.iree4j.hal.copying;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.Buffer;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Against a set of bits. */
class UsedRangesTest {
    private static final int BYTES = 64;

    @Test
    void exactlyTheNotedRangesAreUsed() {
        Random random = new Random(Effort.seed(UsedRangesTest.class, "ranges", 2000));
        for (int round = 0; round < Effort.rounds(2000); round++) {
            UsedRanges ranges = new UsedRanges();
            BitSet read = new BitSet();
            BitSet written = new BitSet();
            int bytes = random.nextInt(BYTES + 1);
            for (int i = random.nextInt(12); i > 0; i--) {
                int offset = random.nextInt(BYTES);
                boolean whole = random.nextInt(10) == 0;
                int length = random.nextInt(1 + Math.min(12, BYTES - offset));
                int end = whole ? Math.max(offset, bytes) : offset + length;
                if (random.nextBoolean()) {
                    ranges.reads(offset, whole ? Buffer.WHOLE : length);
                    read.set(offset, end);
                } else {
                    ranges.writes(offset, whole ? Buffer.WHOLE : length);
                    written.set(offset, end);
                }
            }
            check(ranges.read(bytes), read.get(0, bytes));
            check(ranges.written(bytes), written.get(0, bytes));
            BitSet used = read.get(0, bytes);
            used.or(written.get(0, bytes));
            assertThat(ranges.end(bytes)).isGreaterThanOrEqualTo(used.length()).isLessThanOrEqualTo(bytes);
        }
    }

    private static void check(List<UsedRanges.Range> ranges, BitSet expected) {
        BitSet seen = new BitSet();
        long last = -1;
        for (UsedRanges.Range each : ranges) {
            assertThat(each.offset())
                    .as("disjoint from and not adjacent to the previous range")
                    .isGreaterThan(last);
            last = each.offset() + each.length();
            seen.set((int) each.offset(), (int) last);
        }
        assertThat(seen).isEqualTo(expected);
    }
}
