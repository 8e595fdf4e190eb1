package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A signal refused by its timeline, for a value reached or a failure, is recorded as refused. */
@Tag("long")
@Timeout(300)
class RefusedSignalsTest {
    private static final int ROUNDS = Effort.rounds(1_600, 10_000);
    private static final long SEED = Effort.seed(RefusedSignalsTest.class, ROUNDS + " rounds", 20261128);
    private static final int TIMELINES = 3;

    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final Map<String, Long> durations = new HashMap<>();
    private VirtualClock clock;
    private FrontierTracker tracker;
    private VirtualDevice device;
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        clock = VirtualClock.stepped();
        tracker = FrontierTracker.create();
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
        device = VirtualDevice.builder()
                .id("v")
                .clock(clock)
                .schedulingDomain(domain)
                .script(new VirtualScript() {
                    @Override
                    public long duration(int queue, long number, QueueOperation operation) {
                        return durations.getOrDefault(operation.name(), 0L);
                    }
                })
                .unorderedQueue(64)
                .build();
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

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    private void submit(String name, long duration, Fence wait, Fence signal) {
        durations.put(name, duration);
        device.submit(0, wait, signal, new VirtualOperation(name));
    }

    private static RecordedOperation named(OperationGraph graph, String name) {
        return graph.operations().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** An operation ends with 3 after the host has signalled 5, and before another waits for 3. */
    private FlightRecording late() {
        TimelineSemaphore timeline = timeline();
        timeline.setName("shared");
        submit("late", 100, null, Fence.at(timeline, 3));
        clock.schedule(50, () -> timeline.signal(5));
        clock.schedule(70, () -> submit("waiter", 100, Fence.at(timeline, 3), Fence.at(timeline(), 1)));
        clock.runUntilIdle();
        return recorder.recording();
    }

    @Test
    void aRefusedSignalIsNoSignal() {
        OperationGraph graph = new OperationGraph(late());
        RecordedOperation late = named(graph, "late");
        assertThat(late.status()).isEqualTo(StatusCode.OK);
        assertThat(late.signals()).isEmpty();
        assertThat(late.isAccepted(late.submission().signals().getFirst())).isEqualTo(Known.NO);
        assertThat(graph.producer(named(graph, "waiter"), 0)).isNull();
        assertThat(new Explanation(graph).explain(late))
                .contains("  the signal of timeline %d 'shared' at 3 was refused: the timeline had reached 5"
                        .formatted(timelines.getFirst().id()));
    }

    @Test
    void exportsNameRefusedSignals() throws IOException {
        OperationGraph graph = new OperationGraph(late());
        String refused =
                "timeline %d 'shared' at 3".formatted(timelines.getFirst().id());
        assertThat(export(ExportFormat.OTLP, graph))
                .contains("iree.refused_signals")
                .contains(refused);
        assertThat(export(ExportFormat.PERFETTO, graph)).contains("refused signals");
    }

    private static String export(ExportFormat format, OperationGraph graph) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        format.write(graph, text);
        return text.toString(StandardCharsets.UTF_8);
    }

    @Test
    void refusedSignalsAreInTheFile(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("refused.iree4j");
        late().write(file);
        assertThat(named(new OperationGraph(FlightRecording.read(file)), "late").refusals())
                .containsExactly(
                        new FlightEvent.Refusal(new Point(timelines.getFirst().id(), 3), 5));
    }

    @Test
    void earlierVersionsDoNotKnowWhetherSignalsWereAccepted() {
        submit("early", 100, null, Fence.at(timeline(), 3));
        clock.runUntilIdle();
        FlightRecording recording = recorder.recording();
        RecordedOperation known = named(new OperationGraph(recording), "early");
        assertThat(known.isAccepted(known.signals().getFirst())).isEqualTo(Known.YES);
        long[] words = recording.records().words();
        RecordWords earlier = new RecordWords();
        for (int i = 0; i < recording.records().count(); i++) {
            int start = recording.records().start(i);
            if (RecordType.type(words[start]) == RecordType.OVER) {
                words[start] = RecordType.header(RecordType.OLD_OVER, RecordType.words(words[start]));
            }
            earlier.add(words, start);
        }
        RecordedOperation unknown = named(
                new OperationGraph(new FlightRecording(
                        recording.header(), recording.names(), recording.queues(), recording.pools(), earlier)),
                "early");
        assertThat(unknown.isAccepted(unknown.signals().getFirst())).isEqualTo(Known.UNKNOWN);
    }

