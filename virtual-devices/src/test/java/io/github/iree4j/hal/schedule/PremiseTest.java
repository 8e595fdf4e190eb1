package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.schedule.Premise.Basis;
import io.github.iree4j.hal.storage.StorageRequest;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Proofs of a premise and non-proofs, operations with premises, and operations that begin too early. */
class PremiseTest {
    private static final IreeException CAUSE = IreeException.of(StatusCode.ABORTED, "on purpose");
    private static final long WAITED = 3;
    private static final long PROMISED = 5;
    private static final long EPOCH = 2;

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder().build();
    private final Passing hardware = new Passing();
    private final FifoScheduler producer = (FifoScheduler) QueueScheduler.create(domain, device, device, hardware);
    private final FifoScheduler consumer =
            (FifoScheduler) QueueScheduler.create(domain, device, device, new RecordingStream());
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final Premise promise = promise(producer);
    private final Premise memory = new Premise.Memory(Frontier.of(producer.axis(), EPOCH));

    /** Reports the progress. */
    private static final class Passing extends RecordingStream {
        private long passed;
        private boolean foreignPassed;

        @Override
        public boolean hasPassed(long epoch) {
            return epoch <= passed;
        }

        @Override
        public boolean hasPassedExternal(Object primitive) {
            return foreignPassed;
        }
    }

    private Premise promise(FifoScheduler asked) {
        return new Premise.Promise(timeline, WAITED, PROMISED, producer.axis(), EPOCH, Basis.DEVICE_WAIT, asked);
    }

    @AfterEach
    void closeAll() {
        timeline.close();
        device.close();
        tracker.close();
    }

    @Test
    void aPromiseIsNotProvedByLowerValues() {
        assertThat(promise.holds(domain)).isFalse();
        timeline.signal(WAITED);
        hardware.passed = EPOCH - 1;
        tracker.advance(producer.axis(), EPOCH - 1);
        assertThat(promise.holds(domain)).isFalse();
    }

    @Test
    void aPromiseIsProvedByItsValue() {
        timeline.signal(PROMISED);
        assertThat(promise.holds(domain)).isTrue();
    }

    @Test
    void aPromiseIsProvedByItsEpoch() {
        tracker.advance(producer.axis(), EPOCH);
        assertThat(promise.holds(domain)).isTrue();
    }

    @Test
    void aPromiseIsProvedByTheProgressOfTheHardware() {
        hardware.passed = EPOCH;
        assertThat(promise.holds(domain)).isTrue();
    }

    @Test
    void aPromiseFoundToBeOverNeedsNoProof() {
        assertThat(promise(consumer).holds(domain)).isTrue();
    }

    @Test
    void aPromiseOfAFailedTimelineIsNotBroken() {
        timeline.fail(CAUSE);
        assertThat(promise.holds(domain)).isTrue();
    }

    @Test
    void aPromiseOfALostQueueIsNotBroken() {
        tracker.fail(producer.axis(), CAUSE);
        assertThat(promise.holds(domain)).isTrue();
    }

    @Test
    void memoryIsFreeOnceItsUserIsOverOrPassedAndNoSooner() {
        assertThat(new Premise.Memory(Frontier.EMPTY).holds(domain)).isTrue();
        hardware.passed = EPOCH - 1;
        assertThat(memory.holds(domain)).isFalse();
        hardware.passed = EPOCH;
        assertThat(memory.holds(domain)).isTrue();
        hardware.passed = 0;
        tracker.advance(producer.axis(), EPOCH);
        assertThat(memory.holds(domain)).isTrue();
    }

    @Test
    void ofMemoryUsedByAClosedQueueNothingCanBeAsked() {
        producer.submit(null, null, Nothing::new); // in flight: its axis is not retired
        producer.close();
        assertThat(memory.holds(domain)).isTrue();
    }

    @Test
    void memoryOfALostQueueIsNotBroken() {
        tracker.fail(producer.axis(), CAUSE);
        assertThat(memory.holds(domain)).isTrue();
    }

    @Test
    void foreignWorkIsProvedByTheValueOrByTheProgressOfTheHardware() {
        Premise foreign = new Premise.Foreign(timeline, WAITED, "an event", hardware);
        assertThat(foreign.holds(domain)).isFalse();
        hardware.foreignPassed = true;
        assertThat(foreign.holds(domain)).isTrue();
        hardware.foreignPassed = false;
        timeline.signal(WAITED);
        assertThat(foreign.holds(domain)).isTrue();
    }

    @Test
    void failedForeignWorkIsNotBroken() {
        timeline.fail(CAUSE);
        assertThat(new Premise.Foreign(timeline, WAITED, "an event", hardware).holds(domain))
                .isTrue();
    }

