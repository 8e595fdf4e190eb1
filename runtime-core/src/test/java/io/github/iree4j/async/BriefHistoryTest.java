package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.ObjLongConsumer;
import org.junit.jupiter.api.Test;

/** SCOPE-1: the history of a timeline during exclusive use by a queue, and after another party has joined. */
class BriefHistoryTest {
    private static final long HOME = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final long OTHER = Axis.of(1, 0, CausalDomain.QUEUE, 1);

    private final TreeMap<Long, Frontier> promised = new TreeMap<>();
    private final List<Frontier> seen = new ArrayList<>();
    private int recalls;
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final Object device = new Object();
    private final QueuePlace home = new QueuePlace(HOME, device, device, new Queue());
    private final QueuePlace other = new QueuePlace(OTHER, device, device);

    /** Remembers promises, as pending operations do. */
    private final class Queue implements PromiseSource {
        @Override
        public void recall(TimelineSemaphore semaphore, ObjLongConsumer<Frontier> promises) {
            assertThat(semaphore).isSameAs(timeline);
            recalls++;
            promised.forEach((value, frontier) -> promises.accept(frontier, value));
        }

        @Override
        public void seen(Frontier promise) {
            seen.add(promise);
        }
    }

    private static Frontier own(long epoch) {
        return Frontier.producedBy(HOME, epoch);
    }

    /** The home queue promises values in order, one value per operation. */
    private void promise(int from, int to) {
        timeline.checkUse(home);
        for (long value = from; value <= to; value++) {
            promised.put(value, own(value));
            assertThat(timeline.promise(value, own(value))).isTrue();
        }
    }

    private void signal(int from, int to) {
        for (long value = from; value <= to; value++) {
            timeline.signal(value, own(value));
            promised.remove(value);
        }
    }

    private void assertEpochs(int from, int to) {
        for (long value = from; value <= to; value++) {
            assertThat(timeline.frontierAt(value)).as("at %d", value).isEqualTo(own(value));
        }
    }

