package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.Explanation;
import io.github.iree4j.flight.FlightEvent;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.LongestPath;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.RecordedOperation;
import io.github.iree4j.flight.RecorderOptions;
import io.github.iree4j.flight.Replay;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;

/** The flight recorder on devices with streams. */
public final class RecordedStreams {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    private static int differences;

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(11, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final TestDriver driver;
    private final StreamDevice device;
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** A check of a device. */
    @FunctionalInterface
    private interface Check {
        void run(RecordedStreams streams) throws Exception;
    }

    private RecordedStreams(TestDriver driver, int queues) {
        this.driver = driver;
        this.device = driver.open(DeviceOptions.builder().queueCount(queues).schedulingDomain(domain));
    }

    private <T extends AutoCloseable> T closed(T resource) {
        opened.add(resource);
        return resource;
    }

    private Fence at(TimelineSemaphore semaphore, long value) {
        return closed(Fence.at(semaphore, value));
    }

    private static RecordedOperation operation(OperationGraph graph, int index) {
        return graph.operations().get(index);
    }

    private static void check(TestDriver driver, int queues, Check check) throws Exception {
        RecordedStreams streams = new RecordedStreams(driver, queues);
        try {
            check.run(streams);
        } finally {
            streams.close();
        }
    }

    /**
     * Two operations of a stream and an operation of another behind them, while the hardware holds still and then goes
     * on.
     */
    public static void assertBeginsAndEndsAreRecorded(TestDriver driver) throws Exception {
        check(driver, 2, RecordedStreams::assertBeginsAndEndsAreRecorded);
    }

    private void assertBeginsAndEndsAreRecorded() throws IOException {
        Buffer buffer = closed(device.allocator().allocate(OF_DEVICE, 64));
        TimelineSemaphore first = closed(TimelineSemaphore.create(0));
        TimelineSemaphore second = closed(TimelineSemaphore.create(0));
        FlightRecording recording;
        long held;
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            driver.hang();
            device.queue(0).fill(null, at(first, 1), buffer, 0, 4, 1, 4, 0);
            device.queue(0).fill(at(first, 1), at(first, 2), buffer, 0, 4, 2, 4, 0);
            device.queue(1).fill(at(first, 2), at(second, 1), buffer, 4, 4, 3, 4, 0);
            OperationGraph early = new OperationGraph(recorder.recording());
            assertThat(operation(early, 0).beganAt()).as("the hardware has it").isNotEqualTo(RecordedOperation.NEVER);
            assertThat(operation(early, 1).beganAt()).as("another is before it").isEqualTo(RecordedOperation.NEVER);
            assertThat(early.end(operation(early, 0))).isEqualTo(RecordedOperation.NEVER);
            assertThat(early.operations()).allMatch(each -> early.hasEnded(each) == Known.NO);
            assertThat(early.recording().events().stream().filter(FlightEvent.Open.class::isInstance))
                    .hasSize(3);
            held = recorder.statistics().recorded();
            driver.goOn();
            second.await(1, LONG);
            recording = everything(recorder, 3);
        }
        OperationGraph graph = new OperationGraph(recording);
        assertThat(graph.operations()).hasSize(3).allSatisfy(each -> {
            assertThat(each.status()).isEqualTo(StatusCode.OK);
            assertThat(each.issuedAt()).isGreaterThanOrEqualTo(each.submittedAt());
            assertThat(each.completedAt()).isGreaterThanOrEqualTo(each.issuedAt());
            assertThat(each.overAt()).isGreaterThanOrEqualTo(each.completedAt());
            assertThat(each.epoch()).isPositive();
            if (each.beganAt() != RecordedOperation.NEVER) {
                assertThat(each.beganAt()).isBetween(each.issuedAt(), each.completedAt());
            }
        });
        assertThat(graph.end(operation(graph, 0)))
                .isGreaterThan(recording.events().stream()
                        .filter(event -> event.sequence() == held - 1)
                        .mapToLong(FlightEvent::time)
                        .max()
                        .orElseThrow());
        assertThat(operation(graph, 1).decisions().getFirst().decision()).isEqualTo(WaitDecision.ELIDED_FIFO);
        assertThat(operation(graph, 2).decisions().getFirst().decision()).isEqualTo(WaitDecision.DEVICE_WAIT);
        assertThat(operation(graph, 2).frontier().epochOf(operation(graph, 1).axis()))
                .isEqualTo(operation(graph, 1).epoch());
        Explanation explanation = new Explanation(graph);
        assertThat(explanation.times(operation(graph, 0)).running()).isPositive();
        assertThat(Replay.of(recording).toString()).endsWith("no differences");
        LongestPath.assertIsCriticalPath(recording, "three operations");
    }

