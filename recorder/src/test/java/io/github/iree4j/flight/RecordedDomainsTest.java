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
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two domains, each with a recorder, with waits for each other's work: a timeline for each operation, and the host's,
 * signalled at any time; failing hardware.
 */
class RecordedDomainsTest {
    private static final long SEED = Effort.seed(20261124);

    @TempDir
    Path folder;

    private static final class Half implements AutoCloseable {
        final FrontierTracker tracker = FrontierTracker.create();
        final SchedulingDomain domain;
        final List<VirtualDevice> devices = new ArrayList<>();
        final List<DeviceQueue> queues = new ArrayList<>();

        Half(AxisAllocator axes, VirtualClock clock, VirtualScript script, int devices, int queues) {
            domain = SchedulingDomain.create(axes, tracker, Frontier.DEFAULT_CAPACITY);
            Object group = new Object();
            for (int i = 0; i < devices; i++) {
                VirtualDevice device = VirtualDevice.builder()
                        .id("device-" + i)
                        .clock(clock)
                        .script(script)
                        .schedulingDomain(domain)
                        .directGroup(group)
                        .fifoQueues(queues)
                        .build();
                this.devices.add(device);
                for (int q = 0; q < queues; q++) {
                    this.queues.add(device.queue(q));
                }
            }
        }

        @Override
        public void close() {
            devices.forEach(VirtualDevice::close);
            tracker.close();
        }
    }

    private static VirtualScript script(Random random, int failEvery) {
        return new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return 1 + random.nextInt(2000);
            }

            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                return failEvery > 0 && random.nextInt(failEvery) == 0
                        ? IreeException.of(StatusCode.DATA_LOSS, "the hardware failed number " + number)
                        : null;
            }
        };
    }

    @Test
    void eachIsReplayedWithoutTheOther() throws IOException {
        for (long seed = SEED; seed < SEED + 60; seed++) {
            Random random = new Random(seed);
            VirtualClock clock = VirtualClock.stepped();
            AxisAllocator axes = AxisAllocator.create(9, 0);
            VirtualScript script = script(random, seed % 3 == 0 ? 40 : 0);
            List<TimelineSemaphore> timelines = new ArrayList<>();
            List<Fence> fences = new ArrayList<>();
            try (Half left = new Half(axes, clock, script, 1 + random.nextInt(3), 1 + random.nextInt(2));
                    Half right = new Half(axes, clock, script, 1, 1 + random.nextInt(3));
                    FlightRecorder one = FlightRecorder.open(left.domain, RecorderOptions.DEFAULTS);
                    FlightRecorder two = FlightRecorder.open(right.domain, RecorderOptions.DEFAULTS)) {
                for (int i = 0; i < 120; i++) {
                    TimelineSemaphore own = TimelineSemaphore.create(0);
                    timelines.add(own);
                    if (random.nextInt(10) == 0) {
                        clock.schedule(random.nextInt(4000), () -> own.signal(1));
                        continue;
                    }
                    List<Fence.Entry> waits = new ArrayList<>();
                    for (int w = random.nextInt(4); w > 0 && i > 0; w--) {
                        waits.add(new Fence.Entry(timelines.get(random.nextInt(i)), 1));
                    }
                    Fence wait = waits.isEmpty() ? null : Fence.of(waits);
                    Fence signal = Fence.at(own, 1);
                    fences.add(signal);
                    if (wait != null) {
                        fences.add(wait);
                    }
                    List<DeviceQueue> queues = (random.nextInt(3) == 0 ? right : left).queues;
                    queues.get(random.nextInt(queues.size())).barrier(wait, signal, 0);
                    for (int steps = random.nextInt(3); steps > 0; steps--) {
                        clock.step();
                    }
                }
                clock.runUntilIdle();
                for (FlightRecorder recorder : List.of(one, two)) {
                    Replay replay = Replay.of(recorder.recording());
                    assertThat(replay.differences())
                            .as("seed %d: %s", seed, replay)
                            .isEmpty();
                    assertThat(replay.leftOut()).isZero();
                    assertThat(replay.operations()).isPositive();
                }
            } finally {
                fences.forEach(Fence::close);
                timelines.forEach(TimelineSemaphore::close);
            }
        }
    }

    @Test
    void anOldSignalOfTheHostDoesNotChangeTheOrderOfResumption() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (Half half = new Half(AxisAllocator.create(9, 0), clock, script(new Random(SEED), 0), 2, 1);
                TimelineSemaphore host = TimelineSemaphore.create(0);
                TimelineSemaphore shared = TimelineSemaphore.create(0);
                TimelineSemaphore ends = TimelineSemaphore.create(0);
                TimelineSemaphore others = TimelineSemaphore.create(0);
                Fence both = Fence.of(List.of(new Fence.Entry(host, 1), new Fence.Entry(shared, 1)));
                Fence one = Fence.at(shared, 1);
                Fence first = Fence.at(ends, 1);
                Fence second = Fence.at(others, 1);
                FlightRecorder recorder = FlightRecorder.open(half.domain, RecorderOptions.DEFAULTS, clock::now)) {
            DeviceQueue queue = half.queues.getFirst();
            queue.barrier(both, first, 0);
            queue.barrier(one, second, 0);
            host.signal(1);
            half.queues.getLast().barrier(null, one, 0);
            clock.runUntilIdle();
            Replay replay = Replay.of(recorder.recording());
            assertThat(replay.differences()).as("%s", replay).isEmpty();
        }
    }

    @Test
    void manyFailuresTakeNoRoomFromLongNamesOfFunctions() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        Random random = new Random(SEED);
        VirtualScript script = new VirtualScript() {
            private int failures;

            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                return IreeException.of(StatusCode.INTERNAL, "failure " + failures++ + " of " + "\u4e2d".repeat(9000));
            }
        };
        Path file = folder.resolve("names.iree4j");
        try (Half half = new Half(AxisAllocator.create(9, 0), clock, script, 1, 1)) {
            FlightRecorder recorder =
                    FlightRecorder.open(half.domain, RecorderOptions.DEFAULTS.withFile(file, 256 << 20));
            for (int i = 0; i < Definitions.MAXIMUM_NAMES + 100; i++) {
                String function = i + "." + "\ud83d\ude00".repeat(2000);
                MemoryHolder holder = new MemoryHolder(function, new OperationsUnderWay());
                MemoryHolder before = holder.enter();
                try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                        Fence signal = Fence.at(timeline, 1)) {
                    half.queues.getFirst().barrier(null, signal, 0);
                    clock.runUntilIdle();
                }
                holder.leave(before);
            }
            FlightRecording ring = recorder.recording();
            recorder.close();
            FlightRecording read = FlightRecording.read(file);
            assertThat(new OperationGraph(FlightRecording.read(written(ring)))
                            .operations()
                            .getLast()
                            .function())
                    .startsWith(Definitions.MAXIMUM_NAMES + 99 + ".");
            List<RecordedOperation> operations = new OperationGraph(read).operations();
            assertThat(operations).hasSize(Definitions.MAXIMUM_NAMES + 100);
            assertThat(operations.get(random.nextInt(100)).failure()).startsWith("failure ");
            assertThat(operations.get(Definitions.MAXIMUM_NAMES - 1000).function())
                    .startsWith(Definitions.MAXIMUM_NAMES - 1000 + ".")
                    .endsWith("\ud83d\ude00");
            assertThat(operations.getLast().function()).startsWith(Definitions.MAXIMUM_NAMES + 99 + ".");
        }
    }

    private Path written(FlightRecording recording) throws IOException {
        Path file = folder.resolve("ring.iree4j");
        recording.write(file);
        return file;
    }
}
