package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lost knowledge, by eviction or from outside, is temporary: until the lost entries have completed. */
@Tag("long")
class RecoveryTest {
    private static final int OPERATIONS = Effort.rounds(40_000, 1_000_000);

    /** More axes than fit. */
    private static final int STREAMS = Frontier.DEFAULT_CAPACITY + 4;

    @Test
    void elisionAndProofsComeBackEachTimeTheEvictedWorkHasCompleted() {
        run(false);
    }

    @Test
    void elisionAndProofsComeBackAfterEachSignalFromOutside() {
        run(true);
    }

    /**
     * Rounds of: a single other stream signals and is waited for twice; every other stream signals, a stream gathers
     * all signals (and loses some, or hears from outside), then everything completes. At the start of each round the
     * gatherer must know everything again: waits are elided, and memory of known operations is reused.
     */
    private static void run(boolean outside) {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create();
                VirtualDevice device = VirtualDevice.builder()
                        .clock(clock)
                        .schedulingDomain(
                                SchedulingDomain.create(AxisAllocator.create(3, 0), tracker, Frontier.DEFAULT_CAPACITY))
                        .fifoQueues(STREAMS)
                        .build();
                TimelineSemaphore gathered = TimelineSemaphore.create(0);
                TimelineSemaphore foreign = TimelineSemaphore.create(0)) {
            List<TimelineSemaphore> spokes = new ArrayList<>();
            for (int i = 1; i < STREAMS; i++) {
                spokes.add(TimelineSemaphore.create(0));
            }
            DeviceQueue gatherer = device.queue(0);
            int fan = outside ? 3 : STREAMS - 1;
            int perRound = 1 + 3 + 2 * fan + (outside ? 2 : 3);
            int rounds = OPERATIONS / perRound;
            long value = 0;
            for (int round = 1; round <= rounds; round++) {
                // Everything has completed: a new operation knows only itself, and proves itself.
                value = step(device, null, gathered, value);
                Frontier fresh = gathered.frontierAt(value);
                assertThat(fresh.size()).as("round %d", round).isEqualTo(1);
                assertThat(fresh.isTainted()).as("round %d", round).isFalse();

                // Elision and reuse work: an operation in flight, waited for once, is known.
                long elided = gatherer.counters().elidedFrontier();
                TimelineSemaphore first = spokes.getFirst();
                try (Fence spoke = Fence.at(first, 2L * round - 1)) {
                    device.queue(1).barrier(null, spoke, 0);
                    value = step(device, spoke, gathered, value);
                    value = step(device, spoke, gathered, value);
                }
                assertThat(gatherer.counters().elidedFrontier()).isEqualTo(elided + 1);
                Frontier death = first.frontierAt(2L * round - 1);
                assertThat(first.value()).as("in flight").isLessThan(2L * round - 1);
                assertThat(gathered.frontierAt(value).covers(death, tracker)).isTrue();
                assertThat(fresh.covers(death, tracker))
                        .as("a queue without a wait for it must wait")
                        .isFalse();

                for (int i = 0; i < fan; i++) {
                    try (Fence spoke = Fence.at(spokes.get(i), 2L * round)) {
                        device.queue(i + 1).barrier(null, spoke, 0);
                        value = step(device, spoke, gathered, value);
                    }
                }
                if (outside) {
                    foreign.signalExternal(2L * round - 1);
                    try (Fence heard = Fence.at(foreign, 2L * round - 1)) {
                        value = step(device, heard, gathered, value);
                    }
                }
                Frontier lossy = gathered.frontierAt(value);
                assertThat(lossy.isTainted()).as("round %d", round).isTrue();
                assertThat(Frontier.EMPTY.covers(lossy, tracker))
                        .as("a tainted operation proves nothing in flight")
                        .isFalse();

                // Within the window: the stream's own operations are still elided, lost operations are waited for
                // again.
                long elidedFifo = gatherer.counters().elidedFifo();
                try (Fence own = Fence.at(gathered, value)) {
                    value = step(device, own, gathered, value);
                }
                assertThat(gatherer.counters().elidedFifo()).isEqualTo(elidedFifo + 1);
                if (!outside) {
                    elided = gatherer.counters().elidedFrontier();
                    long waited = gatherer.counters().deviceWaits();
                    assertThat(lossy.reaches(device.queue(fan).axis(), 1))
                            .as("gathered last, so kept")
                            .isEqualTo(Known.YES);
                    assertThat(lossy.reaches(device.queue(2).axis(), 1))
                            .as("among equal epochs the smallest axis is evicted")
                            .isEqualTo(Known.UNKNOWN);
                    try (Fence kept = Fence.at(spokes.getLast(), 2L * round);
                            Fence lost = Fence.at(spokes.get(1), 2L * round)) {
                        value = step(device, kept, gathered, value);
                        assertThat(gatherer.counters().elidedFrontier()).isEqualTo(elided + 1);
                        assertThat(gatherer.counters().deviceWaits()).isEqualTo(waited);
                        value = step(device, lost, gathered, value);
                        assertThat(gatherer.counters().deviceWaits()).isEqualTo(waited + 1);
                    }
                }

                clock.runUntilIdle();
                assertThat(gathered.value()).isEqualTo(value);
                assertThat(Frontier.EMPTY.covers(lossy, tracker))
                        .as("the memory can be reused after the completion of its producer")
                        .isTrue();
                if (outside) {
                    foreign.signal(2L * round); // our own signal moves the watermark
                    assertThat(foreign.isTainted(2L * round - 1)).isFalse();
                }
            }
            assertThat(gatherer.counters().deferred())
                    .as("nothing ever waited on the host")
                    .isZero();
            assertThat(gatherer.counters().deviceWaits()).isEqualTo((long) rounds * (fan + (outside ? 1 : 2)));
            long retired = 0;
            for (int q = 0; q < STREAMS; q++) {
                retired += device.queue(q).counters().retired();
            }
            assertThat(retired).isEqualTo((long) rounds * perRound);
            spokes.forEach(TimelineSemaphore::close);
        }
    }

    private static long step(VirtualDevice device, @Nullable Fence wait, TimelineSemaphore timeline, long value) {
        try (Fence signal = Fence.at(timeline, value + 1)) {
            device.queue(0).barrier(wait, signal, 0);
        }
        return value + 1;
    }
}
