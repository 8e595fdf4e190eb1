package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.LabResult;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.status.IreeException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Claims about recordings in runs of the laboratory. */
class ScenarioExportTest {
    private static final long SEED = Effort.seed(20261128);

    private final VirtualClock clock = VirtualClock.stepped();
    private final List<VirtualDevice> devices = new ArrayList<>();
    private long duration = 1;
    private int width = 2; // of queues without order

    /** Records the submissions of an action to devices with these ids, and makes a scenario. */
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
                        .script(new VirtualScript() {
                            @Override
                            public long duration(int queue, long number, QueueOperation operation) {
                                return duration;
                            }
                        })
                        .schedulingDomain(domain)
                        .directGroup(group);
                devices.add((streams.test(id) ? device.fifoQueues(1) : device.unorderedQueue(width)).build());
            }
            try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
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
    void waitForASkippedValueIsForTheNextValue() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 0, s, 7);
                submit(1, s, 3, t, 1);
            });
            assertThat(scenario.operations().get(1).waits().values()).containsExactly(7L);
            LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
            assertThat(result.violations()).isEmpty();
            assertThat(result.isRetired()).isTrue();
        }
    }

    /** The recorder has the names of the timelines of unfinished work. */
    @Test
    void timelinesHaveTheirGivenNames() throws IOException {
        String name = "text: [\"to\u0085speech\"] \u00b7 \ud83d\ude80";
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0);
                TimelineSemaphore u = TimelineSemaphore.create(0)) {
            s.setName(name);
            u.setName("u".repeat(127) + "\ud83d\ude80");
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 0, s, 1);
                submit(0, t, 0, t, 1);
                submit(0, u, 0, u, 1);
                submit(1, s, 2, t, 2); // never
                submit(1, u, 2, t, 3);
            });
            assertThat(scenario.semaphores())
                    .containsExactlyInAnyOrder(
                            new Scenario.Semaphore("t" + s.id(), name.replace('\u0085', ' ')),
                            new Scenario.Semaphore("t" + t.id(), "t" + t.id()),
                            new Scenario.Semaphore("t" + u.id(), "u".repeat(127)));
        }
    }

    @Test
    void signalOfTheHostIsNotTakenForTheNextSignalOfAnOperation() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 1, t, 1);
                submit(1, t, 1, s, 2); // follows the first, which would be waited for
                s.signal(1);
            });
            assertThat(scenario.operations().getFirst().waits()).isEmpty();
            assertThat(scenario.operations().get(1).waits()).hasSize(1);
        }
    }

    @Test
    void signalOfTheHostIsNotTakenForAPromiseOfALaterValue() throws IOException {
        duration = 100;
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 0, s, 2);
                s.signal(1);
                submit(1, s, 1, t, 1); // begins at once, beside the first
            });
            assertThat(scenario.operations().get(1).waits()).isEmpty();
            assertThat(Laboratory.run(scenario, LabOptions.DEFAULTS)
                            .operations()
                            .get(1)
                            .start())
                    .isZero();
        }
    }

    @Test
    void omittedOperationIsNotTakenForTheNextOperation() throws IOException {
        duration = 100;
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("a", "b"), () -> {
                submit(0, s, 0, s, 1);
                clock.runUntil(12L * 86_400 * 1_000_000_000);
                submit(0, s, 0, s, 2);
                submit(1, s, 1, t, 1); // begins at once: the signaller is long over
            });
            assertThat(scenario.operations()).hasSize(2);
            assertThat(scenario.operations().get(1).waits()).isEmpty();
        }
    }

    @Test
    void devicesWithTheSameNameAreSeparateHardware() throws IOException {
        try (TimelineSemaphore t = TimelineSemaphore.create(0)) {
            List<String> ids = List.of("gpu", "gpu", "設備", "装置");
            Scenario scenario = record(true, ids, () -> {
                for (int i = 0; i < ids.size(); i++) {
                    submit(i, t, i, t, i + 1);
                }
            });
            assertThat(scenario.hardware()).hasSize(4);
            assertThat(scenario.operations().stream().map(Scenario.Operation::hardware))
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void streamKeepsItsOrderBesideAQueueWithoutOrder() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore t = TimelineSemaphore.create(0)) {
            Scenario scenario = record("gpu"::equals, List.of("gpu", "cpu"), () -> {
                submit(0, s, 0, s, 1);
                submit(0, s, 0, s, 2);
                submit(1, s, 2, t, 1);
            });
            LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
            assertThat(result.violations()).isEmpty();
            assertThat(result.operations().get(1).start())
                    .isEqualTo(result.operations().get(0).end());
        }
    }

    /** As of a service: nothing follows anything, and the queue has no order. */
    @Test
    void aLongRecordingOfIndependentOperationsIsAScenarioForTheLaboratory() throws IOException {
        List<TimelineSemaphore> timelines = new ArrayList<>();
        Scenario scenario = record(false, List.of("cpu"), () -> {
            for (int i = 0; i < 5_000; i++) {
                timelines.add(TimelineSemaphore.create(0));
                submit(0, timelines.getLast(), 0, timelines.getLast(), 1);
            }
        });
        timelines.forEach(TimelineSemaphore::close);
        assertThat(scenario.operations()).hasSizeBetween(3_840, 4_096);
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
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
            assertThat(Laboratory.run(scenario.withPlacement(Scenario.Placement.QUEUES), LabOptions.DEFAULTS)
                            .violations())
                    .as("seed %d", seed)
                    .isEmpty();
            timelines.forEach(TimelineSemaphore::close);
        }
    }

    @Test
    void valueSignalledByTheHostInBetweenIsAWaitForTheValueBefore() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            Scenario scenario = record(false, List.of("cpu"), () -> {
                submit(0, s, 0, s, 1);
                clock.runUntilIdle();
                s.signal(2);
                submit(0, s, 2, s, 3);
            });
            assertThat(scenario.operations().get(1).waits()).containsExactly(Map.entry("t" + s.id(), 1L));
            assertThat(Laboratory.run(scenario, LabOptions.DEFAULTS).violations())
                    .isEmpty();
        }
    }

    @Test
    void operationSubmittedAfterTheValueBeforeIsAWaitForTheValue() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            Scenario scenario = record(false, List.of("cpu"), () -> {
                submit(0, s, 0, s, 1);
                clock.runUntilIdle();
                submit(0, s, 0, s, 2);
            });
            assertThat(scenario.operations().get(1).waits()).containsExactly(Map.entry("t" + s.id(), 1L));
        }
    }

    @Test
    void orderOfSignalsDueToChanceIsRefused() {
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            assertThatThrownBy(() -> record(false, List.of("cpu"), () -> {
                        submit(0, s, 0, s, 1);
                        submit(0, s, 0, s, 2);
                    }))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("signals timeline %d at 2, and is not known to follow", s.id())
                    .hasMessageContaining("let the operation wait for the value");
        }
    }

    @Test
    void valueBeyondTheValuesOfAScenarioIsRefused() {
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            assertThatThrownBy(() -> record(true, List.of("gpu"), () -> submit(0, s, 0, s, 1L << 60)))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("at 1152921504606846976, and the values of a scenario are within");
        }
    }

    @Test
    void moreDevicesThanAScenarioHasAreRefused() {
        List<String> ids = IntStream.range(0, 300).mapToObj(i -> "v" + i).toList();
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            assertThatThrownBy(() -> record(true, ids, () -> {
                        for (int i = 0; i < ids.size(); i++) {
                            submit(i, s, i, s, i + 1);
                        }
                    }))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("300 devices, and a scenario at most 256");
        }
    }

    @Test
    void moreOperationsAtOnceThanLanesOfAScenarioAreStated() throws IOException {
        width = 100;
        List<TimelineSemaphore> timelines = new ArrayList<>();
        Scenario scenario = record(false, List.of("cpu"), () -> {
            for (int i = 0; i < width; i++) {
                timelines.add(TimelineSemaphore.create(0));
                submit(0, timelines.getLast(), 0, timelines.getLast(), 1);
            }
        });
        timelines.forEach(TimelineSemaphore::close);
        assertThat(scenario.hardware().getFirst().lanes()).isEqualTo(64);
        assertThat(scenario.description()).contains("100 operations of a queue ran at once, and 64 lanes");
    }

    /**
     * Operations of no duration: an operation after a long operation needs no lane more, and an operation inside does.
     */
    @Test
    void anOperationOfNoDurationInsideALongerOperationHasALaneInTheLaboratoryToo() throws IOException {
        for (boolean isInside : new boolean[] {false, true}) {
            List<TimelineSemaphore> timelines = IntStream.range(0, 3)
                    .mapToObj(_ -> TimelineSemaphore.create(0))
                    .toList();
            Scenario scenario = record(false, List.of("cpu"), () -> {
                duration = 10_000;
                submit(0, timelines.get(0), 0, timelines.get(0), 1);
                clock.runUntil(clock.now() + (isInside ? 500 : 10_000));
                duration = 0;
                submit(0, timelines.get(1), 0, timelines.get(1), 1);
                clock.runUntilIdle();
                duration = 10_000;
                submit(0, timelines.get(2), 0, timelines.get(2), 1);
            });
            timelines.forEach(TimelineSemaphore::close);
            devices.clear();
            assertThat(scenario.hardware().getFirst().lanes()).isEqualTo(isInside ? 2 : 1);
            LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
            assertThat(result.violations()).isEmpty();
            assertThat(result.operations().get(1).end()).isEqualTo(isInside ? 500 : 10_000);
        }
    }

    @Test
    void operationTooLongForAScenarioIsRefused() {
        duration = 200_000_000_000L;
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            assertThatThrownBy(() -> record(true, List.of("gpu"), () -> submit(0, s, 0, s, 1)))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("ran for 200000000000 ns, and an operation of a scenario");
        }
    }

    @Test
    void operationsBeforeALongPauseAreLeftOut() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("gpu"), () -> {
                submit(0, s, 0, s, 1);
                clock.runUntil(12L * 86_400 * 1_000_000_000);
                submit(0, s, 1, s, 2);
            });
            assertThat(scenario.operations()).hasSize(1);
            assertThat(scenario.description())
                    .contains("the latest 1 of 2 that ended")
                    .doesNotContain("without");
        }
    }

    @Test
    void unfinishedOperationsAreCounted() throws IOException {
        try (TimelineSemaphore s = TimelineSemaphore.create(0);
                TimelineSemaphore never = TimelineSemaphore.create(0)) {
            Scenario scenario = record(true, List.of("gpu"), () -> {
                submit(0, s, 0, s, 1);
                submit(0, never, 1, s, 2);
                submit(0, never, 2, s, 3);
            });
            assertThat(scenario.operations()).hasSize(1);
            assertThat(scenario.description()).contains("without 2 that did not end, did not run, or lack records");
        }
    }

    /** Streams and queues without order; values jump, also by the host; operations wait, or not. */
    @Test
    void randomRecordingRunsInTheLaboratoryWithoutViolationsOrIsRefused() throws IOException {
        int ran = 0;
        int refused = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(300); seed++) {
            Random random = new Random(seed);
            List<TimelineSemaphore> timelines = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                timelines.add(TimelineSemaphore.create(0));
            }
            long[] values = new long[timelines.size()];
            devices.clear();
            int kinds = random.nextInt(3);
            int carefree = random.nextInt(30);
            try {
                Scenario scenario = record(id -> kinds == 0 || kinds == 1 && id.equals("a"), List.of("a", "b"), () -> {
                    for (int i = 0; i < 40; i++) {
                        int at = random.nextInt(values.length);
                        TimelineSemaphore timeline = timelines.get(at);
                        if (random.nextInt(4) == 0) {
                            clock.runUntilIdle();
                            if (timeline.failure() == null && timeline.value() == values[at]) {
                                timeline.signal(++values[at]);
                            }
                            continue;
                        }
                        boolean isWaiting = timeline.value() < values[at] || random.nextBoolean();
                        long before = isWaiting && random.nextInt(30) >= carefree / 10 ? values[at] : 0;
                        values[at] += 1 + random.nextInt(3);
                        submit(random.nextInt(2), timeline, before, timeline, values[at]);
                        if (random.nextInt(3) == 0) {
                            clock.step();
                        }
                    }
                });
                assertThat(Laboratory.run(scenario, LabOptions.DEFAULTS).violations())
                        .as("seed %d", seed)
                        .isEmpty();
                ran++;
            } catch (IreeException e) {
                assertThat(e).as("seed %d", seed).hasMessageContaining("is not known to follow");
                refused++;
            }
            timelines.forEach(TimelineSemaphore::close);
        }
        assertThat(ran).isGreaterThan(refused);
    }

    @Test
    void recordingOfUnrulyWorkRunsInTheLaboratoryWithoutViolationsOrIsRefused() throws IOException {
        int ran = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(300); seed++) {
            ByteArrayOutputStream yaml = new ByteArrayOutputStream();
            try {
                ExportFormat.SCENARIO.write(new OperationGraph(UnrulyWork.record(seed, 60)), yaml);
            } catch (IreeException e) {
                assertThat(e).as("seed %d", seed).message().containsAnyOf("not known to follow", "no operations");
                continue;
            }
            Scenario scenario = Laboratory.read(yaml.toString(StandardCharsets.UTF_8));
            assertThat(Laboratory.run(scenario, LabOptions.DEFAULTS).violations())
                    .as("seed %d", seed)
                    .isEmpty();
            ran++;
        }
        assertThat(ran).isPositive();
    }

    /**
     * Threads with work that waits on the hardware, or is awaited by the host, or begins behind a value of the host's;
     * a ring too small, or not.
     */
    @Test
    void recordingOfThreadsOnTheCpuRunsInTheLaboratoryWithoutViolations() throws Exception {
        for (int round = 0; round < 4; round++) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(12, 0), FrontierTracker.create(), 12);
            FlightRecording recording;
            boolean isWrapped = round % 2 == 0;
            int calls = isWrapped ? 4_000 : 100;
            try (Device device = new LocalBackend().open(DeviceOptions.builder().schedulingDomain(domain));
                    FlightRecorder recorder = FlightRecorder.open(
                            domain, RecorderOptions.DEFAULTS.withBytes(isWrapped ? 1 << 20 : 16 << 20))) {
                List<Thread> threads = new ArrayList<>();
                for (long seed = SEED + 3 * round; seed < SEED + 3 * round + 3; seed++) {
                    Random random = new Random(seed);
                    threads.add(Thread.ofPlatform().start(() -> {
                        for (int i = 0; i < calls; i++) {
                            call(device.queue(0), random);
                        }
                    }));
                }
                for (Thread each : threads) {
                    each.join();
                }
                recording = recorder.recording();
            }
            assertThat(recording.header().completeFrom() > 0).isEqualTo(isWrapped);
            ByteArrayOutputStream yaml = new ByteArrayOutputStream();
            ExportFormat.SCENARIO.write(new OperationGraph(recording), yaml);
            Scenario scenario = Laboratory.read(yaml.toString(StandardCharsets.UTF_8));
            assertThat(Laboratory.run(scenario, LabOptions.DEFAULTS).violations())
                    .as("seed %d, round %d", SEED, round)
                    .isEmpty();
        }
    }

    private static void call(DeviceQueue queue, Random random) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            long value = 0;
            for (int i = 1 + random.nextInt(5); i > 0; i--) {
                int kind = random.nextInt(4);
                if (kind == 0) {
                    timeline.await(value);
                    value += random.nextInt(2);
                    if (value > timeline.value()) {
                        timeline.signal(value);
                    }
                }
                try (Fence waits = Fence.at(timeline, value);
                        Fence signals = Fence.at(timeline, value + 1)) {
                    queue.barrier(kind == 0 && random.nextBoolean() ? null : waits, signals, 0);
                }
                value++;
            }
            timeline.await(value);
        }
    }
}