    @Test
    void entriesBroughtByAFrontierAreToBeOverOrPassed() {
        long other = domain.axes().allocate(CausalDomain.QUEUE); // an axis without a queue to ask
        tracker.register(other);
        Frontier both = Frontier.of(other, 1).merge(Frontier.of(producer.axis(), EPOCH), 2);
        Premise imported = new Premise.Imported("a wait", both);
        hardware.passed = EPOCH - 1;
        assertThat(imported.holds(domain)).isFalse();
        hardware.passed = EPOCH;
        assertThat(imported.holds(domain)).isTrue();
        QueueScheduler second = QueueScheduler.create(domain, device, device, new Passing());
        Premise ofTwo = new Premise.Imported(
                "a wait", Frontier.of(producer.axis(), EPOCH).merge(Frontier.of(second.axis(), 1), 2));
        assertThat(ofTwo.holds(domain)).as("the second is not complete").isFalse();
        tracker.advance(second.axis(), 1);
        assertThat(ofTwo.holds(domain)).isTrue();
    }

    @Test // PREM-2
    void anOperationOfAnUnorderedQueueBegunBeforeItsWaitIsReachedFails() {
        assumeTrue(Boolean.getBoolean("iree4j.causal.assert"), "premises are not asserted");
        QueueScheduler workers = QueueScheduler.create(domain, device, device, (UnorderedBackend) operation -> {});
        try (Fence wait = Fence.at(timeline, WAITED)) {
            Nothing early = new Nothing();
            early.wait = wait;
            workers.assertPremises(early); // as if handed over
            assertThat(early.failure())
                    .isNotNull()
                    .hasMessageContaining("does not hold: timeline")
                    .hasMessageContaining("is at 0, waited for at 3");
            timeline.signal(WAITED);
            Nothing inTime = new Nothing();
            inTime.wait = wait;
            workers.assertPremises(inTime);
            assertThat(inTime.failure()).isNull();
        }
    }

    @Test
    void workStartedByAnUnorderedQueueOnAnEarlyFrontierFails() {
        assumeTrue(Boolean.getBoolean("iree4j.causal.assert"), "premises are not asserted");
        List<QueueOperation> started = new ArrayList<>();
        QueueScheduler workers = QueueScheduler.create(domain, device, device, (UnorderedBackend) started::add);
        timeline.signal(1, Frontier.producedBy(producer.axis(), EPOCH)); // which is not complete
        try (TimelineSemaphore done = TimelineSemaphore.create(0);
                Fence wait = Fence.at(timeline, 1);
                Fence signal = Fence.at(done, 1)) {
            workers.submit(wait, signal, Nothing::new);
            assertThat(started).isEmpty();
            assertThat(done.failure())
                    .isNotNull()
                    .hasMessageContaining("what it waited for brought")
                    .hasMessageContaining("which is not over");
        }
    }

    @Test
    void aStreamRestsOnTheFrontiersOfItsWaits() {
        assumeTrue(Boolean.getBoolean("iree4j.causal.assert"), "premises are not asserted");
        Frontier ahead = Frontier.producedBy(producer.axis(), EPOCH);
        timeline.signal(1, ahead);
        try (Fence wait = Fence.at(timeline, 1)) {
            Nothing operation = new Nothing();
            consumer.submit(wait, null, () -> operation);
            assertThat(operation.premises).containsExactly(Premise.Imported.of(timeline, 1, ahead));
            consumer.assertPremises(operation);
            assertThat(operation.failure()).isNotNull().hasMessageContaining("timeline %d at 1 brought", timeline.id());
        }
    }

    @Test // PREM-3
    void aWaitForForeignWorkEndingDuringItsDecisionIsDecidedAgain() {
        String event = "an event";
        List<Object> letGo = new ArrayList<>();
        RecordingStream stream = new RecordingStream() {
            private int asked;

            @Override
            public boolean canWaitForExternal(Object primitive) {
                return true;
            }

            @Override
            public boolean keepExternal(Object primitive) {
                if (++asked == 2) {
                    timeline.signalExternal(PROMISED); // and it is closed
                    return false;
                }
                return true;
            }

            @Override
            public void letGoExternal(Object primitive) {
                letGo.add(primitive);
            }
        };
        QueueScheduler queue = QueueScheduler.create(domain, device, device, stream);
        try (TimelineSemaphore other = TimelineSemaphore.create(0);
                Fence waits = Fence.of(List.of(new Fence.Entry(other, 1), new Fence.Entry(timeline, WAITED)))) {
            assertThat(timeline.promiseExternal(PROMISED, event)).isTrue();
            assertThat(other.promiseExternal(1, "another")).isTrue();
            Nothing operation = new Nothing();
            queue.submit(waits, null, () -> operation);
            assertThat(letGo).as("with each decision").containsExactly("another", "another");
            assertThat(stream.entries).containsExactly("wait for 0", operation.name());
            assertThat(operation.premises).hasSize(1);
            assertThat(operation.failure()).isNull();
        }
    }

