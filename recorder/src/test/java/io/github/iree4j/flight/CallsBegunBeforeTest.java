package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.Known;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A call begun before the recorder was opened took longer than its recorded operations. */
class CallsBegunBeforeTest {
    private static final String LOWER_BOUND =
            ": began before the recording; at least 10.000 ms = 10.000 ms running; 1 operation that ended well";

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = VirtualDevice.builder()
            .clock(clock)
            .script(new VirtualScript() {
                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return 10_000_000;
                }
            })
            .schedulingDomain(domain)
            .fifoQueues(1)
            .build();
    private final MemoryHolder early = new MemoryHolder("m.f", new OperationsUnderWay());
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private long signalled;

    @AfterEach
    void close() {
        device.close();
        tracker.close();
        timeline.close();
    }

    private void submit(MemoryHolder call, int operations) {
        MemoryHolder before = call.enter();
        for (int i = 0; i < operations; i++) {
            try (Fence signal = Fence.at(timeline, ++signalled)) {
                device.submit(0, null, signal, new VirtualOperation("work"));
            }
        }
        call.leave(before);
    }

    private FlightRecorder openAfter(int operations) throws IOException {
        submit(early, operations);
        clock.runUntilIdle();
        return FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
    }

    private static Explanation explanation(FlightRecording recording) {
        return new Explanation(new OperationGraph(recording));
    }

    @Test
    void theRecordedTimeIsALowerBoundAndInNoSum(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("late.iree4j");
        try (FlightRecorder recorder = openAfter(9)) {
            submit(early, 1);
            clock.runUntilIdle();
            MemoryHolder within = new MemoryHolder("m.f", new OperationsUnderWay());
            submit(within, 2);
            clock.runUntilIdle();
            recorder.recording().write(file);
            for (FlightRecording each : List.of(recorder.recording(), FlightRecording.read(file))) {
                String bound = "call " + early.number() + " of m.f" + LOWER_BOUND;
                assertThat(explanation(each).summary(100))
                        .contains(
                                "  m.f: 2 calls, 1 of them begun before the recording with at least 10.000 ms, p50 20.000 ms, slowest call %d with 20.000 ms; in all 20.000 ms running"
                                        .formatted(within.number()));
                assertThat(explanation(each).slowest("", 100))
                        .contains(bound)
                        .anyMatch(line -> line.startsWith("call " + within.number() + " of m.f: 20.000 ms from "));
                assertThat(explanation(each).call(early.number(), 100)).startsWith(bound);
            }
        }
    }

    @Test
    void fewerThanAHundredCallsOfKnownDurationHaveNoNinetyNinthPercentile() throws IOException {
        try (FlightRecorder recorder = openAfter(1)) {
            submit(early, 1);
            for (int i = 0; i < 99; i++) {
                submit(new MemoryHolder("m.f", new OperationsUnderWay()), 1);
                clock.runUntilIdle();
            }
            assertThat(explanation(recorder.recording()).summary(100))
                    .anyMatch(line -> line.startsWith("  m.f: 100 calls, 1 of them begun before the recording")
                            && line.contains(", p50 10.000 ms, slowest call "));
            submit(new MemoryHolder("m.f", new OperationsUnderWay()), 1);
            clock.runUntilIdle();
            assertThat(explanation(recorder.recording()).summary(100))
                    .anyMatch(line -> line.startsWith("  m.f: 101 calls, 1 of them begun before the recording")
                            && line.contains(", p50 10.000 ms, p99 10.000 ms, slowest call "));
        }
    }

    @Test
    void aFunctionWithoutOtherCallsHasNoPercentiles() throws IOException {
        try (FlightRecorder recorder = openAfter(1)) {
            submit(early, 1);
            clock.runUntilIdle();
            assertThat(explanation(recorder.recording()).summary(100))
                    .contains("  m.f: 1 call, 1 of them begun before the recording with at least 10.000 ms");
        }
    }

    @Test
    void aCallStillInProgressHasALowerBoundToo() throws IOException {
        try (FlightRecorder recorder = openAfter(1)) {
            submit(early, 2);
            clock.runUntil(clock.now() + 15_000_000);
            assertThat(explanation(recorder.recording()).call(early.number(), 100))
                    .first()
                    .asString()
                    .startsWith("call %d of m.f: began before the recording; at least 15.000 ms = "
                            .formatted(early.number()))
                    .endsWith(", not ended");
        }
    }

    @Test
    void anOperationSubmittedBeforeIsOfACallBegunBefore() throws IOException {
        submit(early, 3);
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            clock.runUntil(clock.now() + 15_000_000);
            assertThat(explanation(recorder.recording()).call(early.number(), 100))
                    .first()
                    .asString()
                    .contains(": began before the recording; at least 15.000 ms = ");
        }
    }

    /** Records of kind 1 do not tell. */
    @Test
    void ofAFileUpToVersion5TheCallsBegunBeforeAreUnknown() throws IOException {
        try (FlightRecorder recorder = openAfter(1)) {
            submit(early, 1);
            clock.runUntilIdle();
            FlightRecording recording = recorder.recording();
            RecordWords old = new RecordWords();
            for (int i = 0; i < recording.records().count(); i++) {
                long header = recording.records().word(i, 0);
                boolean isSubmission = RecordType.type(header) == RecordType.SUBMITTED;
                old.begin(RecordType.words(header));
                old.put(isSubmission ? RecordType.header(RecordType.OLD_SUBMITTED, RecordType.words(header)) : header);
                for (int word = 1; word < RecordType.words(header); word++) {
                    long value = recording.records().word(i, word);
                    old.put(isSubmission && word == RecordType.HEADER + 3 ? Math.abs(value) : value);
                }
            }
            assertThat(explanation(new FlightRecording(
                                    recording.header(), recording.names(), recording.queues(), recording.pools(), old))
                            .summary(100))
                    .contains(
                            "  calls that began before the recording may have taken longer: a file up to version 5 does not name them")
                    .anyMatch(line -> line.startsWith("  m.f: 1 call, p50 10.000 ms, "));
        }
    }

    @Test
    void ofAnOpenOperationOfSuchAFileTheBeginIsUnknownToo() throws IOException {
        try (FlightRecorder recorder = openAfter(1)) {
            submit(new MemoryHolder("m.f", new OperationsUnderWay()), 3);
            FlightRecording recording = recorder.recording();
            RecordWords old = new RecordWords();
            for (int i = 0; i < recording.records().count(); i++) {
                long header = recording.records().word(i, 0);
                if (RecordType.type(header) == RecordType.OPEN) {
                    old.begin(RecordType.words(header));
                    for (int word = 0; word < RecordType.words(header); word++) {
                        old.put(recording.records().word(i, word));
                    }
                }
            }
            assertThat(callsBefore(recording)).isNotEmpty().containsOnly(Known.NO);
            assertThat(callsBefore(new FlightRecording(
                            recording.header(), recording.names(), recording.queues(), recording.pools(), old)))
                    .isNotEmpty()
                    .containsOnly(Known.UNKNOWN);
        }
    }

    private static List<Known> callsBefore(FlightRecording recording) {
        return recording.events().stream()
                .filter(FlightEvent.Open.class::isInstance)
                .map(each -> ((FlightEvent.Open) each).submission().callBefore())
                .toList();
    }

    @Test
    void theConsoleGetsWhetherACallBeganBefore() throws IOException {
        try (FlightRecorder recorder = openAfter(1)) {
            submit(early, 1);
            submit(new MemoryHolder("m.f", new OperationsUnderWay()), 1);
            clock.runUntilIdle();
            assertThat(new TraceExport(new OperationGraph(recorder.recording())).json())
                    .contains("\"before\":[%d,%d]".formatted(Known.YES.ordinal(), Known.NO.ordinal()));
        }
    }
}
