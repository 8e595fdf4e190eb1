package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two devices have the same name, and equal requests for memory wait on both. */
@Timeout(60)
class ShortagesOfNamesakeDevicesTest {
    private static final int MIB = 1 << 20;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
    private final VirtualDevice left = device();
    private final VirtualDevice right = device();
    private final List<Buffer> buffers = new ArrayList<>();
    private FlightRecorder recorder;

    private VirtualDevice device() {
        return VirtualDevice.builder()
                .id("dev")
                .clock(clock)
                .schedulingDomain(domain)
                .memoryLimit(8 * MIB)
                .fifoQueues(1)
                .build();
    }

    @BeforeEach
    void open() throws IOException {
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
    }

    @AfterEach
    void close() {
        recorder.close();
        buffers.forEach(Buffer::close);
        clock.runUntilIdle();
        left.close();
        right.close();
        tracker.close();
    }

    private void allocate(VirtualDevice device, long bytes) {
        buffers.add(device.queue(0).alloca(null, null, BufferParams.DEFAULT, bytes, 0));
        clock.runUntilIdle();
    }

    private List<String> problems() {
        return problems(recorder.recording());
    }

    private static List<String> problems(FlightRecording recording) {
        return new Explanation(new OperationGraph(recording))
                .problems().stream().map(RecordedProblem::summary).toList();
    }

    @Test
    void memoryGivenBeforeShowsTheDeviceOfARequest() {
        allocate(left, 6 * MIB);
        allocate(right, 5 * MIB);
        allocate(left, 4 * MIB);
        allocate(right, 4 * MIB);
        assertThat(problems())
                .hasSize(2)
                .allMatch(
                        each -> each.startsWith(
                                "waiting for 4194304 bytes of pool 'large' of device 'dev', limited to 8388608 bytes: 1 operation; "))
                .anyMatch(each -> each.contains("memory is held by no program with 6291456 bytes in 1 block"))
                .anyMatch(each -> each.contains("memory is held by no program with 5242880 bytes in 1 block"));
    }

    @Test
    void theOrderOfTheRecordsShowsTheDeviceOfARequest() {
        holdEqualRequests();
        assertThat(problems())
                .hasSize(2)
                .anyMatch(each -> each.contains("memory is held by no program with 6291456 bytes in 1 block"))
                .anyMatch(each -> each.contains("memory is held by no program with 5242880 bytes in 1 block"));
    }

    /** The records of two threads: both operations are held before either request stands in line. */
    @Test
    void indistinguishableEqualRequestsAreNotReportedAsLackingRecords() {
        holdEqualRequests();
        FlightRecording recording = recorder.recording();
        RecordWords records = new RecordWords();
        long[] words = recording.records().words().clone();
        for (int i = 0; i < recording.records().count(); i++) {
            int start = recording.records().start(i);
            words[start + 1] += RecordType.type(words[start]) == RecordType.IN_LINE ? 1000 : 0; // the number
            records.add(words, start);
        }
        String summary = "waiting for 4194304 bytes of memory of device 'dev', limited to 8388608 bytes: 1 operation;"
                + " who holds memory is not known: equal requests wait for memory of several devices or kinds, and"
                + " which one is of which operation is not recorded";
        assertThat(problems(new FlightRecording(
                        recording.header(), recording.names(), recording.queues(), recording.pools(), records)))
                .containsExactly(summary, summary);
    }

    private void holdEqualRequests() {
        buffers.add(left.allocator().allocate(BufferParams.DEFAULT, 6 * MIB));
        buffers.add(right.allocator().allocate(BufferParams.DEFAULT, 5 * MIB));
        allocate(left, 4 * MIB);
        allocate(right, 4 * MIB);
    }
}
