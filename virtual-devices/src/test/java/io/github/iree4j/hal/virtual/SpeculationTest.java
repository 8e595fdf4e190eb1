package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.SpeculationScope;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cancellations by the rejection of a guess. */
class SpeculationTest {
    private static final int DRAFT = 0;
    private static final int MAIN = 1;
    private static final int OTHER = 2; // FIFO
    private static final int SHARED = 3; // unordered

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(11, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final VirtualDevice device = VirtualDevice.builder()
            .clock(clock)
            .schedulingDomain(domain)
            .fifoQueues(3)
            .unorderedQueue(4)
            .script(new VirtualScript() {
                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return 2;
                }
            })
            .build();
    private final SpeculationScope scope = SpeculationScope.open(device.queue(DRAFT), device.queue(MAIN));

    @AfterEach
    void closeAll() throws Exception {
        scope.close();
        device.close();
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        tracker.close();
    }

    private TimelineSemaphore semaphore() {
        TimelineSemaphore semaphore = TimelineSemaphore.create(0);
        toClose.add(semaphore);
        return semaphore;
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        Fence fence = Fence.at(semaphore, value);
        toClose.add(fence);
        return fence;
    }

    /** Submits an operation with a private timeline, and returns the timeline. */
    private TimelineSemaphore run(int queue, TimelineSemaphore... waits) {
        TimelineSemaphore done = semaphore();
        List<Fence> fences = new ArrayList<>();
        for (TimelineSemaphore wait : waits) {
            fences.add(at(wait, 1));
        }
        Fence wait = Fence.joinNullable(fences);
        if (wait != null) {
            toClose.add(wait);
        }
        device.queue(queue).barrier(wait, at(done, 1), 0);
        return done;
    }

    private static void assertCancelled(TimelineSemaphore done, long epoch) {
        assertThat(done.failure()).isNotNull().satisfies(failure -> {
            assertThat(failure.code()).isEqualTo(StatusCode.CANCELLED);
            assertThat(failure).hasMessageContaining("rejected from epoch " + epoch);
        });
        assertThat(done.value()).isZero();
    }

    private static void assertDone(TimelineSemaphore done) {
        assertThat(done.failure()).isNull();
        assertThat(done.value()).isEqualTo(1);
    }

    @Test
    void specDecodeRejectsTheSecondRoundAndKeepsTheFirst() {
        TimelineSemaphore k = semaphore();
        TimelineSemaphore d = semaphore();
        TimelineSemaphore v = semaphore();
        device.queue(MAIN).barrier(null, at(k, 1), 0);
        device.queue(DRAFT).barrier(at(k, 1), at(d, 1), 0);
        device.queue(MAIN).barrier(at(d, 1), at(v, 1), 0);
        device.queue(DRAFT).barrier(at(d, 1), at(d, 2), 0);
        TimelineSemaphore ahead = semaphore();
        device.queue(SHARED).barrier(at(d, 2), at(ahead, 1), 0);
        TimelineSemaphore output = semaphore();
        device.queue(OTHER).barrier(at(v, 1), at(output, 1), 0);
        clock.runUntil(3);
        assertThat(d.value())
                .as("the first round of the draft is still running")
                .isZero();
        assertThat(scope.reject(2))
                .as("the second round, and work that runs ahead on it")
                .isEqualTo(2);
        clock.runUntilIdle();
        assertThat(v.value()).isEqualTo(1);
        assertDone(output);
        assertThat(d.value())
                .as("the first round survives on the same timeline")
                .isEqualTo(1);
        assertThat(d.failure()).isNotNull().satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
        assertCancelled(ahead, 2);
    }

