package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A replay decides as the recording did, wherever between two events the recording was taken. */
class MixedRecordingsTest {
    private static final long MIB = 1 << 20;
    private static final long SEED = Effort.seed(20261128);

    private static void replay(int works, int most) throws IOException {
        int[] recordings = {0};
        for (long seed = SEED; seed < SEED + works; seed++) {
            long present = seed;
            MixedWork.record(seed, most, recording -> {
                Replay replay = Replay.of(recording);
                assertThat(replay.differences())
                        .as("seed %d: %s", present, replay)
                        .isEmpty();
                recordings[0]++;
            });
        }
        System.out.printf("mixed: %d recordings of %d works from seed %d%n", recordings[0], works, SEED);
        assertThat(recordings[0]).isGreaterThan(2 * works);
    }

    @Test
    void mixedWorkIsReplayedUnchanged() throws IOException {
        replay(Effort.rounds(150), 240);
    }

    /** The first allocation's promise resumes other work of its stream: after all three have their places. */
    @Test
    void allocationsWithMemoryAtOnceAreResumedBeforeTheWorkBehindThem() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        FrontierTracker tracker = FrontierTracker.create();
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
        VirtualDevice device = VirtualDevice.builder()
                .id("v")
                .clock(clock)
                .schedulingDomain(domain)
                .memoryLimit(8 * MIB)
                .fifoQueues(1)
                .build();
        List<TimelineSemaphore> timelines = IntStream.range(0, 4)
                .mapToObj(each -> TimelineSemaphore.create(0))
                .toList();
        List<Buffer> buffers = new ArrayList<>();
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            Buffer whole = device.allocator().allocate(BufferParams.DEFAULT, 8 * MIB);
            for (int i = 0; i < 3; i++) {
                buffers.add(
                        device.queue(0).alloca(null, Fence.at(timelines.get(i), 1), BufferParams.DEFAULT, 2 * MIB, 0));
            }
            device.queue(0).barrier(Fence.at(timelines.getFirst(), 1), Fence.at(timelines.getLast(), 1), 0);
            whole.close();
            clock.runUntilIdle();
            assertThat(timelines).allMatch(each -> each.isReached(1));
            Replay replay = Replay.of(recorder.recording());
            assertThat(replay.frontiers()).isEqualTo(4);
            assertThat(replay.differences()).isEmpty();
        } finally {
            buffers.forEach(Buffer::close);
            clock.runUntilIdle();
            device.close();
            timelines.forEach(TimelineSemaphore::close);
            tracker.close();
        }
    }

    @Test
    @Tag("nightly")
    void muchMixedWorkIsReplayedUnchanged() throws IOException {
        replay(600, 340);
    }
}