    /** The timelines as expected: values, failures, and the operation at each value; empty for the host. */
    private final class Model {
        private final long[] values = new long[TIMELINES];
        private final boolean[] failed = new boolean[TIMELINES];
        private final List<Map<Long, String>> reachedBy = IntStream.range(0, TIMELINES)
                .mapToObj(each -> (Map<Long, String>) new HashMap<Long, String>())
                .toList();
        private final Map<String, List<Point>> refused = new HashMap<>();

        boolean signal(int which, long value, String who) {
            if (failed[which] || value <= values[which]) {
                return false;
            }
            while (values[which] < value) {
                reachedBy.get(which).put(++values[which], who);
            }
            return true;
        }

        void end(String who, Map<Integer, Long> signals) {
            signals.forEach((which, value) -> {
                if (!signal(which, value, who)) {
                    failed[which] = true;
                    refused.computeIfAbsent(who, unused -> new ArrayList<>())
                            .add(new Point(timelines.get(which).id(), value));
                }
            });
        }
    }

    @Test
    void valuesInAnyOrderAreRecordedAsAcceptedOrRefused() throws IOException {
        int refusals = 0;
        for (int round = 0; round < ROUNDS; round++) {
            refusals += valuesInAnyOrder(SEED + round);
            close();
            open();
        }
        assertThat(refusals).isGreaterThan(ROUNDS);
    }

    /** Lets operations, the host and waiting operations use timelines at different times; returns the number of refused signals. */
    private int valuesInAnyOrder(long seed) {
        Random random = new Random(seed);
        Model model = new Model();
        IntStream.range(0, TIMELINES).forEach(each -> timeline());
        List<Integer> times = new ArrayList<>(
                IntStream.range(1, 3 + random.nextInt(20)).boxed().toList());
        Collections.shuffle(times, random);
        Map<String, Point> waits = new HashMap<>();
        for (int time : times) {
            long at = 10L * time;
            int which = random.nextInt(TIMELINES);
            long value = 1 + random.nextInt(8);
            String name = "at-" + at;
            switch (random.nextInt(4)) {
                case 0 ->
                    clock.schedule(at, () -> {
                        if (model.signal(which, value, "")) {
                            timelines.get(which).signal(value);
                        }
                    });
                case 1 -> {
                    waits.put(name, new Point(which, value));
                    clock.schedule(
                            at, () -> submit(name, 1, Fence.at(timelines.get(which), value), Fence.at(timeline(), 1)));
                }
                default -> {
                    Map<Integer, Long> signals = new HashMap<>();
                    signals.put(which, value);
                    signals.put(random.nextInt(TIMELINES), 1L + random.nextInt(8));
                    List<Fence.Entry> points = new ArrayList<>();
                    signals.forEach((each, point) -> points.add(new Fence.Entry(timelines.get(each), point)));
                    clock.schedule(at, () -> model.end(name, signals));
                    submit(name, at, null, Fence.of(points));
                }
            }
        }
        clock.runUntilIdle();
        FlightRecording recording = recorder.recording();
        OperationGraph graph = new OperationGraph(recording);
        for (RecordedOperation each : graph.operations()) {
            String what = "seed %d: %s".formatted(seed, each);
            Point wait = waits.get(each.name());
            if (wait == null) {
                assertThat(each.refusedSignals())
                        .as(what)
                        .containsExactlyInAnyOrderElementsOf(model.refused.getOrDefault(each.name(), List.of()));
            } else if (each.over != null && each.status() == StatusCode.OK) {
                RecordedOperation producer = graph.producer(each, 0);
                assertThat(producer == null ? "" : producer.name())
                        .as(what)
                        .isEqualTo(model.reachedBy.get((int) wait.timeline()).get(wait.value()));
            }
        }
        Replay replay = Replay.of(recording);
        assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
        return model.refused.values().stream().mapToInt(List::size).sum();
    }
}
