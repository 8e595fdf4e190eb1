package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call in progress signals its fence: work behind the fence hangs on the same cause as the call. */
@Tag("long")
@Timeout(300)
class ChainedCallsTest {
    private static final float[] FOUR = {1, 2, 3, 4};
    private static final int ROUNDS = Effort.rounds(200, 1_000);
    private static final long SEED = Effort.seed(ChainedCallsTest.class, ROUNDS + " rounds", 20261129);
    private static final Pattern CALL = Pattern.compile("^call (\\d+) of ");

    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(14, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final List<CompletableFuture<Results>> calls = new ArrayList<>();
    private IreeRuntime runtime;
    private Program program;
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        runtime = IreeRuntime.builder()
                .device(
                        "local",
                        "local://",
                        DeviceOptions.builder().schedulingDomain(domain).build())
                .build();
        program = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS);
    }

    @AfterEach
    void close() {
        endAll();
        recorder.close();
        program.close();
        runtime.close();
    }

    private void endAll() {
        for (CompletableFuture<Results> each : calls) {
            each.cancel(true);
            each.exceptionally(unused -> null)
                    .thenAccept(
                            results -> { // a cancelled call fails the calls behind
                                if (results != null) {
                                    results.close();
                                }
                            })
                    .join();
        }
        while (program.monitor().activeCalls() > 0) {
            Thread.onSpinWait();
        }
        calls.clear();
        timelines.forEach(TimelineSemaphore::close);
        timelines.clear();
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    private void call(TimelineSemaphore awaited, TimelineSemaphore signalled) {
        try (Fence after = Fence.at(awaited, 1);
                Fence signal = Fence.at(signalled, 1)) {
            calls.add(program.function("add")
                    .call(CallOptions.DEFAULTS.after(after).signal(signal), FOUR, FOUR));
        }
    }

    private List<RecordedProblem> problems() {
        return new Explanation(new OperationGraph(recorder.recording())).problems();
    }

    @Test
    void workBehindACallInProgressHangsOnTheSignalAwaitedByTheCall() {
        TimelineSemaphore upload = timeline();
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        call(upload, first);
        call(first, second);
        runtime.device().queue(0).barrier(Fence.at(second, 1), null, 0);
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.summary())
                    .isEqualTo(
                            "nobody in the recording signals timeline %d at 1; waiting for the signal: 2 calls and 1 operation"
                                    .formatted(upload.id()));
            assertThat(each.calls()).hasSize(2);
            assertThat(each.links())
                    .satisfiesExactly(
                            link -> assertThat(link).startsWith("call "),
                            link -> assertThat(link).isEqualTo("timeline %d at 1".formatted(first.id())),
                            link -> assertThat(link).startsWith("call "),
                            link -> assertThat(link).isEqualTo("timeline %d at 1".formatted(upload.id())));
        });
        assertThat(new Explanation(new OperationGraph(recorder.recording())).summary(Integer.MAX_VALUE))
                .anyMatch(line -> line.matches(
                        "    waits for timeline %d at 1, to be signalled by call \\d+ of .*".formatted(first.id())))
                .anyMatch(line -> line.matches(
                        "    waits for timeline %d at 1, to be signalled by call \\d+ of .*".formatted(second.id())));
        upload.signal(1);
        calls.forEach(each -> each.join().close());
    }

    @Test
    void callsWaitingForEachOtherAreADeadlock() {
        TimelineSemaphore left = timeline();
        TimelineSemaphore right = timeline();
        call(left, right);
        call(right, left);
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("deadlock");
            assertThat(each.summary()).isEqualTo("2 calls wait for each other");
            assertThat(each.calls()).hasSize(2);
            assertThat(each.links()).hasSize(5);
        });
    }

    @Test
    void callsOfAFileOfVersion5HaveNoSignals() {
        call(timeline(), timeline());
        FlightRecording recording = recorder.recording();
        RecordWords old = new RecordWords();
        int rewritten = 0;
        for (int i = 0; i < recording.records().count(); i++) {
            long[] words = recording.records().words();
            int start = recording.records().start(i);
            if (RecordType.type(words[start]) != RecordType.CALL) {
                old.add(words, start);
                continue;
            }
            rewritten++;
            old.begin(RecordType.OLD_CALL, 8, words[start + 1], words[start + 2]);
            for (int word : new int[] {3, 4, 5, 6, 7, 8, 10, 11}) {
                old.put(words[start + word]);
            }
        }
        assertThat(rewritten).isEqualTo(1);
        FlightEvent.Call now = callsInProgress(recording).getFirst();
        FlightEvent.Call then = callsInProgress(new FlightRecording(
                        recording.header(), recording.names(), recording.queues(), recording.pools(), old))
                .getFirst();
        assertThat(then.waits()).isEqualTo(now.waits()).hasSize(1);
        assertThat(now.signals()).hasSize(1);
        assertThat(then.signals()).isEmpty();
    }

    private static List<FlightEvent.Call> callsInProgress(FlightRecording recording) {
        return recording.events().stream()
                .filter(FlightEvent.Call.class::isInstance)
                .map(FlightEvent.Call.class::cast)
                .toList();
    }

    /** Each call waits for another call, earlier or later, or for the host, which signals some of the timelines. */
    @Test
    void exactlyTheHangingCallsAreNamed() {
        int hanging = 0;
        int deadlocks = 0;
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Random random = new Random(seed);
            int count = 1 + random.nextInt(9);
            IntStream.range(0, 2 * count).forEach(each -> timeline());
            int[] awaited = random.ints(count, 0, 2 * count).toArray(); // from count on, of the host
            Set<Integer> reached = new HashSet<>();
            for (int i = 0; i < count; i++) {
                call(timelines.get(awaited[i]), timelines.get(i));
            }
            for (int i = count; i < 2 * count; i++) {
                if (random.nextBoolean()) {
                    timelines.get(i).signal(1);
                    reached.add(i);
                }
            }
            while (IntStream.range(0, count).anyMatch(each -> reached.contains(awaited[each]) && reached.add(each))) {}
            Set<Long> expected = IntStream.range(0, count)
                    .filter(each -> !reached.contains(each))
                    .mapToObj(each -> timelines.get(each).id())
                    .collect(Collectors.toCollection(TreeSet::new));
            while (program.monitor().activeCalls() > expected.size()) {
                Thread.onSpinWait();
            }
            FlightRecording recording = recorder.recording();
            List<RecordedProblem> problems = new Explanation(new OperationGraph(recording)).problems();
            assertThat(named(recording, problems))
                    .as("seed %d: %s", seed, problems)
                    .isEqualTo(expected);
            hanging += expected.size();
            deadlocks += (int) problems.stream()
                    .filter(each -> each.kind().equals("deadlock"))
                    .count();
            endAll();
        }
        System.out.printf("chained calls: %d hang, %d deadlocks%n", hanging, deadlocks);
        assertThat(hanging).isPositive();
        assertThat(deadlocks).isPositive();
    }

    /** Returns the timelines signalled by the named calls. */
    private static Set<Long> named(FlightRecording recording, List<RecordedProblem> problems) {
        Set<Long> numbers = problems.stream()
                .flatMap(each -> each.chain().stream())
                .map(CALL::matcher)
                .filter(Matcher::find)
                .map(each -> Long.parseLong(each.group(1)))
                .collect(Collectors.toSet());
        return callsInProgress(recording).stream()
                .filter(each -> numbers.contains(each.call()))
                .flatMap(each -> each.signals().stream())
                .map(Point::timeline)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
