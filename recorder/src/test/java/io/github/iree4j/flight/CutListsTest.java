package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A recording names the unknown parts since a list was cut: open operations, points of a fence, the records of a page.
 */
@Timeout(120)
class CutListsTest {
    private static final int POINTS = RecordingObserver.MAXIMUM_POINTS + 904;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
    private final VirtualDevice device = VirtualDevice.builder()
            .clock(clock)
            .schedulingDomain(domain)
            .unorderedQueue(2)
            .unorderedQueue(2)
            .build();
    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        recorder = FlightRecorder.open(
                domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES), clock::now);
    }

    @AfterEach
    void close() {
        recorder.close();
        timelines.forEach(each -> each.fail(IreeException.of(StatusCode.ABORTED, "given up")));
        clock.runUntilIdle();
        device.close();
        timelines.forEach(TimelineSemaphore::close);
        tracker.close();
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    private void submit(int queue, Fence wait, Fence signal) {
        device.submit(queue, wait, signal, new VirtualOperation("work"));
    }

    private Fence manyPoints() {
        List<Fence.Entry> points = new ArrayList<>();
        for (int i = 0; i < POINTS; i++) {
            points.add(new Fence.Entry(timeline(), 1));
        }
        return Fence.of(points);
    }

    private List<RecordedProblem> problems() {
        return new Explanation(new OperationGraph(recorder.recording())).problems();
    }

    @Test
    void withUnlistedOpenOperationsTheSignallerIsUnknown() throws IOException {
        TimelineSemaphore loaded = timeline();
        submit(1, Fence.at(timeline(), 1), Fence.at(loaded, 1));
        for (int i = 0; i < OpenRecords.MAXIMUM; i++) {
            submit(0, Fence.at(loaded, 1), null);
        }
        for (int i = 0; i < 3_000; i++) { // until the ring has dropped the rest
            submit(1, null, null);
            clock.runUntilIdle();
        }
        String unknown = "not known who signals timeline %d at 1: 1 open operation is not in the recording"
                .formatted(loaded.id());
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("unknown-signal");
            assertThat(each.summary()).startsWith(unknown);
        });
        FlightRecording recording = recorder.recording();
        assertThat(new Explanation(new OperationGraph(recording)).summary(20))
                .contains("1 open operation is not in the recording")
                .anyMatch(
                        line -> line.contains("not known by whom signalled: 1 open operation is not in the recording"))
                .noneMatch(line -> line.contains("by nobody in the recording"));
    }

    @Test
    void aCycleIsNoDeadlockForSureWhereOpenOperationsAreNotListed() {
        TimelineSemaphore left = timeline();
        TimelineSemaphore right = timeline();
        submit(0, Fence.at(left, 1), Fence.at(right, 1));
        submit(0, Fence.at(right, 1), Fence.at(left, 1));
        assertThat(problems()).extracting(RecordedProblem::kind).containsExactly("deadlock");
        Fence never = Fence.at(timeline(), 1);
        for (int i = 0; i < OpenRecords.MAXIMUM; i++) {
            submit(1, never, null);
        }
        assertThat(problems()).extracting(RecordedProblem::kind).containsOnly("unknown-signal");
        assertThat(problems())
                .extracting(RecordedProblem::summary)
                .contains(
                        "2 operations wait for each other; not known whether others signal: 2 open operations are not in the"
                                + " recording");
    }

    @Test
    void withOnlyUnrecordedPointsLeftTheObstacleOfTheOperationIsUnknown() {
        Fence many = manyPoints();
        submit(0, many, null);
        assertThat(problems()).extracting(RecordedProblem::kind).containsOnly("unsignalled-fence");
        for (int i = 0; i < POINTS - 1; i++) {
            many.semaphore(i).signal(1);
        }
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("unknown-signal");
            assertThat(each.summary()).endsWith(" work back: 904 awaited points are not recorded");
        });
        assertThat(new Explanation(new OperationGraph(recorder.recording())).summary(20))
                .contains("    waits for 904 points without a record: not known whether signalled");
        many.semaphore(POINTS - 1).signal(1);
        clock.runUntilIdle();
        assertThat(problems()).isEmpty();
    }

    @Test
    void withOpenWorkSignallingUnrecordedPointsTheSignallerIsUnknown() {
        Fence many = manyPoints();
        Fence never = Fence.at(timeline(), 1);
        submit(0, never, many);
        TimelineSemaphore last = many.semaphore(POINTS - 1);
        submit(0, Fence.at(last, 1), null);
        assertThat(problems())
                .extracting(RecordedProblem::summary)
                .contains(("not known who signals timeline %d at 1: 904 points to be signalled by open work are not"
                                + " recorded; waiting for the signal: 1 operation")
                        .formatted(last.id()));
    }

    @Test
    void cutListsAreInTheFileToo() throws IOException {
        submit(0, manyPoints(), null);
        FlightRecording recording = recorder.recording();
        Path file = Files.createTempFile("cut", ".iree4j");
        try {
            recording.write(file);
            assertThat(FlightRecording.read(file).events())
                    .isEqualTo(recording.events())
                    .anyMatch(each -> each instanceof FlightEvent.MorePoints more && more.waits() == 904);
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void noEndedOperationIsOpenOnAPage() {
        TimelineSemaphore steps = timeline();
        for (int i = 1; i <= 20; i++) {
            submit(i % 2, Fence.at(steps, i), Fence.at(steps, i + 1));
        }
        steps.signal(1);
        clock.runUntilIdle();
        assertThat(steps.value()).isEqualTo(21);
        long records = recorder.recording().header().next(); // without the memory held when the recording is taken
        for (int most = 1; most <= records; most++) {
            OperationGraph page = new OperationGraph(recorder.since(0, most));
            assertThat(page.recording().header().dropped()).isEqualTo(records - most);
            assertThat(page.operations()).as("page of %d", most).noneMatch(each -> page.hasEnded(each) == Known.NO);
            assertThat(new Explanation(page).problems()).as("page of %d", most).isEmpty();
        }
        OperationGraph whole = new OperationGraph(recorder.since(0, (int) records));
        assertThat(whole.operations()).hasSize(20).allMatch(each -> whole.hasEnded(each) == Known.YES);
    }
}