    @Test
    void specDecodeVerifiedToTheEndLosesNothing() {
        TimelineSemaphore prefill = run(MAIN);
        TimelineSemaphore draft1 = run(DRAFT, prefill);
        TimelineSemaphore verify1 = run(MAIN, draft1);
        TimelineSemaphore draft2 = run(DRAFT, draft1);
        TimelineSemaphore verify2 = run(MAIN, draft2, verify1);
        TimelineSemaphore output = run(OTHER, verify2);
        TimelineSemaphore restart = run(DRAFT, verify2);
        clock.runUntil(7);
        assertDone(draft2);
        assertThat(verify2.value()).as("running by the verifier").isZero();
        assertThat(scope.reject(2)).isZero();
        clock.runUntilIdle();
        assertDone(verify2);
        assertDone(output);
        assertDone(restart);
    }

    @Test
    void aWaiterForAnEndedDraftIsStillSpeculative() {
        TimelineSemaphore draft1 = run(DRAFT);
        TimelineSemaphore draft2 = run(DRAFT);
        clock.runUntilIdle();
        TimelineSemaphore onAccepted = run(SHARED, draft1);
        TimelineSemaphore onRejected = run(SHARED, draft2);
        TimelineSemaphore held = semaphore();
        TimelineSemaphore later = run(OTHER, draft2, held);
        TimelineSemaphore afterIt = run(SHARED, onRejected);
        scope.accept(1);
        assertThat(scope.reject(2)).isEqualTo(3);
        assertCancelled(later, 2);
        assertCancelled(afterIt, 2);
        assertThat(onRejected.failure())
                .as("fails at the hardware's completion")
                .isNull();
        clock.runUntilIdle();
        assertCancelled(onRejected, 2);
        assertDone(onAccepted);
        assertDone(draft1);
        assertDone(draft2);
    }

    @Test
    void workMerelyOnTheSameQueueSurvives() {
        TimelineSemaphore draft = run(DRAFT);
        TimelineSemaphore before = run(OTHER);
        TimelineSemaphore speculative = run(OTHER, draft);
        TimelineSemaphore behind = run(OTHER);
        TimelineSemaphore beside = run(SHARED);
        TimelineSemaphore main = run(MAIN);
        TimelineSemaphore waitsForBehind = run(SHARED, behind);
        assertThat(scope.reject(1)).isEqualTo(2);
        clock.runUntilIdle();
        assertCancelled(draft, 1);
        assertCancelled(speculative, 1);
        for (TimelineSemaphore survivor : List.of(before, behind, beside, main, waitsForBehind)) {
            assertDone(survivor);
        }
    }

    @Test
    void aVerifierOfAnEarlierRoundDoesNotVerifyALaterRound() {
        TimelineSemaphore draft1 = run(DRAFT);
        TimelineSemaphore verify1 = run(MAIN, draft1);
        TimelineSemaphore draft2 = run(DRAFT, draft1);
        TimelineSemaphore both = run(SHARED, verify1, draft2);
        assertThat(scope.reject(2)).isEqualTo(2);
        clock.runUntilIdle();
        assertDone(verify1);
        assertCancelled(both, 2);
    }

    @Test
    void waitsBeforeTheirSignalsAreFollowed() {
        TimelineSemaphore link = semaphore();
        TimelineSemaphore last = run(SHARED, link);
        TimelineSemaphore draft = run(DRAFT);
        device.queue(OTHER).barrier(at(draft, 1), at(link, 1), 0);
        assertThat(scope.reject(1)).isEqualTo(3);
        assertCancelled(last, 1);
        clock.runUntilIdle();
        assertCancelled(link, 1);
    }

    @Test
    void aSignalOfTheHostCountsWithItsFrontier() {
        TimelineSemaphore draft = run(DRAFT);
        clock.runUntilIdle();
        Frontier known = draft.frontierAt(1);
        assertThat(known).isNotNull();
        TimelineSemaphore host = semaphore();
        host.signal(1, known);
        TimelineSemaphore held = semaphore();
        TimelineSemaphore speculative = run(SHARED, host, held);
        assertThat(scope.reject(1)).isEqualTo(1);
        assertCancelled(speculative, 1);
    }

