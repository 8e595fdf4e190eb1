package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.SpeculationScope;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A rejection cancels exactly the unverified operations that stand on the draft, also with several unordered signallers
 * of a timeline: random programs, checked by reachability in the declared graph.
 *
 * <p>A wait is ended by the operation that reached the value first, or, before any has, by the signaller of the lowest
 * value at or above it. The draft's operations follow the order of its stream, unissued operations behind the others.
 */
@Tag("long")
class RandomSpeculationTest {
    private static final int DRAFT = 0;
    private static final int MAIN = 1;

    private long cancelled;
    private long survived;
    private long overtaken;

    @Test
    void aRejectionCancelsExactlyTheReachableWork() {
        Effort.Programs programs = Effort.programs(RandomSpeculationTest.class, 5_000, 200_000, 20261120);
        while (programs.hasNext()) {
            long seed = programs.nextLong();
            run(seed, 3 + new Random(new SplittableRandom(seed).nextLong()).nextInt(25));
        }
        if (programs.count() < 100) {
            return; // a given seed
        }
        assertThat(List.of(cancelled, survived, overtaken)) // most programs are vague, and most guesses are complete
                .allMatch(count -> count > programs.count() / 10);
    }

    private void run(long seed, int size) {
        try (Program program = new Program(seed, size)) {
            try {
                program.check();
            } catch (AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + program.describe(), e);
            }
        } catch (AssertionError e) {
            String small = smallest(seed, size);
            throw new AssertionError("seed %d: %s%s".formatted(seed, e.getMessage(), small), e);
        }
    }

    private String smallest(long from, int below) {
        for (int size = 2; size < below; size++) {
            for (long seed = from; seed < from + 3000; seed++) {
                try (Program program = new Program(seed, size)) {
                    try {
                        program.check();
                    } catch (AssertionError e) {
                        return "%nThe smallest found, seed %d with %d operations:%n%s%n%s"
                                .formatted(seed, size, e.getMessage(), program.describe());
                    }
                }
            }
        }
        return "";
    }

    private record Point(int timeline, long value) {}

    /** An operation. */
    private static final class Step {
        final int index;
        final int queue;
        final List<Point> waits = new ArrayList<>();
        final List<Point> signals = new ArrayList<>();
        final TimelineSemaphore own = TimelineSemaphore.create(0);
        boolean vague; // possibly issued behind a promise preceded by another signal
        boolean over; // at the time of the rejection
        long epoch; // then; 0 for none

        Step(int index, int queue) {
            this.index = index;
            this.queue = queue;
        }

        @Override
        public String toString() {
            return "operation %d on queue %d%s waits %s, signals %s, epoch %d%s: %s"
                    .formatted(
                            index,
                            queue,
                            queue == DRAFT ? " (draft)" : queue == MAIN ? " (verifier)" : "",
                            waits,
                            signals,
                            epoch,
                            over ? ", over" : "",
                            own.failure() == null ? "done" : own.failure().getMessage());
        }
    }

    private final class Program implements AutoCloseable {
        private final Random random;
        private final VirtualClock clock = VirtualClock.stepped();
        private final FrontierTracker tracker = FrontierTracker.create();
        private final List<AutoCloseable> toClose = new ArrayList<>();
        private final VirtualDevice device;
        private final SpeculationScope scope;
        private final List<Step> steps = new ArrayList<>();
        private final List<TimelineSemaphore> timelines = new ArrayList<>();
        private final List<TreeMap<Long, Integer>> signallers = new ArrayList<>(); // -1 is the host
        private final List<TreeSet<Long>> reached = new ArrayList<>();
        private final List<Boolean> waitsReached = new ArrayList<>(); // when each was submitted
        private long from;
        private int count;
        private boolean vague;
        private final BitSet expected = new BitSet();

        Program(long seed, int size) {
            this.random = new Random(new SplittableRandom(seed).nextLong());
            int[] slowness = new int[4];
            for (int q = 0; q < slowness.length; q++) {
                slowness[q] = random.nextBoolean() ? 3 : 20;
            }
            this.device = VirtualDevice.builder()
                    .clock(clock)
                    .schedulingDomain(
                            SchedulingDomain.create(AxisAllocator.create(12, 0), tracker, Frontier.DEFAULT_CAPACITY))
                    .fifoQueues(3)
                    .unorderedQueue(4)
                    .script(new VirtualScript() {
                        @Override
                        public long duration(int queue, long number, QueueOperation operation) {
                            return 1 + random.nextInt(slowness[queue]);
                        }
                    })
                    .build();
            this.scope = SpeculationScope.open(device.queue(DRAFT), device.queue(MAIN));
            for (int t = 1 + random.nextInt(5); t > 0; t--) {
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                TreeSet<Long> had = new TreeSet<>();
                toClose.add(timeline);
                timelines.add(timeline);
                signallers.add(new TreeMap<>());
                reached.add(had);
                for (long value = 1; value < 40; value++) {
                    timeline.whenReached(value, (at, failure) -> {
                        if (failure == null) {
                            had.add(at);
                        }
                    });
                }
            }
            for (int i = 0; i < size; i++) {
                submit();
                for (int s = random.nextInt(4); s > 0; s--) {
                    clock.step();
                }
                if (random.nextInt(8) == 0) {
                    signalByHand();
                }
            }
            reject();
            clock.runUntilIdle();
        }

        /** Waits for signals of earlier operations, or for lower values; signals values in any order with others. */
        private void submit() {
            Step step = new Step(steps.size(), random.nextInt(4));
            toClose.add(step.own);
            for (int w = random.nextInt(3); w > 0; w--) {
                int timeline = random.nextInt(timelines.size());
                TreeMap<Long, Integer> values = signallers.get(timeline);
                if (!values.isEmpty() && step.waits.stream().noneMatch(wait -> wait.timeline == timeline)) {
                    step.waits.add(new Point(timeline, 1 + random.nextLong(values.lastKey())));
                }
            }
            List<Fence.Entry> signals = new ArrayList<>();
            signals.add(new Fence.Entry(step.own, 1));
            for (int s = random.nextInt(3); s > 0; s--) {
                int timeline = random.nextInt(timelines.size());
                if (step.signals.stream().noneMatch(signal -> signal.timeline == timeline)) {
                    long value = 1 + random.nextInt(20);
                    if (signallers.get(timeline).putIfAbsent(value, step.index) == null) {
                        step.signals.add(new Point(timeline, value));
                        signals.add(new Fence.Entry(timelines.get(timeline), value));
                    }
                }
            }
            steps.add(step);
            waitsReached.add(step.waits.stream()
                    .allMatch(wait -> timelines.get(wait.timeline).value() >= wait.value));
            List<Fence.Entry> waits = step.waits.stream()
                    .map(wait -> new Fence.Entry(timelines.get(wait.timeline), wait.value))
                    .toList();
            Fence wait = waits.isEmpty() ? null : closed(Fence.of(waits));
            device.queue(step.queue).barrier(wait, closed(Fence.of(signals)), 0);
        }

        private Fence closed(Fence fence) {
            toClose.add(fence);
            return fence;
        }

        private void signalByHand() {
            int index = random.nextInt(timelines.size());
            TimelineSemaphore timeline = timelines.get(index);
            long value = timeline.value() + 1;
            if (timeline.failure() == null && signallers.get(index).putIfAbsent(value, -1) == null) {
                timeline.signal(value);
            }
        }

        private void reject() {
            long last = tracker.completed(device.queue(DRAFT).axis());
            for (Step step : steps) {
                step.over = step.own.value() == 1 || step.own.failure() != null;
                Frontier known = step.own.frontierAt(1);
                step.epoch = known == null ? 0 : known.producerEpoch();
                if (step.queue == DRAFT) {
                    last = Math.max(last, step.epoch);
                }
            }
            from = 1 + random.nextLong(last + 1);
            findExpected(last);
            count = scope.reject(from);
        }

        // ---- The truth.

        private void findExpected(long last) {
            BitSet[] past = new BitSet[steps.size()]; // itself included
            for (int i = 0; i < past.length; i++) {
                past[i] = new BitSet();
                past[i].set(i);
            }
            for (boolean changed = true; changed; ) {
                changed = false;
                for (Step step : steps) {
                    BitSet own = past[step.index];
                    int before = own.cardinality();
                    for (Point wait : step.waits) {
                        Integer producer = producer(wait);
                        if (producer != null && producer >= 0) {
                            own.or(past[producer]);
                        }
                    }
                    if (step.queue == DRAFT) {
                        for (Step other : steps) {
                            boolean behind = step.epoch == 0 || other.epoch < step.epoch;
                            if (other.queue == DRAFT && other.epoch > 0 && behind) {
                                own.or(past[other.index]);
                            }
                        }
                    }
                    changed |= own.cardinality() > before;
                }
            }
            for (Step step : steps) {
                step.vague = step.queue < 3
                        && !waitsReached.get(step.index)
                        && step.waits.stream()
                                .anyMatch(wait -> signallers
                                                .get(wait.timeline)
                                                .tailMap(wait.value, true)
                                                .size()
                                        > 1);
                vague |= step.vague;
            }
            BitSet guesses = new BitSet();
            for (Step step : steps) {
                long epoch = step.epoch == 0 ? last + 1 : step.epoch;
                guesses.set(step.index, step.queue == DRAFT && epoch >= from && !hasFailed(step));
            }
            BitSet verifiers = new BitSet();
            for (Step step : steps) {
                verifiers.set(step.index, step.queue == MAIN && past[step.index].intersects(guesses));
            }
            for (Step step : steps) {
                boolean stands = past[step.index].intersects(guesses) && !past[step.index].intersects(verifiers);
                expected.set(step.index, stands && !step.over);
            }
        }

        private boolean hasFailed(Step step) {
            return step.over && step.own.failure() != null;
        }

        /** The operation that ends a wait; null for none. */
        private @Nullable Integer producer(Point wait) {
            Long value = reached.get(wait.timeline).ceiling(wait.value);
            if (value != null) {
                return signallers.get(wait.timeline).get(value);
            }
            Map.Entry<Long, Integer> lowest = signallers.get(wait.timeline).ceilingEntry(wait.value);
            return lowest == null ? null : lowest.getValue();
        }

        // ---- Outcomes.

        void check() {
            if (vague) {
                return; // an operation may stand on the promise or on the first signal
            }
            for (Step step : steps) {
                boolean failed = step.own.failure() != null;
                if (!failed && step.own.value() == 0) {
                    throw new AssertionError("never ended: " + step);
                }
                boolean heard = step.waits.stream()
                        .anyMatch(wait -> timelines.get(wait.timeline).failure() != null);
                if (expected.get(step.index) && !failed) {
                    throw new AssertionError("rejected from %d, but completed: %s".formatted(from, step));
                }
                if (failed && !expected.get(step.index) && !heard) {
                    throw new AssertionError("rejected from %d, and failed without a cause: %s".formatted(from, step));
                }
                if (expected.get(step.index)
                        && !heard
                        && step.own.failure() != null
                        && step.own.failure().code() != StatusCode.CANCELLED) {
                    throw new AssertionError(
                            "rejected from %d, and failed with another cause: %s".formatted(from, step));
                }
            }
            if (count != expected.cardinality()) {
                throw new AssertionError("rejected %d from %d, and should have %s".formatted(count, from, expected));
            }
            cancelled += count;
            survived += steps.size() - count;
            for (TreeSet<Long> had : reached) {
                overtaken += had.size() > 1 ? 1 : 0;
            }
        }

        String describe() {
            StringBuilder text = new StringBuilder();
            for (int t = 0; t < timelines.size(); t++) {
                text.append("timeline %d had %s, signalled by %s, failure %s%n"
                        .formatted(
                                t,
                                reached.get(t),
                                signallers.get(t),
                                timelines.get(t).failure()));
            }
            return text + steps.stream().map(Step::toString).collect(Collectors.joining("\n"));
        }

        @Override
        public void close() {
            scope.close();
            device.close();
            for (AutoCloseable each : toClose.reversed()) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
            tracker.close();
        }
    }
}
