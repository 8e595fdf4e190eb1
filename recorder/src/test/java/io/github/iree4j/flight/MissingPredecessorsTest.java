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
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An operation with dropped records is neither the host, nor nothing, for the operations behind it. */
@Timeout(120)
class MissingPredecessorsTest {
    private static final long SEED = Effort.seed(20261130);
    private static final long LONG = 2_000_000_000;

    private final VirtualClock clock = VirtualClock.stepped();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(3, 0), FrontierTracker.create(), 12);
    private final Object group = new Object();
    private final VirtualDevice first = device("first", group);
    private final VirtualDevice near = device("near", group); // waits for the first device
    private final VirtualDevice far = device("far", new Object()); // the host waits
    private final VirtualDevice other = device("other", group);
    private final TimelineSemaphore signal = TimelineSemaphore.create(0);
    private FlightRecorder recorder;

    private VirtualDevice device(String id, Object directGroup) {
        return VirtualDevice.builder()
                .id(id)
                .clock(clock)
                .schedulingDomain(domain)
                .directGroup(directGroup)
                .script(new VirtualScript() {
                    @Override
                    public long duration(int queue, long number, QueueOperation operation) {
                        return operation.name().equals("long") ? LONG : 1000;
                    }
                })
                .fifoQueues(1)
                .build();
    }

    /** Submits a long operation, and short operations on another stream until the records of the first are dropped. */
    private void submitLong(int most) throws IOException {
        recorder = FlightRecorder.open(
                domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES), clock::now);
        first.submit(0, null, Fence.at(signal, 1), new VirtualOperation("long"));
        TimelineSemaphore others = TimelineSemaphore.create(0);
        for (int i = 1; i <= most; i++) {
            other.submit(0, null, Fence.at(others, i), new VirtualOperation("short"));
            clock.runUntil(clock.now() + 1500);
        }
    }

    private OperationGraph recorded() {
        clock.runUntilIdle();
        FlightRecording recording = recorder.recording();
        recorder.close();
        assertThat(recording.header().completeFrom()).isPositive();
        return new OperationGraph(recording);
    }

    private static void assertBeginsAfter(OperationGraph graph, Explanation.Times times, String after) {
        RecordedOperation waiter = graph.operations().getLast();
        Explanation explanation = new Explanation(graph);
        assertThat(explanation.times(waiter)).isEqualTo(times);
        assertThat(explanation.summary(100))
                .contains("critical path: 1.000 us, 1 operations, and perhaps earlier ones: the records are missing")
                .anyMatch(line -> line.endsWith(after));
        assertThat(CriticalPath.of(graph).mayBeginEarlier(graph)).isTrue();
        assertThat(new TraceExport(graph).json().lines().filter(line -> line.startsWith("\"after\":")))
                .as("the operation before the last on its path")
                .allMatch(line -> line.endsWith(",-1],"));
    }

    /** Submits an operation behind the long operation without records. */
    private void assertWaits(VirtualDevice device, String how) throws IOException {
        submitLong(8000);
        long waiting = LONG - clock.now();
        device.submit(0, Fence.at(signal, 1), null, new VirtualOperation("waiter"));
        OperationGraph graph = recorded();
        String point = " timeline %d at 1".formatted(signal.id());
        assertBeginsAfter(
                graph,
                new Explanation.Times(waiting, 0, 0, 1000),
                ", after an operation whose records are missing signalled" + point);
        assertThat(new Explanation(graph).explain(graph.operations().getLast()))
                .contains("  waits for" + point + ", signalled by an operation whose records are missing: " + how);
    }

    @Test
    void aDeviceWaitsForAnOperationWithoutRecords() throws IOException {
        assertWaits(near, "the device waits");
    }

    @Test
    void theHostWaitsForAnOperationWithoutRecordsAndIsNotItsSignaller() throws IOException {
        assertWaits(far, "held back by the host until it is reached");
    }

    @Test
    void aStreamWaitsForAnOperationWithoutRecords() throws IOException {
        submitLong(8000);
        long queued = LONG - clock.now();
        first.submit(0, null, null, new VirtualOperation("next"));
        assertBeginsAfter(
                recorded(),
                new Explanation.Times(0, 0, queued, 1000),
                ", behind an operation whose records are missing in its queue");
    }

    @Test
    void anOpenOperationWithoutARecordOfItsIssueIsStillToSignal() throws IOException {
        submitLong(8000);
        near.submit(0, Fence.at(signal, 1), null, new VirtualOperation("waiter"));
        Explanation explanation = new Explanation(new OperationGraph(recorder.recording()));
        recorder.close();
        RecordedOperation open = explanation.open().getFirst();
        assertThat(open.name()).isEqualTo("long");
        assertThat(explanation.explain(explanation.open().getLast()))
                .anyMatch(line -> line.contains(", to be signalled by " + explanation.title(open)));
        assertThat(explanation.problems()).isEmpty();
    }

    /** Work ended before the submission held nothing back. */
    @Test
    void anOperationWithoutRecordsAndEndedBeforeIsNotWaitedFor() throws IOException {
        submitLong(1);
        clock.runUntilIdle();
        TimelineSemaphore others = TimelineSemaphore.create(0);
        for (int i = 1; i <= 8000; i++) {
            other.submit(0, null, Fence.at(others, i), new VirtualOperation("short"));
            clock.runUntilIdle();
        }
        first.submit(0, Fence.at(signal, 1), null, new VirtualOperation("next"));
        OperationGraph graph = recorded();
        assertThat(new Explanation(graph).times(graph.operations().getLast()))
                .isEqualTo(new Explanation.Times(0, 0, 0, 1000));
        assertThat(CriticalPath.of(graph).mayBeginEarlier(graph)).isFalse();
        assertThat(graph.mayLackLater()).isFalse();
    }

    /** Returns a recording without its first records, as in a full ring. */
    private static FlightRecording without(FlightRecording whole, int first) {
        RecordWords records = new RecordWords();
        for (int i = first; i < whole.records().count(); i++) {
            records.add(whole.records().words(), whole.records().start(i));
        }
        FlightRecording.Header header = whole.header();
        return new FlightRecording(
                new FlightRecording.Header(
                        header.start(), header.frontierCapacity(), header.next(), first, 0, header.taken()),
                whole.names(),
                whole.queues(),
                whole.pools(),
                records);
    }

    /** Where the host learns of each end at once, the time of an end is known without the records before. */
    @Test
    void timesOfWholeOperationsDoNotDependOnTheMissingRecords() throws IOException {
        int missing = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(300); seed++) {
            TimedWork work = new TimedWork();
            try (FlightRecorder all = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
                work.run(new Random(seed), 24);
                FlightRecording whole = all.recording();
                OperationGraph expected = new OperationGraph(whole);
                boolean isLate =
                        expected.operations().stream().anyMatch(each -> each.completedAt() > expected.end(each));
                for (int first = 10; first < whole.records().count() && !isLate; first += 10) {
                    missing += assertHasTheTimesOf(
                            expected, without(whole, first), "seed %d, without %d".formatted(seed, first));
                }
            }
        }
        assertThat(missing).isPositive();
    }

    /** Returns the number of operations begun after an operation with missing records. */
    private static int assertHasTheTimesOf(OperationGraph expected, FlightRecording recording, String what) {
        OperationGraph graph = new OperationGraph(recording);
        Explanation explanation = new Explanation(graph);
        int missing = 0;
        for (RecordedOperation each : graph.operations()) {
            RecordedOperation same = expected.operation(each.number());
            assertThat(explanation.times(each))
                    .as("%s, %s", what, explanation.explain(each))
                    .isEqualTo(new Explanation(expected).times(same));
            Dependency decisive = graph.decisive(each);
            assertThat(decisive.available())
                    .as("%s, %s", what, decisive)
                    .isEqualTo(expected.decisive(same).available());
            missing += decisive.missing() ? 1 : 0;
        }
        return missing;
    }
}