    @Test
    void rejectingAgainOrAfterTheEndDoesNothing() {
        TimelineSemaphore over = run(DRAFT);
        clock.runUntilIdle();
        assertThat(scope.reject(1)).isZero();
        assertDone(over);
        TimelineSemaphore next = run(DRAFT);
        assertThat(scope.reject(2)).isEqualTo(1);
        assertThat(scope.reject(2)).isZero();
        assertThat(scope.reject(1)).isZero();
        clock.runUntilIdle();
        assertCancelled(next, 2);
        TimelineSemaphore afterwards = run(DRAFT);
        clock.runUntilIdle();
        assertDone(afterwards);
    }

    @Test
    void acceptedWorkCannotBeRejected() {
        scope.accept(3);
        scope.accept(1);
        assertThat(scope.accepted()).isEqualTo(3);
        assertThatThrownBy(() -> scope.reject(3))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("3 was accepted");
        assertThatThrownBy(() -> scope.reject(0)).isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> SpeculationScope.open(device.queue(DRAFT), device.queue(DRAFT)))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("use a queue for each");
        scope.close();
        scope.close();
        assertThatThrownBy(() -> scope.reject(4))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void workFailingWithARejectedWaitDoesNotTakeAnEarlierValueOfItsTimelineAlong() {
        TimelineSemaphore held = semaphore();
        TimelineSemaphore verified = semaphore();
        TimelineSemaphore draft1 = run(DRAFT);
        TimelineSemaphore draft2 = run(DRAFT, draft1, held); // not issued: cancellable at once
        device.queue(MAIN).barrier(at(draft1, 1), at(verified, 1), 0);
        device.queue(MAIN).barrier(at(draft2, 1), at(verified, 2), 0);
        clock.runUntil(2);
        assertDone(draft1);
        assertThat(verified.value()).as("the first verification runs").isZero();
        assertThat(scope.reject(2)).isEqualTo(1);
        clock.runUntilIdle();
        assertThat(verified.value()).as("survives").isEqualTo(1);
        assertCancelled(draft2, 2);
        assertThat(verified.failure()).isNotNull();
    }

    @Test
    void aForgottenValueDoesNotTakeLowerValuesAlong() {
        TimelineSemaphore timeline = semaphore();
        device.queue(DRAFT).barrier(null, at(timeline, 1), 0);
        clock.runUntilIdle();
        device.queue(OTHER).barrier(null, at(timeline, 11), 0);
        clock.runUntilIdle();
        TimelineSemaphore held = semaphore();
        TimelineSemaphore speculative = waitFor(timeline, 1, held);
        TimelineSemaphore unrelated = waitFor(timeline, 2, held);
        assertThat(scope.reject(1)).isEqualTo(1);
        held.signal(1);
        clock.runUntilIdle();
        assertCancelled(speculative, 1);
        assertDone(unrelated);
    }

    @Test
    void aReachedValueDoesNotStandOnTheSignallerOfAHigherValue() {
        TimelineSemaphore timeline = semaphore();
        timeline.signal(1);
        TimelineSemaphore held = semaphore();
        TimelineSemaphore draft = semaphore();
        TimelineSemaphore guess = run(DRAFT);
        clock.runUntilIdle();
        Fence verified = Fence.join(at(guess, 1), at(held, 1));
        toClose.add(verified);
        device.queue(MAIN).barrier(verified, at(timeline, 7), 0);
        device.queue(DRAFT).barrier(at(timeline, 1), at(draft, 1), 0);
        assertThat(scope.reject(1)).isEqualTo(1);
        held.signal(1);
        clock.runUntilIdle();
        assertCancelled(draft, 1);
        assertThat(timeline.value()).isEqualTo(7);
    }

    @Test
    void anOperationDoesNotReachItsAwaitedValue() {
        TimelineSemaphore timeline = semaphore();
        device.queue(DRAFT).barrier(null, at(timeline, 14), 0);
        clock.runUntilIdle();
        TimelineSemaphore done = semaphore();
        Fence signal = Fence.join(at(timeline, 9), at(done, 1));
        toClose.add(signal);
        device.queue(OTHER).barrier(at(timeline, 7), signal, 0);
        assertThat(scope.reject(1)).isEqualTo(1);
        clock.runUntilIdle();
        assertCancelled(done, 1);
    }

