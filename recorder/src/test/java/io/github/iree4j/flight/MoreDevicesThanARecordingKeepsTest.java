package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.Forecast.Hardware;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Devices come and go in a long-running process: the queues and pools of the last are not known to the recording. */
@Timeout(120)
class MoreDevicesThanARecordingKeepsTest {
    private static final int MIB = 1 << 20;
    private static final int DEVICES = Definitions.MAXIMUM_POOLS + 4;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);

    private VirtualDevice device(String id) {
        return VirtualDevice.builder()
                .id(id)
                .clock(clock)
                .schedulingDomain(domain)
                .memoryLimit(8 * MIB)
                .fifoQueues(1)
                .build();
    }

    private Buffer allocate(VirtualDevice device, long bytes) {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        Buffer buffer = device.queue(0).alloca(null, Fence.at(timeline, 1), BufferParams.DEFAULT, bytes, 0);
        clock.runUntilIdle();
        return buffer;
    }

    @Test
    void shortagesOfUnknownDevicesAreNotMergedAndHaveNoNamesOfOthers() throws IOException {
        try (tracker;
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            for (int i = 0; i < DEVICES; i++) {
                try (VirtualDevice each = device("d" + i)) {
                    allocate(each, 4096).close();
                }
            }
            assertThat(Forecast.of(recorder.recording(), Hardware.RECORDED).notEnded())
                    .isZero();
            try (VirtualDevice left = device("left");
                    VirtualDevice right = device("right")) {
                List<Buffer> buffers = List.of(
                        allocate(left, 6 * MIB),
                        allocate(right, 5 * MIB),
                        allocate(left, 3 * MIB),
                        allocate(right, 4 * MIB));
                assertThat(new Explanation(new OperationGraph(recorder.recording())).problems())
                        .extracting(RecordedProblem::summary)
                        .containsExactlyInAnyOrder(
                                "waiting for 3145728 bytes of memory: 1 operation; who holds memory is not known: the"
                                        + " records of the request, or of its pool, are missing",
                                "waiting for 4194304 bytes of memory: 1 operation; who holds memory is not known: the"
                                        + " records of the request, or of its pool, are missing");
                for (int i = 0; i < DEVICES / 10; i++) {
                    left.queue(0).barrier(null, null, 0);
                }
                buffers.forEach(Buffer::close);
                clock.runUntilIdle();
                assertThatThrownBy(() -> Forecast.of(recorder.recording(), Hardware.RECORDED))
                        .hasMessageContaining("on queues that the recording does not know");
            }
        }
    }
}