    @Test
    void aQueueAloneKeepsOnlyItsLastSignalAndPromise() {
        promise(1, 100);
        assertThat(timeline.historySize()).isZero();
        assertThat(timeline.frontierAt(1)).as("true, though less tight").isEqualTo(own(100));
        assertThat(timeline.frontierAt(101)).isNull();
        signal(1, 60);
        assertThat(timeline.historySize()).isZero();
        assertThat(timeline.frontierAt(60)).isEqualTo(own(60));
        assertThat(timeline.frontierAt(3)).as("over, like everything before").isEqualTo(own(60));
        assertThat(timeline.frontierAt(61)).isEqualTo(own(100));
        assertThat(timeline.isTainted(60)).isFalse();
        assertThat(timeline.watermark()).isEqualTo(60);
        signal(61, 100);
        assertThat(timeline.frontierAt(100)).isEqualTo(own(100));
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.QUEUE_LOCAL);
        assertThat(recalls).isZero();
    }

    @Test
    void aTimelineOfASingleValueIsExactWithoutRecall() {
        promise(1, 1);
        timeline.checkUse(other);
        assertEpochs(1, 1);
        assertThat(recalls).isZero();
        assertThat(seen).containsExactly(own(1));
        signal(1, 1);
        assertEpochs(1, 1);
    }

    @Test
    void aFenceOfAnotherQueueLosesNoPromise() {
        promise(1, 9);
        try (TimelineSemaphore second = TimelineSemaphore.create(0);
                Fence fence = Fence.of(List.of(new Fence.Entry(timeline, 1), new Fence.Entry(second, 1)))) {
            fence.signalOrFail(Frontier.producedBy(OTHER, 1));
        }
        assertEpochs(2, 9);
        assertThat(recalls).isEqualTo(1);
    }

    @Test
    void anotherQueueFindsEveryRecalledPromise() {
        promise(1, 9);
        signal(1, 4);
        timeline.checkUse(other);
        assertEpochs(4, 9);
        assertThat(recalls).isEqualTo(1);
        assertThat(seen).containsExactly(own(5), own(6), own(7), own(8), own(9));
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.DEVICE_LOCAL);
        promise(10, 12);
        signal(5, 11);
        assertEpochs(4, 12);
        timeline.checkUse(other);
        assertThat(recalls).as("once").isEqualTo(1);
    }

    @Test
    void aHistoryIsCompleteOnceAllPromisesAreSignalled() {
        promise(1, 9);
        signal(1, 9);
        timeline.checkUse(other);
        assertThat(recalls).isZero();
        assertEpochs(9, 9);
    }

    @Test
    void aRequestedHistoryIsFullFromThenOn() {
        promise(1, 4);
        signal(1, 2);
        timeline.keepHistory();
        assertEpochs(2, 4);
        promise(5, 6);
        signal(3, 5);
        assertEpochs(2, 6);
        assertThat(seen).as("no other queue").isEmpty();
        timeline.checkUse(other);
        assertThat(seen).containsExactly(own(6));
        assertThat(recalls).isEqualTo(1);
    }

    @Test
    void aPromiseBelowAnEarlierPromiseOfTheSameQueueIsRecorded() {
        promise(5, 6);
        assertThat(timeline.promise(3, own(7))).isTrue();
        assertThat(timeline.promise(5, own(8))).as("promised already").isFalse();
        assertThat(timeline.frontierAt(1)).isEqualTo(own(7));
        assertThat(timeline.frontierAt(4)).isEqualTo(own(5));
    }

    @Test
    void signalsAndPromisesOfOthersAreDistinguishedFromTheQueues() {
        promise(1, 4);
        Frontier foreign = Frontier.producedBy(OTHER, 1);
        timeline.signal(2, foreign);
        assertThat(timeline.frontierAt(1)).isEqualTo(foreign);
        assertEpochs(3, 4);
        assertThat(timeline.promise(7, foreign)).isTrue();
        signal(3, 3);
        assertThat(timeline.frontierAt(2)).isEqualTo(foreign);
        assertEpochs(3, 4);
        assertThat(timeline.frontierAt(5)).isEqualTo(foreign);
    }

    @Test
    void hostSignalsCarryNoHistory() {
        timeline.checkUse(home);
        timeline.signal(1);
        timeline.signal(2);
        assertThat(timeline.frontierAt(1)).isSameAs(Frontier.EMPTY);
        assertThat(timeline.historySize()).isZero();
        promise(3, 4);
        timeline.signal(3);
        assertThat(timeline.frontierAt(3)).as("not taken as kept").isSameAs(Frontier.EMPTY);
        timeline.signal(4, own(4));
        assertThat(timeline.frontierAt(2)).isSameAs(Frontier.EMPTY);
        assertEpochs(4, 4);
    }

    @Test
    void onlyExternalSignalsAreTainted() {
        promise(1, 3);
        signal(1, 2);
        timeline.signalExternal(5);
        assertThat(timeline.isTainted(2)).isFalse();
        assertThat(timeline.isTainted(3)).isTrue();
        assertEpochs(2, 2);
        assertThat(timeline.frontierAt(3)).isSameAs(Frontier.UNKNOWN);
        promise(6, 6);
        signal(6, 6);
        assertThat(timeline.isTainted(5)).isFalse();
        timeline.taintAbove(2);
        assertThat(timeline.isTainted(2)).isFalse();
        assertThat(timeline.isTainted(6)).isTrue();
        assertThat(timeline.frontierAt(6)).isSameAs(Frontier.UNKNOWN);
    }

    @Test
    void aPromisedValueTakesNoFurtherSignaller() {
        promise(1, 3);
        for (long value : new long[] {1, 2, 3}) {
            assertThatExceptionOfType(IreeException.class)
                    .as("at %d", value)
                    .isThrownBy(() -> timeline.addSignaller(value))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
        assertThat(timeline.promiseExternal(2, "primitive")).isFalse();
        timeline.addSignaller(4);
    }

    @Test
    void aFailedTimelineRecallsNoPromise() {
        promise(1, 3);
        timeline.fail(IreeException.of(StatusCode.ABORTED, "on purpose"));
        promised.put(7L, own(7));
        timeline.checkUse(other);
        assertThat(timeline.frontierAt(7)).isNull();
    }

    @Test
    void promiseWaitersHearOfBriefPromisesToo() {
        List<Long> told = new ArrayList<>();
        timeline.checkUse(home);
        timeline.whenPromised(2, (value, failure) -> told.add(value));
        promise(1, 1);
        assertThat(told).isEmpty();
        promise(2, 2);
        assertThat(told).containsExactly(2L);
        timeline.whenPromised(1, (value, failure) -> told.add(value));
        assertThat(told).hasSize(2);
    }

    @Test
    void scopesWidenAndNeverNarrow() {
        Object group = new Object();
        QueuePlace first = new QueuePlace(HOME, device, group);
        QueuePlace peer = new QueuePlace(OTHER, new Object(), group);
        timeline.checkUse(first);
        timeline.checkUse(first);
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.QUEUE_LOCAL);
        timeline.checkUse(peer);
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.DEVICE_GROUP);
        timeline.checkUse(new QueuePlace(OTHER + 1, device, group));
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.DEVICE_GROUP);
        timeline.checkUse(new QueuePlace(OTHER + 2, new Object(), new Object()));
        assertThat(timeline.usedScope()).isEqualTo(SemaphoreScope.PROCESS_LOCAL);
        assertThat(timeline.scope()).isEqualTo(SemaphoreScope.PROCESS_LOCAL);
    }

    @Test
    void aUseBeyondTheScopeWidensNothing() {
        TimelineSemaphore narrow =
                TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.QUEUE_LOCAL));
        narrow.checkUse(home);
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> narrow.checkUse(other));
        assertThat(narrow.usedScope()).isEqualTo(SemaphoreScope.QUEUE_LOCAL);
    }
}
