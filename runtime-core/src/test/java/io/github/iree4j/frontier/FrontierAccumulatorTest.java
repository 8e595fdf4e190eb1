package io.github.iree4j.frontier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FrontierAccumulatorTest {
    private final AxisAllocator allocator = AxisAllocator.create(1, 0);
    private final long queue = allocator.allocate(CausalDomain.QUEUE);
    private final long other = allocator.allocate(CausalDomain.QUEUE);
    private final long third = allocator.allocate(CausalDomain.QUEUE);
    private final Map<Long, Long> done = new HashMap<>();
    private final CompletedEpochs completed = axis -> done.getOrDefault(axis, 0L);

    @Test
    void operationInheritsEverythingJoinedBefore() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        accumulator.issue(1, completed);
        accumulator.join(Frontier.producedBy(third, 2), completed);
        Frontier second = accumulator.issue(2, completed);
        assertThat(second).hasToString("{queue:0@m0.s1=2*, queue:1@m0.s1=5, queue:2@m0.s1=2}");
        assertThat(accumulator.covers(other, 5, completed)).isTrue();
        assertThat(accumulator.covers(other, 6, completed)).isFalse();
        assertThat(accumulator.covers(queue, 2, completed)).isTrue();
        done.put(other, 6L);
        assertThat(accumulator.covers(other, 6, completed)).isTrue();
    }

    @Test
    void epochsMustIncrease() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        accumulator.issue(3, completed);
        assertThatThrownBy(() -> accumulator.issue(3, completed))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessage("epoch of 'queue:0@m0.s1' must increase: 3 -> 3");
    }

    @Test
    void completedEntriesGoBeforeAnyIsEvicted() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 2);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        accumulator.issue(1, completed);
        done.put(other, 5L);
        accumulator.join(Frontier.producedBy(third, 1), completed);
        assertThat(accumulator.issue(2, completed)).hasToString("{queue:0@m0.s1=2*, queue:2@m0.s1=1}");
        assertThat(accumulator.isTainted()).isFalse();
    }

    @Test
    void ownEntryIsNotEvictedHoweverSmall() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 2);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        accumulator.join(Frontier.producedBy(third, 9), completed);
        assertThat(accumulator.issue(1, completed)).hasToString("{queue:0@m0.s1=1*, queue:2@m0.s1=9} tainted");
    }

    @Test
    void taintOfEvictionEndsWhenTheEvictedEntryHasCompleted() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 2);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        accumulator.join(Frontier.producedBy(third, 9), completed);
        assertThat(accumulator.issue(10, completed).isTainted())
                .as("other=5 did not fit")
                .isTrue();
        done.put(other, 4L);
        assertThat(accumulator.issue(11, completed).isTainted()).isTrue();
        done.put(other, 5L);
        Frontier clean = accumulator.issue(12, completed);
        assertThat(clean.isTainted()).isFalse();
        assertThat(clean.reaches(third, 9)).isEqualTo(Known.YES);
    }

    @Test
    void taintOfAnImportEndsWhenItsProducerHasCompleted() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        accumulator.join(Frontier.producedBy(other, 5).tainted(), completed);
        accumulator.join(Frontier.producedBy(third, 1), completed);
        assertThat(accumulator.issue(1, completed).isTainted()).isTrue();
        done.put(other, 5L);
        assertThat(accumulator.issue(2, completed).isTainted()).isFalse();
    }

    @Test
    void externalTaintEndsWhenTheNextOperationHasCompleted() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        accumulator.join(Frontier.UNKNOWN, completed);
        assertThat(accumulator.snapshot(completed).isTainted()).isTrue();
        accumulator.issue(1, completed);
        accumulator.join(Frontier.producedBy(other, 7), completed);
        assertThat(accumulator.issue(2, completed).isTainted()).isTrue();
        done.put(queue, 1L);
        Frontier clean = accumulator.issue(3, completed);
        assertThat(clean.isTainted())
                .as("the external signal came before operation 1")
                .isFalse();
        assertThat(clean.reaches(other, 7)).isEqualTo(Known.YES);
    }

    @Test
    void completedFrontierAddsNothingNotEvenTaint() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        done.put(other, 5L);
        accumulator.join(Frontier.producedBy(other, 5).tainted(), completed);
        assertThat(accumulator.issue(1, completed)).isEqualTo(Frontier.producedBy(queue, 1));
    }

    @Test
    void idleQueueDropsEverything() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 2);
        accumulator.join(Frontier.UNKNOWN, completed);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        accumulator.join(Frontier.producedBy(third, 5), completed);
        accumulator.issue(1, completed);
        done.put(queue, 1L);
        assertThat(accumulator.snapshot(completed)).isEqualTo(Frontier.EMPTY);
        assertThat(accumulator.isTainted()).isFalse();
    }

    @Test
    void joinsOfTheNextOperationSurviveCompletionOfEarlierOnes() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        accumulator.issue(1, completed);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        done.put(queue, 1L);
        assertThat(accumulator.issue(2, completed).reaches(other, 5)).isEqualTo(Known.YES);
    }

    @Test
    void taintOfALostAxisEndsWithTheNextOperation() {
        for (boolean evicted : new boolean[] {true, false}) {
            FrontierAccumulator accumulator = new FrontierAccumulator(allocator.allocate(CausalDomain.QUEUE), 2);
            long own = accumulator.axis();
            if (evicted) {
                accumulator.join(Frontier.producedBy(other, 5), completed); // of a lost device
                accumulator.join(Frontier.producedBy(third, 7), completed);
            } else {
                accumulator.join(Frontier.producedBy(other, 5).tainted(), completed);
            }
            assertThat(accumulator.issue(1, completed).isTainted()).isTrue();
            assertThat(accumulator.issue(2, completed).isTainted()).isTrue();
            done.put(own, 1L); // never all of them
            assertThat(accumulator.issue(3, completed).isTainted())
                    .as("evicted: %s", evicted)
                    .isFalse();
        }
    }

    @Test
    void excessDebtsArePaidByTheOwnOperation() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 1);
        long[] axes = new long[100];
        for (int i = 0; i < axes.length; i++) {
            axes[i] = allocator.allocate(CausalDomain.QUEUE);
            accumulator.join(Frontier.producedBy(axes[i], 1), completed);
        }
        accumulator.issue(1, completed);
        for (long axis : axes) {
            assertThat(accumulator.issue(accumulator.issued() + 1, completed).isTainted())
                    .isTrue();
            done.put(axis, 1L);
        }
        done.put(queue, 1L);
        assertThat(accumulator.issue(accumulator.issued() + 1, completed).isTainted())
                .isFalse();
    }

    /** Taint is a window: a window opens when more is in flight than fits and closes each time all has completed. */
    @Test
    void taintComesAndGoesOverAMillionOperationsOnMoreAxesThanFit() {
        int axisCount = 30;
        long[] axes = new long[axisCount];
        for (int i = 0; i < axisCount; i++) {
            axes[i] = allocator.allocate(CausalDomain.QUEUE);
        }
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 12);
        int windows = 0;
        int provedAfterWindow = 0;
        boolean wasTainted = false;
        for (int i = 1; i <= 1_000_000; i++) {
            long axis = axes[i % axisCount];
            Frontier wait = Frontier.producedBy(axis, i);
            accumulator.join(i % 1_000 == 0 ? wait.tainted() : wait, completed);
            Frontier frontier = accumulator.issue(i, completed);
            if (wasTainted && !frontier.isTainted()) {
                windows++;
                provedAfterWindow += accumulator.snapshot(completed).dominates(frontier) ? 1 : 0;
            }
            wasTainted = frontier.isTainted();
            if (i % 50 == 0) { // the axes complete, our own operations never all do
                for (int j = i - 49; j <= i; j++) {
                    done.put(axes[j % axisCount], (long) j);
                }
                done.put(queue, i - 25L);
            }
        }
        assertThat(windows).as("times that taint ended").isEqualTo(1_000_000 / 50 - 1);
        assertThat(provedAfterWindow).isEqualTo(windows);
    }

    @Test
    void completedEntriesAreNotJoined() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue);
        done.put(other, 5L);
        accumulator.join(Frontier.producedBy(other, 5), completed);
        accumulator.join(Frontier.of(other, 4), completed);
        assertThat(accumulator.merges()).isZero();
        assertThat(accumulator.issue(1, completed)).hasToString("{queue:0@m0.s1=1*}");
        accumulator.join(Frontier.of(other, 6), completed);
        assertThat(accumulator.merges()).isEqualTo(1);
    }

    @Test
    void debtPaidByTheOwnOperationIsDropped() {
        FrontierAccumulator accumulator = new FrontierAccumulator(queue, 2);
        long lost = allocator.allocate(CausalDomain.QUEUE);
        accumulator.join(Frontier.producedBy(lost, 1), completed); // its axis never reaches the epoch
        accumulator.join(Frontier.producedBy(third, 9), completed);
        assertThat(accumulator.issue(10, completed).isTainted()).isTrue();
        done.put(queue, 10L);
        accumulator.join(Frontier.producedBy(other, 11), completed);
        assertThat(accumulator.isTainted()).isFalse();
        accumulator.join(Frontier.producedBy(third, 12), completed);
        assertThat(accumulator.issue(13, completed).isTainted())
                .as("other=11 did not fit")
                .isTrue();
        done.put(other, 11L);
        assertThat(accumulator.issue(14, completed).isTainted()).isFalse();
    }
}
