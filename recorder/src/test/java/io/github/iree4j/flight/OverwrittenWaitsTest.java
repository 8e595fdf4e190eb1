package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.RecordedCalls.Part;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A wait is reached, open or not known for an open operation with other records missing; only an open wait is a
 * problem.
 */
@Timeout(120)
class OverwrittenWaitsTest {
    private static final int MEMORY = 1 << 20;

    @TempDir
    Path folder;

    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(12, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    private final Device device = new LocalBackend()
            .open(DeviceOptions.builder().schedulingDomain(domain).memoryLimit(MEMORY));
    private final DeviceQueue queue = device.queue(0);
    private final TimelineSemaphore gate = TimelineSemaphore.create(0);
    private final TimelineSemaphore never = TimelineSemaphore.create(0);
    private final TimelineSemaphore done = TimelineSemaphore.create(0);
    private final CompletableFuture<HostCallCompletion> call = new CompletableFuture<>(); // open after the begin
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES));
    }

    @AfterEach
    void close() {
        never.signal(1);
        if (call.isDone()) {
            call.join().complete();
        }
        recorder.close();
        device.close();
    }

    /** Submits ending operations until the rings have dropped all earlier records; returns the rest in a file. */
    private OperationGraph overwritten() throws IOException {
        long before = recorder.statistics().recorded();
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        FlightRecording recording;
        long value = 0;
        do {
            for (int i = 0; i < 500; i++) {
                queue.barrier(null, Fence.at(timeline, ++value), 0);
                timeline.await(value);
            }
            recording = recorder.recording();
        } while (recording.events().stream().anyMatch(each -> each.sequence() < before)); // in any ring
        Path file = folder.resolve("overwritten.iree4j");
        recording.write(file);
        return new OperationGraph(FlightRecording.read(file));
    }

    /** Submits an operation that has not ended though its waits are reached. */
    private void run(Fence wait) {
        queue.deferredHostCall(wait, Fence.at(done, 1), call::complete);
        call.join();
    }

    private static RecordedOperation only(OperationGraph graph, String name) {
        return graph.operations().stream()
                .filter(each -> each.name().contains(name))
                .reduce((left, right) -> {
                    throw new AssertionError(left + " and " + right);
                })
                .orElseThrow();
    }

    private static RecordedOperation running(OperationGraph graph) {
        return only(graph, "host call");
    }

    @Test
    void aReachedWaitOfARunningOperationIsNoProblem() throws IOException {
        gate.signal(1);
        run(Fence.at(gate, 1));
        OperationGraph graph = overwritten();
        Explanation explanation = new Explanation(graph);
        assertThat(explanation.problems()).isEmpty();
        assertThat(explanation.explain(running(graph)))
                .contains("  waits for timeline %d at 1, signalled by the host, or before the recording: reached"
                        .formatted(gate.id()));
        long[] parts = new RecordedCalls(graph, explanation)
                .call(1, List.of(running(graph)))
                .parts();
        assertThat(parts[Part.UNKNOWN.ordinal()]).isPositive();
        assertThat(parts[Part.WAITING.ordinal()]).isZero();
    }

    @Test
    void anOpenWaitIsAProblemStill() throws IOException {
        queue.barrier(Fence.at(never, 1), Fence.at(done, 1), 0);
        OperationGraph graph = overwritten();
        Explanation explanation = new Explanation(graph);
        assertThat(explanation.problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary())
                        .startsWith("nobody in the recording signals timeline %d at 1".formatted(never.id())));
        RecordedOperation waiting = explanation.open().getFirst();
        assertThat(new RecordedCalls(graph, explanation)
                        .call(1, List.of(waiting))
                        .parts()[Part.WAITING.ordinal()])
                .isPositive();
    }

    @Test
    void aReachedValueIsNotToBeSignalledByAnOperationWithALaterValue() throws IOException {
        gate.signal(1);
        run(Fence.at(gate, 1));
        queue.barrier(Fence.at(never, 1), Fence.at(gate, 2), 0);
        OperationGraph graph = overwritten();
        Explanation explanation = new Explanation(graph);
        assertThat(explanation.problems()).singleElement().satisfies(each -> {
            assertThat(each.summary()).endsWith("waiting for the signal: 1 operation");
            assertThat(each.links()).hasSize(2);
        });
        assertThat(explanation.explain(running(graph))).noneMatch(line -> line.contains("to be signalled by"));
    }

    @Test
    void waitsAfterTheSixtyFirstAreNotKnown() throws IOException {
        List<Fence.Entry> entries = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            entries.add(new Fence.Entry(TimelineSemaphore.create(1), 1));
        }
        run(Fence.of(entries));
        OperationGraph graph = overwritten();
        Explanation explanation = new Explanation(graph);
        assertThat(explanation.problems()).isEmpty();
        List<String> lines = explanation.explain(running(graph));
        assertThat(lines.stream().filter(line -> line.endsWith(": reached"))).hasSize(61);
        assertThat(lines.stream().filter(line -> line.endsWith(", not known whether signalled: records are missing")))
                .hasSize(9);
    }

    @Test
    void anAllocationHeldForMemoryIsNoMissingSignal() throws IOException {
        gate.signal(1);
        try (Buffer first = queue.alloca(null, Fence.at(done, 1), BufferParams.DEFAULT, MEMORY / 4 * 3, 0)) {
            done.await(1);
            Fence allocated = Fence.at(done, 2);
            Buffer second = queue.alloca(Fence.at(gate, 1), allocated, BufferParams.DEFAULT, MEMORY / 2, 0);
            OperationGraph graph = overwritten();
            assertThat(new Explanation(graph).open()).singleElement().satisfies(each -> {
                assertThat(each.name()).isEqualTo("alloca");
                assertThat(each.held).isNull();
            });
            assertThat(new Explanation(graph).problems()).isEmpty();
            queue.dealloca(null, null, first, 0);
            allocated.await();
            second.close();
        }
    }

    @Test
    void theAgeOfAnOperationFromBeforeTheRecordingIsAtLeastTheAgeOfTheRecording() throws IOException {
        recorder.close();
        queue.barrier(Fence.at(never, 1), Fence.at(done, 1), 0);
        open();
        assertThat(new Explanation(overwritten()).problems())
                .singleElement()
                .satisfies(each ->
                        assertThat(each.chain()).singleElement().asString().contains(", has waited at least "));
    }

    /** Adds the record of an open operation with a wait, submitted at an unknown time. */
    private static void waiting(RecordWords records, long operation, long call, long axis, long state) {
        records.begin(RecordType.OPEN, 10, 0, 1000);
        for (long word : new long[] {operation, axis, 0, call, 0, state, 1, 0, 99, operation}) {
            records.put(word);
        }
    }

    private FlightRecording recordingOf(RecordWords records) {
        FlightRecording some = recorder.recording();
        FlightRecording.Header header = new FlightRecording.Header(some.header().start(), 8, 1, 0, 0, 1000);
        return new FlightRecording(header, some.names(), some.queues(), some.pools(), records);
    }

    @Test
    void anOperationSubmittedAtAnUnknownTimeHasWaitedAtMostAsLongAsItsCall() throws IOException {
        long axis = overwritten().recording().queues().getFirst().axis();
        long state = RecordReader.OPENED_AT_UNKNOWN_TIME | RecordReader.OPENED_WITH_WAITS;
        RecordWords records = new RecordWords();
        waiting(records, 1, 7, axis, state);
        waiting(records, 2, 0, axis, state);
        records.begin(RecordType.CALL, 7, 0, 1000);
        for (long word : new long[] {7, 0, 0, 0, 407_000_000, 0, 0}) {
            records.put(word);
        }
        List<RecordedProblem> problems = new Explanation(new OperationGraph(recordingOf(records))).problems();
        assertThat(problems).hasSize(2);
        assertThat(problems.get(0).age()).isEqualTo(407_000_000);
        assertThat(problems.get(0).chain()).first().asString().contains(", has waited at most 407.000 ms for ");
        assertThat(problems.get(1).chain()).first().asString().contains(", has waited an unknown time for ");
    }

    @Test
    void theAgesInADeadlockAreAsKnownAsTheAgesBehindAMissingSignal() throws IOException {
        long axis = overwritten().recording().queues().getFirst().axis();
        long before = RecordReader.OPENED_BEFORE | RecordReader.OPENED_WITH_WAITS;
        long unknown = RecordReader.OPENED_AT_UNKNOWN_TIME | RecordReader.OPENED_WITH_WAITS;
        RecordWords records = new RecordWords();
        for (long[] words : new long[][] {
            {1, axis, 0, 0, 0, before, 1, 1, 98, 1, 99, 1}, {2, axis, 0, 7, 0, unknown, 1, 1, 99, 1, 98, 1}
        }) {
            records.begin(RecordType.OPEN, 12, 0, 0);
            for (long word : words) {
                records.put(word);
            }
        }
        records.begin(RecordType.CALL, 7, 0, 1000);
        for (long word : new long[] {7, 0, 0, 0, 407_000_000, 0, 0}) {
            records.put(word);
        }
        assertThat(new Explanation(new OperationGraph(recordingOf(records))).problems())
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.kind()).isEqualTo("deadlock");
                    assertThat(each.age()).isEqualTo(407_000_000);
                    assertThat(each.calls()).as("of its operations").containsExactly(7L);
                    assertThat(each.chain().get(0)).contains(", has waited at least ");
                    assertThat(each.chain().get(1)).contains(", has waited at most 407.000 ms for ");
                });
    }

    @Test
    void waitsOfAFileOfVersion3AreNotKnown() throws IOException {
        long axis = overwritten().recording().queues().getFirst().axis();
        RecordWords records = new RecordWords();
        waiting(records, 1, 0, axis, 0);
        Explanation explanation = new Explanation(new OperationGraph(recordingOf(records)));
        assertThat(explanation.open()).hasSize(1);
        assertThat(explanation.problems()).isEmpty();
        assertThat(explanation.explain(explanation.open().getFirst()))
                .contains("  waits for timeline 99 at 1, not known whether signalled: records are missing");
    }

    /** Explains the wait of an ended operation with few records for a value due from another operation, too. */
    private String waitOfEnded(StatusCode status, boolean isOtherFailed) throws IOException {
        long axis = overwritten().recording().queues().getFirst().axis();
        RecordWords records = new RecordWords();
        add(records, RecordType.SUBMITTED, 5, 1, axis, 0, 0, 0, 0, 1, 0, 99, 1);
        add(records, RecordType.OVER, 12, 1, status.number(), 0, 0, 0);
        if (isOtherFailed) {
            add(records, RecordType.SUBMITTED, 13, 2, axis, 0, 0, 0, 0, 0, 1, 99, 2);
            add(records, RecordType.OVER, 14, 2, StatusCode.ABORTED.number(), 0, 0, 0);
        } else {
            add(records, RecordType.OPEN, 20, 2, axis, 0, 0, 0, RecordReader.OPENED_WITH_WAITS, 1, 1, 98, 1, 99, 2);
        }
        FlightRecording some = recordingOf(records);
        FlightRecording.Header header = new FlightRecording.Header(some.header().start(), 8, 20, 10, 0, 1000);
        OperationGraph graph = new OperationGraph(
                new FlightRecording(header, some.names(), some.queues(), some.pools(), some.records()));
        return new Explanation(graph)
                .explain(Objects.requireNonNull(graph.operation(1)))
                .get(1);
    }

    private static void add(RecordWords records, int type, long sequence, long... words) {
        records.begin(type, words.length, sequence, 500);
        for (long word : words) {
            records.put(word);
        }
    }

    @Test
    void theWaitOfAWellEndedOperationIsNotToBeSignalled() throws IOException {
        assertThat(waitOfEnded(StatusCode.OK, false))
                .isEqualTo("  waits for timeline 99 at 1, signalled by the host, or before the recording:"
                        + " the decision is missing");
    }

    @Test
    void theWaitOfAWellEndedOperationWasNotSignalledByAFailedOperation() throws IOException {
        assertThat(waitOfEnded(StatusCode.OK, true))
                .startsWith("  waits for timeline 99 at 1, signalled by the host, or ")
                .doesNotContain("#2");
    }

    @Test
    void theWaitOfAFailedOperationWithoutRecordsMayHaveBeenSignalled() throws IOException {
        assertThat(waitOfEnded(StatusCode.ABORTED, false))
                .startsWith("  waits for timeline 99 at 1, to be signalled by #2 ")
                .endsWith(", if not signalled before: the decision is missing");
    }
}
