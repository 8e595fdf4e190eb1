package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Signals and submissions by callbacks of the application are repeated among the callbacks of the scheduler at their
 * places.
 */
class CallbackWorkTest {
    private static final long SEED = Effort.seed(20261129);

    private static void replay(int recordings, int steps) throws IOException {
        long operations = 0;
        for (long seed = SEED; seed < SEED + recordings; seed++) {
            boolean submits = seed % 2 == 0;
            boolean virtual = seed % 4 < 2;
            FlightRecording recording = CallbackWork.record(seed, steps, virtual, submits);
            Replay replay = Replay.of(recording);
            operations += replay.operations();
            assertThat(replay.frontiers()).as("all ran: seed %d", seed).isEqualTo(replay.operations());
            assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
            assertThat(replay.reordered()).as("seed %d", seed).isZero();
            if (virtual) {
                assertThat(replay.deviation()).as("seed %d: %s", seed, replay).isZero();
            }
        }
        assertThat(operations).isGreaterThan((long) recordings * steps / 3);
    }

    @Test
    void callbacksOfTheApplicationAreReplayedAmongTheCallbacksOfTheScheduler() throws IOException {
        replay(200, 120);
    }

    @Test
    @Tag("nightly")
    void manyCallbacksOfTheApplicationAreReplayedAmongTheCallbacksOfTheScheduler() throws IOException {
        replay(2000, 300);
    }

    /** The time of submission of an operation behind the work of a delayed stream, and the end of its recording. */
    private enum Moment {
        IN_A_CALLBACK,
        EARLIER,
        EARLIER_IN_AN_OPEN_RECORDING
    }

    /**
     * The hardware has run two operations of a stream before the host observes the end of the work awaited by the first: the two have not
     * signalled.
     */
    @ParameterizedTest
    @EnumSource
    void aSubmissionFindsEndedWorkOfTheHardwareWithoutASignal(Moment moment) throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        FrontierTracker tracker = FrontierTracker.create();
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
                TimelineSemaphore first = TimelineSemaphore.create(0);
                TimelineSemaphore second = TimelineSemaphore.create(0);
                TimelineSemaphore third = TimelineSemaphore.create(0);
                VirtualDevice device = VirtualDevice.builder()
                        .id("v")
                        .clock(clock)
                        .script(new FirstQueueIsSeenLate())
                        .schedulingDomain(domain)
                        .fifoQueues(3)
                        .build()) {
            Runnable submission = () -> device.queue(2).barrier(Fence.at(third, 1), null, 0);
            if (moment == Moment.IN_A_CALLBACK) {
                first.whenReached(1, (value, failure) -> submission.run());
            }
            device.queue(0).barrier(null, Fence.at(first, 1), 0);
            device.queue(1).barrier(Fence.at(first, 1), Fence.at(second, 1), 0);
            device.queue(1).barrier(null, Fence.at(third, 1), 0);
            if (moment != Moment.IN_A_CALLBACK) {
                clock.runUntil(FirstQueueIsSeenLate.DELAY / 2);
                submission.run();
                clock.runUntil(FirstQueueIsSeenLate.DELAY * 3 / 4);
            }
            FlightRecording open = recorder.recording();
            clock.runUntilIdle();
            FlightRecording recording = moment == Moment.EARLIER_IN_AN_OPEN_RECORDING ? open : recorder.recording();
            RecordedOperation last =
                    List.copyOf(new OperationGraph(recording).operations()).getLast();
            assertThat(last.decisions())
                    .extracting(FlightEvent.Decision::decision)
                    .containsExactly(WaitDecision.ELIDED_FRONTIER);
            Replay replay = Replay.of(recording);
            assertThat(replay.differences()).as(replay.toString()).isEmpty();
            assertThat(replay.reordered()).isZero();
        } finally {
            tracker.close();
        }
    }

    /**
     * A callback signals three timelines, each for an operation, and then submits: the submission finds the second and
     * the third reached, at the same moment. The timelines are made in either order, since the order of equal moments
     * may follow their numbers.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void signalsFoundAtTheSameMomentAreRepeatedInTheOrderOfTheirResumedOperations(boolean reversed) throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        FrontierTracker tracker = FrontierTracker.create();
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
        List<TimelineSemaphore> made = IntStream.range(0, 4)
                .mapToObj(each -> TimelineSemaphore.create(0))
                .toList();
        List<TimelineSemaphore> timelines = reversed ? made.reversed() : made;
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
                VirtualDevice device = VirtualDevice.builder()
                        .id("v")
                        .clock(clock)
                        .schedulingDomain(domain)
                        .fifoQueues(2)
                        .build()) {
            for (int i = 0; i < 3; i++) {
                device.queue(0).barrier(Fence.at(timelines.get(i), 1), null, 0);
            }
            Fence found = Fence.join(Fence.at(timelines.get(1), 1), Fence.at(timelines.get(2), 1));
            TimelineSemaphore trigger = timelines.getLast();
            trigger.whenReached(1, (value, failure) -> {
                timelines.subList(0, 3).forEach(each -> each.signal(1));
                device.queue(1).barrier(found, null, 0);
            });
            trigger.signal(1);
            clock.runUntilIdle();
            Replay replay = Replay.of(recorder.recording());
            assertThat(replay.frontiers()).isEqualTo(4);
            assertThat(replay.differences()).as(replay.toString()).isEmpty();
            assertThat(replay.reordered()).isZero();
        } finally {
            made.forEach(TimelineSemaphore::close);
            tracker.close();
        }
    }

    private static final class FirstQueueIsSeenLate implements VirtualScript {
        static final long DELAY = 1_000_000;

        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            return queue == 0 ? DELAY : 0;
        }
    }
}
