package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.AllocatedBytes;
import io.github.iree4j.status.Known;
import org.junit.jupiter.api.Test;

/** The size of frontiers and the allocations of their operations, measured as bytes allocated by this thread. */
class FrontierFootprintTest {
    private static volatile Object sink = "";
    private static volatile boolean flag;

    private static long[] axes(int count, int machines) {
        long[] axes = new long[count];
        for (int i = 0; i < count; i++) {
            axes[i] = Axis.of(1, i * machines / count, CausalDomain.QUEUE, 1_000 + i);
        }
        return axes;
    }

    private static long[] epochs(int count) {
        long[] epochs = new long[count];
        for (int i = 0; i < count; i++) {
            epochs[i] = 1_000_000_000_000L + i;
        }
        return epochs;
    }

    /** Object with separate epochs and axes: 24 + (16 + 12 * 8) + (16 + 12 * 4). */
    @Test
    void frontierOfTwelveEntriesTakesAtMost200BytesIncludingItsArrays() {
        AllocatedBytes.assumeDefaultLayout();
        long[] axes = axes(12, 1);
        long[] epochs = epochs(12);
        double bytes = AllocatedBytes.perCall(() -> sink = Frontier.ofSorted(axes, epochs.clone(), Frontier.TAINTED));
        assertThat(bytes).isBetween(150.0, 200.0);
    }

    @Test
    void frontierOfASingleEntryIsASingleObjectOf32Bytes() {
        AllocatedBytes.assumeDefaultLayout();
        Frontier first = Frontier.producedBy(axes(1, 1)[0], 1);
        long[] next = {1};
        assertThat(AllocatedBytes.perCall(() -> sink = first.producedAt(++next[0])))
                .isBetween(31.0, 33.0);
    }

    @Test
    void snapshotsOfAQueueShareTheirAxes() {
        AllocatedBytes.assumeDefaultLayout();
        MutableFrontier gathered = new MutableFrontier();
        gathered.merge(Frontier.ofSorted(axes(12, 1), epochs(12), 0));
        assertThat(AllocatedBytes.perCall(() -> sink = gathered.snapshot())).isBetween(100.0, 136.0);
    }

    @Test
    void frontierAcrossMachinesTakesItsWholeAxes() {
        AllocatedBytes.assumeDefaultLayout();
        long[] axes = axes(12, 3);
        long[] epochs = epochs(12);
        Frontier wide = Frontier.ofSorted(axes, epochs, 0);
        assertThat(wide).isInstanceOf(WideFrontier.class);
        double bytes = AllocatedBytes.perCall(() -> sink = Frontier.ofSorted(axes, epochs.clone(), 0));
        assertThat(bytes).isBetween(200.0, 248.0);
    }

    @Test
    void comparingAndProvingAllocateNothing() {
        Frontier left = Frontier.ofSorted(axes(12, 1), epochs(12), 0);
        Frontier right = Frontier.ofSorted(axes(12, 1), epochs(12), 1 << Frontier.PRODUCER_SHIFT);
        Frontier other = Frontier.ofSorted(axes(9, 3), epochs(9), 0);
        CompletedEpochs completed = axis -> Axis.ordinal(axis) * 1_000_000_000L;
        assertThat(AllocatedBytes.perCall(() -> {
                    flag = left.compare(right) == FrontierOrder.EQUAL;
                    flag = left.compare(other) == FrontierOrder.EQUAL;
                    flag = left.dominates(right);
                    flag = other.dominates(right);
                    flag = left.covers(other, completed);
                    flag = other.covers(left, completed);
                    flag = right.isCompleted(completed);
                    flag = left.reaches(right.producerAxis(), right.producerEpoch()) == Known.YES;
                }))
                .isLessThan(0.5);
    }

    @Test
    void joiningTheSameAxesAgainAllocatesNothing() {
        MutableFrontier gathered = new MutableFrontier();
        Frontier source = Frontier.ofSorted(axes(12, 1), epochs(12), 0);
        assertThat(AllocatedBytes.perCall(() -> gathered.merge(source))).isLessThan(0.5);
    }
}