    @Test
    void acceptedWorkIsForgottenBehindMoreValuesThanATimelineRemembers() {
        TimelineSemaphore timeline = semaphore();
        for (long value = 1; value <= 40; value++) {
            device.queue(value % 2 == 0 ? DRAFT : OTHER).barrier(null, at(timeline, 3 * value), 0);
            clock.runUntilIdle();
        }
        scope.accept(10);
        TimelineSemaphore held = semaphore();
        TimelineSemaphore onAccepted = waitFor(timeline, 58, held);
        TimelineSemaphore onUnrelated = waitFor(timeline, 63, held);
        TimelineSemaphore onRejected = waitFor(timeline, 64, held);
        assertThat(scope.reject(11)).isEqualTo(1);
        held.signal(1);
        clock.runUntilIdle();
        assertDone(onAccepted);
        assertDone(onUnrelated);
        assertCancelled(onRejected, 11);
    }

    /** Submits an operation beside the draft, and returns a timeline like {@link #run}. */
    private TimelineSemaphore waitFor(TimelineSemaphore timeline, long value, TimelineSemaphore held) {
        TimelineSemaphore done = semaphore();
        Fence wait = Fence.join(at(timeline, value), at(held, 1));
        toClose.add(wait);
        device.queue(SHARED).barrier(wait, at(done, 1), 0);
        return done;
    }

    @Test
    @Timeout(600)
    void aLongChainSubmittedFromItsEndIsRejectedSoon() {
        int length = 4000;
        List<TimelineSemaphore> links = new ArrayList<>();
        for (int i = 0; i <= length; i++) {
            links.add(semaphore());
        }
        TimelineSemaphore shared = semaphore();
        device.queue(OTHER).barrier(null, at(shared, 1), 0); // survives, and so delays one cancellation
        for (int i = length; i > 0; i--) {
            device.queue(SHARED).barrier(at(links.get(i - 1), 1), at(links.get(i), 1), 0);
        }
        device.queue(SHARED).barrier(at(links.get(length), 1), at(shared, 2), 0);
        device.queue(DRAFT).barrier(null, at(links.get(0), 1), 0);
        assertThat(scope.reject(1)).isEqualTo(length + 2);
        clock.runUntilIdle();
        assertCancelled(links.get(length), 1);
        assertThat(shared.value()).isEqualTo(1);
    }

