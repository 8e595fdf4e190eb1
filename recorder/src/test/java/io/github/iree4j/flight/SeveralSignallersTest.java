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
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where several operations can bring a timeline to a value, work hangs only if all of them hang. */
@Tag("long")
@Timeout(300)
class SeveralSignallersTest {
    private static final long DURATION = 10_000_000;
    private static final int ROUNDS = Effort.rounds(1_600, 10_000);
    private static final long SEED = Effort.seed(SeveralSignallersTest.class, ROUNDS + " rounds", 20261128);
    private static final Pattern OPERATION = Pattern.compile("^#(\\d+) ");

    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final List<VirtualDevice> devices = new ArrayList<>();
    private VirtualClock clock;
    private FrontierTracker tracker;
    private SchedulingDomain domain;
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
        devices.forEach(VirtualDevice::close);
        timelines.forEach(TimelineSemaphore::close);
        devices.clear();
        timelines.clear();
        tracker.close();
    }

    private VirtualDevice device(Random random) {
        return random.nextBoolean()
                ? device(() -> random.nextLong(1, DURATION), builder -> builder.unorderedQueue(1 + random.nextInt(4)))
                : device(() -> random.nextLong(1, DURATION), builder -> builder.fifoQueues(1 + random.nextInt(3)));
    }

    private VirtualDevice device() {
        return device(() -> DURATION, builder -> builder.unorderedQueue(4));
    }

    private VirtualDevice device(LongSupplier duration, UnaryOperator<VirtualDevice.Builder> queues) {
        VirtualDevice.Builder builder = VirtualDevice.builder()
                .id("v" + devices.size())
                .clock(clock)
                .schedulingDomain(domain)
                .script(new VirtualScript() {
                    @Override
                    public long duration(int queue, long number, QueueOperation operation) {
                        return duration.getAsLong();
                    }
                });
        VirtualDevice device = queues.apply(builder).build();
        devices.add(device);
        return device;
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    private static void submit(VirtualDevice device, Fence wait, Fence signal) {
        device.submit(0, wait, signal, new VirtualOperation("work"));
    }

    private List<RecordedProblem> problems() {
        return new Explanation(new OperationGraph(recorder.recording())).problems();
    }

    @Test
    void ofTwoOperationsWithTheSameValueTheCompletedOperationHasSignalledTheValue() {
        VirtualDevice device = device();
        TimelineSemaphore awaited = timeline();
        submit(device, Fence.at(timeline(), 1), Fence.at(awaited, 2));
        submit(device, null, Fence.at(awaited, 2));
        submit(device, Fence.at(awaited, 2), Fence.at(timeline(), 1));
        clock.runUntil(clock.now() + 10 * DURATION);
        OperationGraph graph = new OperationGraph(recorder.recording());
        RecordedOperation last = List.copyOf(graph.operations()).getLast();
        assertThat(graph.producer(last, 0))
                .isEqualTo(List.copyOf(graph.operations()).get(1));
    }

    @Test
    void furtherMissingSignalsOfWorkAreCounted() {
        VirtualDevice device = device();
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        TimelineSemaphore behind = timeline();
        submit(device, Fence.join(Fence.at(first, 1), Fence.at(second, 1)), Fence.at(behind, 1));
        submit(device, Fence.at(behind, 1), null);
        assertThat(problems()).singleElement().satisfies(each -> {
            String named = "timeline %d at 1".formatted(first.id());
            assertThat(each.summary())
                    .isEqualTo("nobody in the recording signals " + named
                            + "; waiting for the signal, and for 1 more point: 2 operations");
            assertThat(each.chain()).first().asString().endsWith(" for " + named + ", and for 1 more point");
            assertThat(each.chain()).last().asString().endsWith("timeline %d at 1".formatted(behind.id()));
        });
        first.signal(1);
        assertThat(problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary())
                        .isEqualTo(
                                "nobody in the recording signals timeline %d at 1; waiting for the signal: 2 operations"
                                        .formatted(second.id())));
    }

    @Test
    void aCycleEndedByRunningWorkWithAHigherValueIsNoDeadlock() {
        VirtualDevice device = device();
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        submit(device, Fence.at(first, 4), Fence.at(second, 1));
        submit(device, Fence.at(second, 1), Fence.at(first, 5));
        assertThat(problems()).extracting(RecordedProblem::kind).containsExactly("deadlock");
        submit(device, null, Fence.at(first, 7));
        clock.runUntil(clock.now() + DURATION / 2);
        assertThat(problems()).isEmpty();
        clock.runUntilIdle();
        assertThat(second.value()).isEqualTo(1);
    }

    @Test
    void workEndedByRunningWorkWithAHigherValueIsNotBehindAMissingSignal() {
        VirtualDevice device = device();
        TimelineSemaphore awaited = timeline();
        submit(device, Fence.at(awaited, 4), Fence.at(timeline(), 1));
        submit(device, Fence.at(timeline(), 1), Fence.at(awaited, 5));
        assertThat(problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary()).endsWith("waiting for the signal: 2 operations"));
        submit(device, null, Fence.at(awaited, 7));
        clock.runUntil(clock.now() + DURATION / 2);
        assertThat(problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary()).endsWith("waiting for the signal: 1 operation"));
    }

    @Test
    void aValuePassedByAnotherOperationIsNotAttributedToTheHost() {
        VirtualDevice device = device(() -> DURATION, builder -> builder.fifoQueues(1));
        VirtualDevice other = device(() -> DURATION / 4, builder -> builder.fifoQueues(1));
        TimelineSemaphore awaited = timeline();
        submit(device, null, Fence.at(awaited, 6));
        submit(device, Fence.at(awaited, 5), Fence.at(timeline(), 1)); // elided: behind the first
        submit(other, null, Fence.at(awaited, 7));
        clock.runUntil(clock.now() + DURATION / 2);
        OperationGraph graph = new OperationGraph(recorder.recording());
        assertThat(awaited.value()).isEqualTo(7);
        assertThat(new Explanation(graph).explain(graph.operations().get(1)))
                .anyMatch(line -> line.contains("signalled by the host, or by another operation"));
    }

    @Test
    void workWaitingForAValueDoesNotSignalTheValue() {
        VirtualDevice device = device();
        TimelineSemaphore steps = timeline();
        for (int i = 1; i < 20; i++) {
            submit(device, Fence.at(steps, i), Fence.at(steps, i + 1));
        }
        assertThat(problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary())
                        .isEqualTo(
                                "nobody in the recording signals timeline %d at 1; waiting for the signal: 19 operations"
                                        .formatted(steps.id())));
    }

    @Test
    void manySignallersOfManyValuesAreExplainedAtOnce() {
        VirtualDevice device = device();
        Fence never = Fence.at(timeline(), 1);
        TimelineSemaphore left = timeline();
        TimelineSemaphore right = timeline();
        int most = 10_000;
        for (int i = 1; i <= most; i++) {
            submit(device, never, Fence.at(left, i));
            submit(device, Fence.at(left, most + 1 - i), Fence.at(right, i));
        }
        assertThat(problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary()).endsWith("waiting for the signal: 20000 operations"));
    }

    /**
     * Random work with values in any order in waits and signals; the clock does not end hanging work. A value below the
     * value reached fails its timeline, and thereby otherwise hanging work.
     */
    @Test
    void allHangingOperationsAreNamedAndNoWellEndingOperation() throws IOException {
        int hanging = 0;
        int ended = 0;
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Random random = new Random(seed);
            begin(random);
            clock.runUntil(clock.now() + random.nextLong(4 * DURATION));
            FlightRecording amid = recorder.recording();
            clock.runUntilIdle();
            FlightRecording end = recorder.recording();
            Set<Long> open = operations(end, Known.NO);
            Set<Long> well = operations(end, Known.YES);
            assertNames(amid, open, well, seed);
            assertNames(end, open, well, seed);
            hanging += open.size();
            ended += operations(amid, Known.NO).size() - open.size();
            close();
            open();
        }
        System.out.printf("several signallers: %d operations hang, %d ended later%n", hanging, ended);
        assertThat(hanging).isPositive();
        assertThat(ended).isPositive();
    }

    private void begin(Random random) {
        for (int i = random.nextInt(3); i >= 0; i--) {
            device(random);
        }
        for (int i = random.nextInt(4); i >= 0; i--) {
            timeline();
        }
        boolean ascends = random.nextBoolean();
        int highest = 2 + random.nextInt(ascends ? 24 : 10);
        for (int i = 4 + random.nextInt(20); i > 0; i--) {
            VirtualDevice device = devices.get(random.nextInt(devices.size()));
            int submitted = i;
            int queue = random.nextInt(device.queueCount());
            Fence wait = random.nextInt(4) == 0 ? null : fence(random, () -> 1 + random.nextInt(highest));
            Fence signal = random.nextInt(6) == 0
                    ? null
                    : fence(random, () -> ascends ? Math.max(1, 25 - submitted) : 1 + random.nextInt(highest));
            try {
                device.submit(queue, wait, signal, new VirtualOperation("work"));
            } catch (IreeException e) { // a wait has failed already
                assertThat(signal).as("carries the failure: %s", e).isNull();
            }
            if (random.nextInt(8) == 0) {
                clock.step();
            }
        }
    }

    private Fence fence(Random random, LongSupplier values) {
        Map<TimelineSemaphore, Long> points = new TreeMap<>(Comparator.comparing(TimelineSemaphore::id));
        for (int i = random.nextInt(3) / 2; i >= 0; i--) {
            points.put(timelines.get(random.nextInt(timelines.size())), values.getAsLong());
        }
        return Fence.of(points.entrySet().stream()
                .map(each -> new Fence.Entry(each.getKey(), each.getValue()))
                .toList());
    }

    /** Returns the operations with no end, or a good end. */
    private static Set<Long> operations(FlightRecording recording, Known ended) {
        OperationGraph graph = new OperationGraph(recording);
        return graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == ended && each.status() == StatusCode.OK)
                .map(RecordedOperation::number)
                .collect(Collectors.toSet());
    }

    private static void assertNames(FlightRecording recording, Set<Long> hanging, Set<Long> well, long seed) {
        List<RecordedProblem> problems = new Explanation(new OperationGraph(recording)).problems();
        List<String> lines =
                problems.stream().flatMap(each -> each.chain().stream()).toList();
        Set<Long> named = lines.stream()
                .map(OPERATION::matcher)
                .filter(Matcher::find)
                .map(each -> Long.parseLong(each.group(1)))
                .collect(Collectors.toSet());
        assertThat(named).as("seed %d: %s", seed, problems).noneMatch(well::contains);
        if (lines.stream().noneMatch(each -> each.startsWith("and "))) {
            assertThat(named).as("seed %d: %s", seed, problems).containsAll(hanging);
        }
    }
}
