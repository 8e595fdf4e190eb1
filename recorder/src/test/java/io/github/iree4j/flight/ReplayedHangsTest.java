package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Work beside hanging or failing work runs in a replay as in the recording. */
@Tag("long")
@Timeout(300)
class ReplayedHangsTest {
    private static final long DURATION = 100;
    private static final int ROUNDS = Effort.rounds(800, 10_000);
    private static final long SEED = Effort.seed(ReplayedHangsTest.class, ROUNDS + " rounds", 20261128);

    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private VirtualClock clock;
    private FrontierTracker tracker;
    private SchedulingDomain domain;
    private VirtualDevice device;
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        clock = VirtualClock.stepped();
        tracker = FrontierTracker.create();
        domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
    }

    @AfterEach
    void close() {
        recorder.close();
        timelines.forEach(each -> each.fail(IreeException.of(StatusCode.ABORTED, "given up")));
        clock.runUntilIdle();
        device.close();
        timelines.forEach(TimelineSemaphore::close);
        timelines.clear();
        tracker.close();
    }

    private void device(boolean streams) {
        VirtualDevice.Builder builder = VirtualDevice.builder()
                .id("v")
                .clock(clock)
                .schedulingDomain(domain)
                .script(new VirtualScript() {
                    @Override
                    public long duration(int queue, long number, QueueOperation operation) {
                        return DURATION;
                    }
                });
        device = (streams ? builder.fifoQueues(3) : builder.unorderedQueue(4)).build();
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    private void submit(String name, int stream, Fence wait, Fence signal) {
        device.submit(stream % device.queueCount(), wait, signal, new VirtualOperation(name));
    }

    private void hang(TimelineSemaphore signalled) {
        submit("hanging", 2, Fence.at(timeline(), 1), Fence.at(signalled, 1));
    }

    private static void assertIsRepeated(FlightRecording recording, int ran, String what) {
        Replay replay = Replay.of(recording);
        assertThat(replay.frontiers()).as("%s: %s", what, replay).isEqualTo(ran);
        assertThat(replay.differences()).as("%s: %s", what, replay).isEmpty();
        assertThat(replay.reordered()).as("%s: %s", what, replay).isZero();
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aValueSignalledByAnOperationDoesNotNeedAnotherHangingOperation(boolean streams, boolean first) {
        device(streams);
        TimelineSemaphore shared = timeline();
        if (first) {
            hang(shared);
        }
        submit("signaller", 0, null, Fence.at(shared, 1));
        submit("waiter", 1, Fence.at(shared, 1), Fence.at(timeline(), 1));
        if (!first) {
            hang(shared);
        }
        clock.runUntilIdle();
        assertIsRepeated(recorder.recording(), 2, "");
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aValueExpectedOfTwoOperationsAndHeldUpByAHangingOperationIsNotReached(boolean streams, boolean first) {
        device(streams);
        TimelineSemaphore shared = timeline();
        shared.expectSignals(1, 2);
        if (first) {
            hang(shared);
        }
        submit("signaller", 0, null, Fence.at(shared, 1));
        submit("waiter", 1, Fence.at(shared, 1), Fence.at(timeline(), 1));
        if (!first) {
            hang(shared);
        }
        clock.runUntilIdle();
        assertIsRepeated(recorder.recording(), 1, "");
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void theHostResumesWorkBeforeTheTimelineFails(boolean streams, boolean first) {
        device(streams);
        TimelineSemaphore shared = timeline();
        TimelineSemaphore failed = timeline();
        TimelineSemaphore cause = timeline();
        failed.signal(2);
        Runnable resumed = () -> submit("resumed", 1, Fence.at(shared, 1), Fence.at(timeline(), 1));
        if (first) {
            resumed.run();
        }
        submit("failing", 0, Fence.of(List.of(entry(shared, 1), entry(failed, 1))), Fence.at(cause, 1));
        if (!first) {
            resumed.run();
        }
        submit("failed too", 2, Fence.at(cause, 1), Fence.at(shared, 3));
        clock.runUntil(DURATION);
        failed.fail(IreeException.of(StatusCode.CANCELLED, "given up"));
        shared.signal(1);
        assertThat(shared.failure()).isNotNull();
        clock.runUntilIdle();
        assertIsRepeated(recorder.recording(), 1, "");
    }

    @Test
    void theHostSignalsAfterAPromiseHasResumedWork() {
        device(true);
        TimelineSemaphore shared = timeline();
        submit("resumed", 1, Fence.at(shared, 1), Fence.at(timeline(), 1));
        submit("resumed next", 2, Fence.at(shared, 3), Fence.at(timeline(), 1));
        submit("promising", 0, null, Fence.at(shared, 3));
        shared.signal(1);
        submit("last", 0, Fence.at(shared, 1), Fence.at(timeline(), 1));
        clock.runUntilIdle();
        assertIsRepeated(recorder.recording(), 4, "");
    }

    /** A wait for a promise is reached by the host before another wait resumes the operation. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theHostOvertakesAPromise(boolean isResumedByAnOperation) {
        device(true);
        TimelineSemaphore promised = timeline();
        TimelineSemaphore other = timeline();
        submit("promising", 2, null, Fence.at(promised, 3));
        submit("resumed", 0, Fence.join(Fence.at(promised, 2), Fence.at(other, 1)), Fence.at(timeline(), 1));
        promised.signal(2);
        if (isResumedByAnOperation) {
            submit("resuming", 1, null, Fence.at(other, 1));
        } else {
            other.signal(1);
        }
        clock.runUntilIdle();
        assertIsRepeated(recorder.recording(), isResumedByAnOperation ? 3 : 2, "");
    }

    private static Fence.Entry entry(TimelineSemaphore timeline, long value) {
        return new Fence.Entry(timeline, value);
    }

    @Test
    void randomWorkIsRepeatedWhereSomeHangsAndFails() throws IOException {
        int ran = 0;
        int left = 0;
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            work(new Random(seed));
            FlightRecording recording = recorder.recording();
            List<RecordedOperation> all = new OperationGraph(recording).operations();
            int now = (int) all.stream().filter(RecordedOperation::hasRun).count();
            assertIsRepeated(recording, now, "seed " + seed);
            ran += now;
            left += all.size() - now;
            close();
            open();
        }
        System.out.printf("%d operations ran, %d failed or hang%n", ran, left);
        assertThat(ran).isGreaterThan(ROUNDS);
        assertThat(left).isGreaterThan(ROUNDS);
    }

    /** Operations signal separate timelines; the host signals 1 of others, and some operations signal 2 or more. */
    private void work(Random random) {
        device(random.nextBoolean());
        TimelineSemaphore never = timeline();
        List<TimelineSemaphore> shared = List.of(timeline(), timeline(), timeline());
        for (int i = 3 + random.nextInt(10); i > 0; i--) {
            TimelineSemaphore one = shared.get(random.nextInt(shared.size()));
            switch (random.nextInt(8)) {
                case 0 -> host(one);
                case 1 -> clock.step();
                default -> operation(random, one, shared, never);
            }
        }
        host(shared.get(random.nextInt(shared.size())));
        clock.runUntilIdle();
    }

    /** Signals a value neither reached nor promised: of a wait for a promise, a replay does not always know when the host overtook the promise. */
    private static void host(TimelineSemaphore timeline) {
        if (timeline.failure() == null && timeline.frontierAt(1) == null) {
            timeline.signal(1);
        }
    }

    private void operation(
            Random random, TimelineSemaphore one, List<TimelineSemaphore> shared, TimelineSemaphore never) {
        Map<TimelineSemaphore, Long> waits = new TreeMap<>(Comparator.comparing(TimelineSemaphore::id));
        for (int i = random.nextInt(3); i > 0; i--) {
            waits.put(shared.get(random.nextInt(shared.size())), 1L + random.nextInt(3));
        }
        if (random.nextInt(6) == 0) {
            waits.put(never, 1L);
        }
        List<Fence.Entry> signals = new ArrayList<>(List.of(entry(timeline(), 1)));
        if (random.nextBoolean() && waits.getOrDefault(one, 0L) < 3) {
            signals.add(entry(one, 1 + Math.max(waits.getOrDefault(one, 0L), 1 + random.nextInt(2))));
        }
        submit("work", random.nextInt(3), waits.isEmpty() ? null : fence(waits), Fence.of(signals));
    }

    private static Fence fence(Map<TimelineSemaphore, Long> points) {
        return Fence.of(points.entrySet().stream()
                .map(each -> entry(each.getKey(), each.getValue()))
                .toList());
    }
}