    @Test // SPEC-1
    void everyOperationEndsOnceWhenCompletionsRaceWithTheRejection() throws Exception {
        for (int round = 0; round < 200; round++) {
            long first = tracker.completed(device.queue(DRAFT).axis()) + 1;
            List<TimelineSemaphore> drafts = new ArrayList<>();
            List<TimelineSemaphore> users = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                drafts.add(i == 0 ? run(DRAFT) : run(DRAFT, drafts.get(i - 1)));
                users.add(run(i % 2 == 0 ? OTHER : SHARED, drafts.get(i)));
            }
            Thread hardware = Thread.ofPlatform().start(clock::runUntilIdle);
            scope.reject(first + 2);
            hardware.join();
            clock.runUntilIdle();
            for (int i = 0; i < 8; i++) {
                for (TimelineSemaphore done : List.of(drafts.get(i), users.get(i))) {
                    if (i < 2 || done.failure() == null) {
                        assertDone(done);
                    } else {
                        assertCancelled(done, first + 2);
                    }
                }
            }
        }
        for (int queue = 0; queue < 4; queue++) {
            assertThat(device.queue(queue).counters().pending()).isZero();
            assertThat(device.queue(queue).counters().inFlight()).isZero();
        }
    }

    /** The truth is reachability in the graph of waits, with the draft's operations in a row. */
    @Test
    void randomGraphsLoseExactlyTheReachableWork() {
        int cancelledInAll = 0;
        int survivedInAll = 0;
        for (int round = 0; round < 400; round++) {
            long seed = Effort.seed(20261120) + round;
            Random random = new Random(seed);
            int size = 5 + random.nextInt(40);
            TimelineSemaphore[] done = new TimelineSemaphore[size];
            int[] queues = new int[size];
            BitSet[] past = new BitSet[size]; // itself included
            BitSet[] waited = new BitSet[size];
            long base = tracker.completed(device.queue(DRAFT).axis());
            long[] epochs = new long[size];
            long drafts = base;
            int lastDraft = -1;
            TimelineSemaphore gate = run(SHARED); // reached before anything cancelled in this round
            for (int i = 0; i < size; i++) {
                queues[i] = random.nextInt(4);
                past[i] = new BitSet();
                past[i].set(i);
                waited[i] = new BitSet();
                waited[i].set(i);
                List<TimelineSemaphore> waits = new ArrayList<>(List.of(gate));
                for (int w = random.nextInt(3); w > 0 && i > 0; w--) {
                    int producer = random.nextInt(i);
                    waits.add(done[producer]);
                    past[i].or(past[producer]);
                    waited[i].or(waited[producer]);
                }
                if (queues[i] == DRAFT) {
                    if (lastDraft >= 0) { // pending operations of a stream may overtake each other
                        waits.add(done[lastDraft]);
                        past[i].or(past[lastDraft]);
                        waited[i].or(waited[lastDraft]);
                    }
                    lastDraft = i;
                    epochs[i] = ++drafts;
                }
                done[i] = run(queues[i], waits.toArray(TimelineSemaphore[]::new));
                if (random.nextInt(6) == 0) {
                    clock.step();
                }
            }
            clock.runUntil(clock.now() + random.nextInt(12));
            long issued = base;
            for (int i = 0; i < size; i++) {
                if (queues[i] == DRAFT && done[i].value() == 1) {
                    issued = Math.max(issued, epochs[i]);
                }
            }
            // Up to the operation after the last with a certain epoch; beyond, operations without an epoch might stand
            // anywhere.
            long from = base + 1 + random.nextInt((int) (issued - base) + 1);
            BitSet over = new BitSet();
            for (int i = 0; i < size; i++) {
                over.set(i, done[i].value() == 1);
            }
            BitSet cancelled = new BitSet();
            for (int i = 0; i < size; i++) {
                cancelled.set(i, !over.get(i) && stands(past[i], queues, epochs, from, past));
            }
            assertThat(scope.reject(from)).as("seed %d", seed).isEqualTo(cancelled.cardinality());
            clock.runUntilIdle();
            for (int i = 0; i < size; i++) {
                boolean lost = waited[i].intersects(cancelled);
                assertThat(done[i].failure() != null)
                        .as("operation %d on queue %d, rejected from %d, seed %d", i, queues[i], from, seed)
                        .isEqualTo(!over.get(i) && lost);
            }
            cancelledInAll += cancelled.cardinality();
            survivedInAll += size - cancelled.cardinality() - over.cardinality();
            if (random.nextBoolean()) {
                scope.accept(tracker.completed(device.queue(DRAFT).axis()));
            }
        }
        assertThat(cancelledInAll).as("cancelled in all rounds").isGreaterThan(1000);
        assertThat(survivedInAll).as("survived in all rounds").isGreaterThan(1000);
    }

    /** Whether an operation with this past stands on the draft from an epoch on, unverified. */
    private static boolean stands(BitSet past, int[] queues, long[] epochs, long from, BitSet[] pasts) {
        boolean speculative = past.stream().anyMatch(i -> queues[i] == DRAFT && epochs[i] >= from);
        boolean verified = past.stream()
                .anyMatch(v ->
                        queues[v] == MAIN && pasts[v].stream().anyMatch(i -> queues[i] == DRAFT && epochs[i] >= from));
        return speculative && !verified;
    }
}