    /** The hardware reports the end of an execution, and nothing about the dispatches. */
    public static void assertDispatchesAreListedWithoutTimes(TestDriver driver, Function<Device, Executable> kernels)
            throws Exception {
        check(driver, 1, streams -> streams.assertDispatchesAreListedWithoutTimes(kernels));
    }

    private void assertDispatchesAreListedWithoutTimes(Function<Device, Executable> kernels) throws IOException {
        Executable loaded = closed(kernels.apply(device));
        Buffer buffer = closed(device.allocator().allocate(OF_DEVICE, 64));
        TimelineSemaphore timeline = closed(TimelineSemaphore.create(0));
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0));
        commands.dispatch(
                loaded,
                loaded.lookup("coordinates"),
                DispatchConfig.of(4, 3, 1),
                new int[0],
                List.of(BufferRef.of(buffer)),
                0);
        commands.finish();
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            device.queue(0).execute(null, at(timeline, 1), commands, null, 0);
            timeline.await(1, LONG);
            OperationGraph graph = new OperationGraph(everything(recorder, 1));
            assertThat(new Explanation(graph).explain(operation(graph, 0)))
                    .containsSubsequence(
                            "  dispatches, sampled; the device does not report their times:",
                            "    coordinates of 4x3x1");
            assertThat(new Explanation(graph).summary(100)).noneMatch(line -> line.contains("with the most time"));
        }
    }

    /**
     * Random fills of memory allocated and freed by queues, barriers, and waits among them, from the host and the
     * device.
     */
    public static void assertRandomWorkIsReplayed(TestDriver driver, long seed) throws Exception {
        check(driver, 3, streams -> streams.assertRandomWorkIsReplayed(seed, 100));
    }

    /** The number of differences of all random work so far. */
    public static int differences() {
        return differences;
    }

    private void assertRandomWorkIsReplayed(long seed, int count) throws IOException {
        Random random = new Random(seed);
        List<TimelineSemaphore> timelines = new ArrayList<>();
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            for (int i = 0; i < count; i++) {
                TimelineSemaphore own = closed(TimelineSemaphore.create(0));
                timelines.add(own);
                DeviceQueue queue = device.queue(random.nextInt(device.queueCount()));
                List<Fence.Entry> waits = new ArrayList<>();
                for (int w = random.nextInt(3); w > 0 && i > 0; w--) {
                    waits.add(new Fence.Entry(timelines.get(random.nextInt(i)), 1));
                }
                Fence wait = waits.isEmpty() ? null : closed(Fence.of(waits));
                if (random.nextInt(4) == 0) {
                    TimelineSemaphore there = closed(TimelineSemaphore.create(0));
                    Buffer buffer = closed(queue.alloca(
                            wait,
                            at(there, 1),
                            OF_DEVICE,
                            64L * (1 + random.nextInt(50)),
                            DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER));
                    TimelineSemaphore filled = closed(TimelineSemaphore.create(0));
                    queue.fill(at(there, 1), at(filled, 1), buffer, 0, 64, i, 4, 0);
                    queue.dealloca(at(filled, 1), at(own, 1), buffer, 0);
                } else {
                    queue.barrier(wait, at(own, 1), 0);
                }
                if (random.nextInt(20) == 0) {
                    own.await(1, LONG);
                }
            }
            for (TimelineSemaphore each : timelines) {
                each.await(1, LONG);
            }
            FlightRecording recording = everything(recorder, count);
            Replay replay = Replay.of(recording);
            // Decisions during the report of an end cannot always be told: docs/recorder.md. Frontiers of all later
            // work differ with such a decision.
            assertThat(replay.differences().stream().filter(each -> each.what().equals("the decisions")))
                    .as("seed %d: %s", seed, replay)
                    .hasSizeLessThanOrEqualTo(replay.operations() / 5);
            differences += replay.differences().size();
            assertThat(replay.operations()).isGreaterThan(count);
            assertThat(recording.events()).anyMatch(event -> event instanceof FlightEvent.Reserved);
            LongestPath.assertIsCriticalPath(recording, "seed " + seed);
        }
    }

    private void close() throws Exception {
        driver.goOn();
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        device.close();
        driver.assertNothingToComplainOf();
        tracker.close();
    }

    /** Waits until each submitted operation is over: signals come before their record. */
    private static FlightRecording everything(FlightRecorder recorder, int least) {
        while (true) {
            FlightRecording recording = recorder.recording();
            List<RecordedOperation> all = new OperationGraph(recording).operations();
            if (all.size() >= least && all.stream().allMatch(each -> each.overAt() != RecordedOperation.NEVER)) {
                return recording;
            }
            Thread.yield();
        }
    }
}
