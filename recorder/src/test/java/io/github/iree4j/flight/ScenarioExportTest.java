package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.LabResult;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Claims about recordings that the laboratory runs. */
class ScenarioExportTest {
    private static final long SEED = Effort.seed(20261128);

    private final VirtualClock clock = VirtualClock.stepped();
    private final List<VirtualDevice> devices = new ArrayList<>();

    /** Records what an action submits to devices with these ids, and makes a scenario of it. */
    private Scenario record(boolean streams, List<String> ids, Runnable work) throws IOException {
        return record(_ -> streams, ids, work);
    }

    private Scenario record(Predicate<String> streams, List<String> ids, Runnable work) throws IOException {
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, 16);
            Object group = new Object();
            for (String id : ids) {
                VirtualDevice.Builder device = VirtualDevice.builder()
                        .id(id)
                        .clock(clock)
                        .schedulingDomain(domain)
                        .directGroup(group);
                devices.add((streams.test(id) ? device.fifoQueues(1) : device.unorderedQueue(2)).build());
            }
            try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULT, clock::now)) {
                work.run();
                clock.runUntilIdle();
                ByteArrayOutputStream yaml = new ByteArrayOutputStream();
                ExportFormat.SCENARIO.write(new OperationGraph(recorder.recording()), yaml);
                return Laboratory.read(yaml.toString(StandardCharsets.UTF_8));
            } finally {
                devices.forEach(VirtualDevice::close);
            }
        }
    }

    private void submit(int device, TimelineSemaphore wait, long value, TimelineSemaphore signal, long next) {
        try (Fence waits = Fence.at(wait, value);
                Fence signals = Fence.at(signal, next)) {
            devices.get(device).submit(0, value == 0 ? null : waits, signals, new VirtualOperation("work"));
        }
    }

    @Test
    void waitForAValueThatIsSkippedIsForTheNextOne() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 0, s, 7);
                submit(1, s, 3, t, 1);
            });
            assertThat(scenario.operations().get(1).waits().values()).containsExactly(7L);
            LabResult result = Laboratory.run(scenario, LabOptions.DEFAULT);
            assertThat(result.violations()).isEmpty();
            assertThat(result.isRetired()).isTrue();
        }
    }

    @Test
    void signalOfTheHostIsNotTakenForTheNextOneOfAnOperation() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 1, t, 1);
                submit(1, t, 1, s, 2); // follows the first, which would wait for it
                s.signal(1);
            });
            assertThat(scenario.operations().getFirst().waits()).isEmpty();
            assertThat(scenario.operations().get(1).waits()).hasSize(1);
        }
    }

    @Test
    void devicesWithOneNameAreNotOneHardware() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            List<String> ids = List.of("gpu", "gpu", "設備", "装置");
            Scenario scenario = record(true, ids, () -> {
                for (int i = 0; i < ids.size(); i++) {
                    submit(i, s, 0, t, i + 1);
                }
            });
            assertThat(scenario.hardware()).hasSize(4);
            assertThat(scenario.operations().stream().map(Scenario.Operation::hardware))
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void streamKeepsItsOrderBesideAQueueThatHasNone() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record("gpu"::equals, List.of("gpu", "cpu"), () -> {
                submit(0, s, 0, s, 1);
                submit(0, s, 0, s, 2);
                submit(1, s, 2, t, 1);
            });
            LabResult result = Laboratory.run(scenario, LabOptions.DEFAULT);
            assertThat(result.violations()).isEmpty();
            assertThat(result.operations().get(1).start())
                    .isEqualTo(result.operations().get(0).end());
        }
    }

    /** As of a service: nothing follows anything, and the queue has no order. */
    @Test
    void aLongRecordingOfIndependentOperationsIsAScenarioThatTheLaboratoryRuns() throws IOException {
        List<TimelineSemaphore> timelines = new ArrayList<>();
        Scenario scenario = record(false, List.of("cpu"), () -> {
            for (int i = 0; i < 5_000; i++) {
                timelines.add(TimelineSemaphore.create(0));
                submit(0, timelines.getLast(), 0, timelines.getLast(), 1);
            }
        });
        timelines.forEach(TimelineSemaphore::close);
        assertThat(scenario.operations()).hasSizeBetween(3_840, 4_096);
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULT);
        assertThat(result.violations()).isEmpty();
        assertThat(result.isRetired()).isTrue();
    }

    @Test
    void recordingOfRandomWorkIsAScenario() throws IOException {
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            Random random = new Random(seed);
            List<TimelineSemaphore> timelines = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                timelines.add(TimelineSemaphore.create(0));
            }
            long[] values = new long[timelines.size()];
            devices.clear();
            Scenario scenario = record(random.nextBoolean(), List.of("a", "b"), () -> {
                for (int i = 0; i < 40; i++) {
                    int at = random.nextInt(values.length);
                    long before = values[at];
                    values[at] += 1 + random.nextInt(3);
                    submit(random.nextInt(2), timelines.get(at), before, timelines.get(at), values[at]);
                    if (random.nextInt(3) == 0) {
                        clock.step();
                    }
                }
            });
            assertThat(Laboratory.run(scenario.withPlacement(Scenario.Placement.QUEUES), LabOptions.DEFAULT)
                            .violations())
                    .as("seed %d", seed)
                    .isEmpty();
            timelines.forEach(TimelineSemaphore::close);
        }
    }
}