    @Test
    void workBegunOnABrokenPremiseFails() {
        assumeTrue(Boolean.getBoolean("iree4j.causal.assert"), "premises are not asserted");
        Nothing early = new Nothing();
        early.premises = List.of(promise);
        consumer.assertPremises(early);
        assertThat(early.failure()).isNotNull().hasMessageContaining("does not hold: timeline");
        Nothing inTime = new Nothing();
        inTime.premises = List.of(promise);
        timeline.signal(PROMISED);
        consumer.assertPremises(inTime);
        assertThat(inTime.failure()).isNull();
    }

    @Test
    void anOperationRestsOnEachUnreachedWait() {
        timeline.signal(1);
        try (Fence reached = Fence.at(timeline, 1);
                Fence produced = Fence.at(timeline, 2)) {
            Nothing after = new Nothing();
            consumer.submit(reached, null, () -> after);
            assertThat(after.premises).isNull();
            producer.submit(null, produced, Nothing::new);
            assertThat(resting(producer, produced)).containsExactly(Basis.STREAM_ORDER);
            assertThat(resting(consumer, produced)).containsExactly(Basis.DEVICE_WAIT);
            assertThat(resting(consumer, produced)).containsExactly(Basis.STREAM_FRONTIER);
        }
    }

    private static List<Basis> resting(FifoScheduler queue, Fence wait) {
        Nothing operation = new Nothing();
        queue.submit(wait, null, () -> operation);
        List<Premise> premises = operation.premises;
        assertThat(premises).isNotNull();
        return premises.stream()
                .filter(Premise.Promise.class::isInstance)
                .map(each -> ((Premise.Promise) each).basis())
                .toList();
    }

    @Test
    void anOperationRestsOnTheLastUserOfItsMemory() {
        Reusing operation = new Reusing(Frontier.of(producer.axis(), EPOCH));
        consumer.submit(null, null, () -> operation);
        assertThat(operation.premises).containsExactly(memory);
        Reusing fresh = new Reusing(Frontier.EMPTY);
        consumer.submit(null, null, () -> fresh);
        assertThat(fresh.premises).isNull();
    }

    @Test
    void memoryIsAskedForAsByWorkBehindTheStreamAndTheWaits() {
        try (Fence produced = Fence.at(timeline, 1)) {
            producer.submit(null, produced, Nothing::new);
            consumer.submit(null, null, Nothing::new);
            Reusing operation = new Reusing(Frontier.EMPTY);
            consumer.submit(produced, null, () -> operation);
            assertThat(operation.after.epochOf(producer.axis())).isEqualTo(1);
            assertThat(operation.after.epochOf(consumer.axis())).isEqualTo(1);
        }
    }

    @Test
    void aStreamKnowsItsWaitsOnBehalfOfMemory() {
        try (Fence produced = Fence.at(timeline, 1)) {
            producer.submit(null, produced, Nothing::new);
            Reusing operation = new Reusing(Frontier.EMPTY);
            operation.marks =
                    List.of(new NativeTimepoint(producer, producer.axis(), 1, Frontier.producedBy(producer.axis(), 1)));
            consumer.submit(null, null, () -> operation);
            assertThat(resting(consumer, produced)).containsExactly(Basis.STREAM_FRONTIER);
        }
    }

    /** Reuses memory. */
    private static final class Reusing extends Nothing implements StorageRequest {
        private final Frontier death;
        private List<NativeTimepoint> marks = List.of();
        private Frontier after = Frontier.EMPTY;

        Reusing(Frontier death) {
            this.death = death;
        }

        @Override
        public boolean tryReservePresent(Frontier after, NativeTimepoints timepoints) {
            this.after = after;
            return true;
        }

        @Override
        public boolean tryReserve(Frontier after, NativeTimepoints timepoints) {
            return true;
        }

        @Override
        public void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done) {
            throw new AssertionError("there is some");
        }

        @Override
        public List<NativeTimepoint> marks() {
            return marks;
        }

        @Override
        public Frontier premise() {
            return death;
        }

        @Override
        public void issued(Frontier frontier) {}
    }
}
