package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.lifetime.RefCounted;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Replays on streams where the host learns of ends at other moments than in the recording: the decisions that depend on
 * such a moment are not compared, all others are. Everything runs on one thread and a virtual clock.
 */
@Timeout(60)
class SeenEndsTest {
    private static final long LATE = 1000;
    private static final int ROOM = 12;

    /** The host learns of the ends on the first stream late, and of other ends at once. */
    private static final VirtualScript FIRST_REPORTED_LATE = new VirtualScript() {
        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            return queue == 0 ? LATE : 0;
        }
    };

    /** Operations on the first stream take long. */
    private static final VirtualScript FIRST_TAKES_LONG = new VirtualScript() {
        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return queue == 0 ? LATE : 1;
        }
    };

    /** A device of three streams, with a timeline for each. */
    private static final class Streams implements AutoCloseable {
        final VirtualClock clock = VirtualClock.stepped();
        final FrontierTracker tracker = FrontierTracker.create();
        final SchedulingDomain domain;
        final VirtualDevice device;
        private final List<TimelineSemaphore> timelines = new ArrayList<>();
        private final List<Fence> fences = new ArrayList<>();

        Streams(int capacity, VirtualScript script) {
            domain = SchedulingDomain.create(AxisAllocator.create(3, 0), tracker, capacity);
            device = VirtualDevice.builder()
                    .clock(clock)
                    .script(script)
                    .schedulingDomain(domain)
                    .fifoQueues(3)
                    .build();
            for (int i = 0; i < 3; i++) {
                timelines.add(TimelineSemaphore.create(0));
            }
        }

        Fence at(int stream, long value) {
            Fence fence = Fence.at(timelines.get(stream), value);
            fences.add(fence);
            return fence;
        }

        QueueCounters counters(int stream) {
            return device.queue(stream).counters();
        }

        @Override
        public void close() {
            device.close();
            fences.forEach(Fence::close);
            timelines.forEach(TimelineSemaphore::close);
            tracker.close();
        }
    }

    /** Records operations; none ends before the last submission, unless the work steps the clock. */
    private static FlightRecording record(int capacity, Consumer<Streams> work) throws IOException {
        try (Streams streams = new Streams(capacity, VirtualScript.DEFAULT);
                FlightRecorder recorder = FlightRecorder.open(streams.domain, RecorderOptions.DEFAULTS)) {
            work.accept(streams);
            streams.clock.runUntilIdle();
            return recorder.recording();
        }
    }

    private static WaitDecision lastDecision(FlightRecording recording) {
        return new OperationGraph(recording)
                .operations()
                .getLast()
                .decisions()
                .getFirst()
                .decision();
    }

    /** Replays a recording, and steps the clock after each submission; after the last submission, until all has ended. */
    private static DeviceReplay replay(FlightRecording recording, Streams streams, long ticks) {
        int[] left = { // a barrier on each queue comes first
            recording.queues().size()
                    + new OperationGraph(recording).operations().size()
        };
        Device stepping = stepping(streams.device, () -> {
            streams.clock.runUntil(streams.clock.now() + ticks);
            if (--left[0] == 0) {
                streams.clock.runUntilIdle();
            }
        });
        DeviceReplay replay = DeviceReplay.of(recording, streams.domain, List.of(stepping), Duration.ofSeconds(30));
        assertThat(left[0]).as("submissions left").isZero();
        assertThat(replay.notEnded()).as("%s", replay).isZero();
        return replay;
    }

    /** Returns a device with queues that run an action after each submission. */
    private static Device stepping(Device device, Runnable step) {
        List<DeviceQueue> queues = new ArrayList<>();
        for (int i = 0; i < device.queueCount(); i++) {
            DeviceQueue queue = device.queue(i);
            queues.add(proxy(DeviceQueue.class, (proxy, method, arguments) -> {
                if (method.getDeclaringClass() == Object.class) {
                    return method.getName().equals("equals") ? proxy == arguments[0] : method.invoke(queue, arguments);
                }
                Object result = method.invoke(queue, arguments);
                if (method.getParameterCount() > 0 && method.getParameterTypes()[0] == Fence.class) {
                    step.run();
                }
                return result;
            }));
        }
        return proxy(
                Device.class,
                (proxy, method, arguments) -> method.getName().equals("queue")
                        ? queues.get((int) arguments[0])
                        : method.invoke(device, arguments));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** The awaited operation has been reported, and signals only after an operation reported later. */
    @Test
    void awaitedOperationSeenToEndBeforeItSignalsIsNoDifference() throws IOException {
        FlightRecording recording = record(ROOM, streams -> {
            streams.device.queue(0).barrier(null, streams.at(0, 1), 0);
            streams.device.queue(1).barrier(streams.at(0, 1), streams.at(1, 1), 0);
            streams.device.queue(2).barrier(streams.at(1, 1), streams.at(2, 1), 0);
        });
        assertThat(lastDecision(recording)).isEqualTo(WaitDecision.DEVICE_WAIT);
        try (Streams streams = new Streams(ROOM, FIRST_REPORTED_LATE)) {
            DeviceReplay replay = replay(recording, streams, 10);
            assertThat(streams.counters(2).elidedFrontier()).isEqualTo(1);
            assertThat(replay.differences()).as("%s", replay).isEmpty();
            assertThat(replay.dependOnTime()).isPositive();
        }
    }

    /** The stream's earlier operations have been reported before an operation preceding them; the frontier is empty then. */
    @Test
    void successorSeenToEndBeforeTheAwaitedOperationIsNoDifference() throws IOException {
        FlightRecording recording = record(ROOM, SeenEndsTest::submitWaitsForTheSame);
        assertThat(lastDecision(recording)).isEqualTo(WaitDecision.ELIDED_FRONTIER);
        try (Streams streams = new Streams(ROOM, FIRST_REPORTED_LATE)) {
            DeviceReplay replay = replay(recording, streams, 10);
            assertThat(streams.counters(1).deviceWaits()).isEqualTo(2);
            assertThat(replay.differences()).as("%s", replay).isEmpty();
            assertThat(replay.dependOnTime()).isPositive();
        }
    }

    private static void submitWaitsForTheSame(Streams streams) {
        streams.device.queue(0).barrier(null, streams.at(0, 1), 0);
        streams.device.queue(1).barrier(streams.at(0, 1), streams.at(1, 1), 0);
        streams.device.queue(1).barrier(null, streams.at(1, 2), 0);
        streams.device.queue(1).barrier(streams.at(0, 1), streams.at(1, 3), 0);
    }

    /** In the recording there is no room for the awaited operation; here another operation has ended and left room. */
    @Test
    void entryEvictedInTheRecordingOnlyIsNoDifference() throws IOException {
        FlightRecording recording = record(2, streams -> {
            streams.device.queue(0).barrier(null, streams.at(0, 1), 0);
            streams.device.queue(1).barrier(null, streams.at(1, 1), 0);
            streams.device.queue(2).barrier(streams.at(0, 1), streams.at(2, 1), 0);
            streams.device.queue(2).barrier(streams.at(1, 1), streams.at(2, 2), 0);
            streams.device.queue(2).barrier(streams.at(0, 1), streams.at(2, 3), 0);
        });
        assertThat(lastDecision(recording)).isEqualTo(WaitDecision.DEVICE_WAIT);
        try (Streams streams = new Streams(2, FIRST_TAKES_LONG)) {
            DeviceReplay replay = replay(recording, streams, 10);
            assertThat(streams.counters(2).elidedFrontier()).isEqualTo(1);
            assertThat(replay.differences()).as("%s", replay).isEmpty();
            assertThat(replay.dependOnTime()).isPositive();
        }
    }

    /** The resources of an operation are released between the report and the signals; here on release another waits. */
    @Test
    void awaitedOperationSeenToEndInTheRecordingIsNoDifference() throws IOException {
        FlightRecording recording;
        try (Arena arena = Arena.ofConfined()) {
            recording = record(ROOM, streams -> {
                Fence filled = streams.at(0, 1);
                RefCounted owner = new RefCounted() {
                    @Override
                    public void retain() {}

                    @Override
                    public void release() {
                        streams.device.queue(1).barrier(filled, streams.at(1, 1), 0);
                    }
                };
                Buffer target =
                        streams.device.allocator().importHost(BufferParams.DEFAULT, arena.allocate(64, 64), owner);
                streams.device.queue(0).fill(null, filled, target, 0, Integer.BYTES, 0, Integer.BYTES, 0);
                target.close();
            });
        }
        assertThat(lastDecision(recording)).isEqualTo(WaitDecision.ELIDED_FRONTIER);
        try (Streams streams = new Streams(ROOM, VirtualScript.DEFAULT)) {
            DeviceReplay replay = replay(recording, streams, 0);
            assertThat(streams.counters(1).deviceWaits()).isEqualTo(1);
            assertThat(replay.differences()).as("%s", replay).isEmpty();
            assertThat(replay.dependOnTime()).isPositive();
        }
    }

    /** No operation is reported before the last submission, there as here: the decision depends on no moment. */
    @Test
    void otherDecisionAboutWorkUnderWayIsADifference() throws IOException {
        FlightRecording recording = record(ROOM, SeenEndsTest::submitWaitsForTheSame);
        for (WaitDecision each :
                List.of(WaitDecision.ELIDED_FRONTIER, WaitDecision.DEVICE_WAIT, WaitDecision.COVERED)) {
            FlightRecording altered = withLastDecision(recording, each);
            try (Streams streams = new Streams(ROOM, VirtualScript.DEFAULT)) {
                DeviceReplay replay = replay(altered, streams, 0);
                assertThat(replay.differences()).as("%s", replay).hasSize(each == WaitDecision.ELIDED_FRONTIER ? 0 : 1);
                assertThat(replay.dependOnTime()).isZero();
            }
        }
    }

    private static FlightRecording withLastDecision(FlightRecording recording, WaitDecision decision) {
        long[] words = recording.records().words();
        int last = -1;
        for (int i = 0; i < recording.records().count(); i++) {
            int start = recording.records().start(i);
            last = RecordType.type(words[start]) == RecordType.DECIDED ? start : last;
        }
        words[last + RecordType.HEADER + 2] = decision.ordinal();
        return new FlightRecording(
                recording.header(), recording.names(), recording.queues(), recording.pools(), recording.records());
    }
}
