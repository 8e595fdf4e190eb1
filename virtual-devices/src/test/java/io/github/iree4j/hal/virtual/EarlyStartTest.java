package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An operation starts when each of its waits is reached. A promise above one of them, by an operation behind the
 * producer of another, implies nothing about the other: a lower value, signalled by hand, ends the first wait but not
 * the second.
 */
class EarlyStartTest {
    private static final long SLOW = 1_000;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, 12);
    private final List<AutoCloseable> toClose = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        tracker.close();
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private TimelineSemaphore timeline() {
        return closed(TimelineSemaphore.create(0));
    }

    private Fence at(TimelineSemaphore timeline, long value) {
        return closed(Fence.at(timeline, value));
    }

    /** The first operation of queue 0 takes long, all others take a tick. */
    private VirtualDevice device(VirtualDevice.Builder builder) {
        return closed(builder.clock(clock)
                .schedulingDomain(domain)
                .script(new VirtualScript() {
                    @Override
                    public long duration(int queue, long number, QueueOperation operation) {
                        return queue == 0 && number == 1 ? SLOW : 1;
                    }
                })
                .build());
    }

    @Test // PREM-2
    void anUnorderedQueueStartsNothingBeforeEachOfItsWaitsIsReached() {
        VirtualDevice device = device(VirtualDevice.builder().fifoQueues(1).unorderedQueue(2));
        TimelineSemaphore produced = timeline();
        TimelineSemaphore other = timeline();
        TimelineSemaphore consumed = timeline();
        long[] ran = new long[2]; // when the producer was complete, and when the consumer ran
        device.queue(0).hostCall(null, at(produced, 1), () -> ran[0] = clock.now(), 0);
        device.queue(0).barrier(null, at(other, 2), 0); // behind the producer
        Fence both = closed(Fence.of(List.of(new Fence.Entry(other, 1), new Fence.Entry(produced, 1))));
        device.queue(1).hostCall(both, at(consumed, 1), () -> ran[1] = clock.now(), 0);
        other.signal(1); // by hand, below the promises
        clock.runUntil(SLOW / 2);
        assertThat(consumed.value())
                .as("an operation behind a running producer")
                .isZero();
        clock.runUntilIdle();
        assertThat(consumed.isReached(1)).isTrue();
        assertThat(ran[1])
                .as("the consumer's time, with the producer's at %d", ran[0])
                .isGreaterThan(ran[0]);
    }

    @Test
    void aFrontierClaimsOnlyWorkOverWhenItsOperationEnded() {
        VirtualDevice device = device(VirtualDevice.builder().fifoQueues(1).unorderedQueue(2));
        TimelineSemaphore produced = timeline();
        TimelineSemaphore other = timeline();
        TimelineSemaphore consumed = timeline();
        device.queue(0).barrier(null, at(produced, 1), 0);
        device.queue(0).barrier(null, at(other, 2), 0);
        Fence both = closed(Fence.of(List.of(new Fence.Entry(other, 1), new Fence.Entry(produced, 1))));
        device.queue(1).barrier(both, at(consumed, 1), 0);
        other.signal(1);
        while (tracker.completed(device.queue(1).axis()) == 0) {
            assertThat(clock.step()).isTrue();
        }
        long overByThen = tracker.completed(device.queue(0).axis());
        clock.runUntilIdle();
        Frontier frontier = consumed.frontierAt(1);
        assertThat(frontier).isNotNull();
        for (int i = 0; i < frontier.size(); i++) {
            if (frontier.axis(i) == device.queue(0).axis()) {
                assertThat(frontier.epoch(i))
                        .as("the claim of %s about the end of the consumer", frontier)
                        .isLessThanOrEqualTo(overByThen);
            }
        }
    }

    /**
     * A stream may drop the wait where it actually waits for the maker of the promise, but not where the host waits
     * instead.
     */
    @Test
    void aStreamHeldBackStartsNothingBeforeEachOfItsWaitsIsReached() {
        VirtualDevice device = device(VirtualDevice.builder().fifoQueues(1));
        VirtualDevice stranger = device(VirtualDevice.builder().fifoQueues(2)); // waits for the other on the host
        TimelineSemaphore produced = timeline();
        TimelineSemaphore other = timeline();
        TimelineSemaphore consumed = timeline();
        long[] ran = new long[2];
        device.queue(0).hostCall(null, at(produced, 1), () -> ran[0] = clock.now(), 0);
        device.queue(0).barrier(null, at(other, 2), 0);
        Fence both = closed(Fence.of(List.of(new Fence.Entry(other, 1), new Fence.Entry(produced, 1))));
        stranger.queue(1).hostCall(both, at(consumed, 1), () -> ran[1] = clock.now(), 0);
        other.signal(1);
        clock.runUntilIdle();
        assertThat(consumed.isReached(1)).isTrue();
        assertThat(ran[1])
                .as("the consumer's time, with the producer's at %d", ran[0])
                .isGreaterThan(ran[0]);
    }
}
