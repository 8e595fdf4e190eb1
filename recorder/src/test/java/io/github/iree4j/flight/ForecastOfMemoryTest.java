package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.Forecast.Hardware;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A forecast with more memory, or with devices of different limits, beside a second run of the same work on such devices. */
@Timeout(120)
class ForecastOfMemoryTest {
    private static final long MIB = 1 << 20;
    private static final int CALLS = 20;
    private static final Hardware TWICE_THE_MEMORY = new Hardware(0, 1, 200);

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);

    @AfterEach
    void close() {
        tracker.close();
    }

    /** A device with operations of 10 ms for the name "work", and of no time for other names. */
    private VirtualDevice device(String id, long limit, UnaryOperator<VirtualDevice.Builder> queues) {
        VirtualScript script = new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return operation.name().equals("work") ? 10_000_000 : 0;
            }
        };
        return queues.apply(VirtualDevice.builder()
                        .id(id)
                        .clock(clock)
                        .script(script)
                        .schedulingDomain(domain)
                        .memoryLimit(limit))
                .build();
    }

    /** Submits a call: an allocation, work of 10 ms, and the deallocation. */
    private static void call(VirtualDevice device, long bytes) {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        MemoryHolder holder = new MemoryHolder("m.f", new OperationsUnderWay());
        MemoryHolder before = holder.enter();
        Buffer buffer = device.queue(0).alloca(null, Fence.at(timeline, 1), BufferParams.DEFAULT, bytes, 0);
        device.submit(0, Fence.at(timeline, 1), Fence.at(timeline, 2), new VirtualOperation("work"));
        device.queue(0).dealloca(Fence.at(timeline, 2), Fence.at(timeline, 3), buffer, 0);
        holder.leave(before);
    }

    /** Records calls of 6 MiB each on a queue without order. */
    private FlightRecording calls(int width, long limit) throws IOException {
        try (VirtualDevice device = device("v", limit, builder -> builder.unorderedQueue(width));
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            for (int i = 0; i < CALLS; i++) {
                call(device, 6 * MIB);
            }
            clock.runUntilIdle();
            return recorder.recording();
        }
    }

    private static long duration(FlightRecording recording) {
        return Forecast.of(recording, Hardware.RECORDED).recorded();
    }

    @Test
    void theGainOfAQueueHeldBackByMemoryIsARange() throws IOException {
        Forecast forecast = Forecast.of(calls(4, 8 * MIB), TWICE_THE_MEMORY);
        assertThat(forecast.recorded()).isEqualTo(200_000_000);
        assertThat(forecast.modelError()).isZero();
        assertThat(forecast.longest()).isEqualTo(200_000_000);
        assertThat(forecast.shortest()).isEqualTo(100_000_000).isEqualTo(duration(calls(4, 16 * MIB)));
        assertThat(forecast.error()).isEqualTo(1);
    }

    @Test
    void aQueueIdleDespiteReadyWorkRunsNoMoreWithOtherMemory() throws IOException {
        Forecast forecast = Forecast.of(calls(4, 256 * MIB), TWICE_THE_MEMORY);
        assertThat(forecast.shortest()).isEqualTo(forecast.longest()).isEqualTo(duration(calls(4, 512 * MIB)));
        assertThat(forecast.error()).isZero();
        Forecast less = Forecast.of(calls(4, 64 * MIB), new Hardware(0, 1, 13));
        assertThat(less.shortest()).isEqualTo(less.longest()).isEqualTo(duration(calls(4, 8 * MIB)));
    }

    @Test
    void theSecondRunIsInTheRange() throws IOException {
        long seed = Effort.seed(ForecastOfMemoryTest.class, "work", 1);
        for (int i = 0; i < Effort.rounds(40); i++) {
            Random random = new Random(seed + i);
            int width = 1 + random.nextInt(8);
            long limit = (7 + random.nextInt(40)) * MIB;
            int percent = 100 + random.nextInt(400);
            Forecast forecast = Forecast.of(calls(width, limit), new Hardware(0, 1, percent));
            long real = duration(calls(width, limit / 100 * percent));
            assertThat(real)
                    .as("seed %d: %d at once, %d bytes, %d %%: %s", seed + i, width, limit, percent, forecast)
                    .isBetween(forecast.shortest(), forecast.longest());
        }
    }

    @Test
    void eachDeviceHasItsOwnLimit() throws IOException {
        try (VirtualDevice big = device("big", 64 * MIB, builder -> builder.fifoQueues(1));
                VirtualDevice small = device("small", 4 * MIB, builder -> builder.fifoQueues(1));
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            for (int i = 0; i < CALLS; i++) {
                call(big, 32 * MIB);
                call(small, MIB);
            }
            clock.runUntilIdle();
            for (Hardware hardware : List.of(Hardware.RECORDED, new Hardware(0, 1, 120), new Hardware(0, 2, 100))) {
                Forecast forecast = Forecast.of(recorder.recording(), hardware);
                assertThat(forecast.operations()).isEqualTo(6 * CALLS);
                assertThat(forecast.notEnded()).as("%s", hardware).isZero();
                assertThat(forecast.model()).isEqualTo(200_000_000);
            }
            assertThat(Forecast.of(recorder.recording(), new Hardware(0, 1, 40)).notEnded())
                    .as("on the big device")
                    .isEqualTo(3 * CALLS);
        }
    }

    /** Requests are smaller than the smallest limit of a device, 1 MiB, the unit of models. */
    @ParameterizedTest
    @CsvSource({"100, 60, 256, 50, 0", "4, 3, 900, 90, 0", "4, 3, 900, 100, 20", "100, 60, 256, 70, 20"})
    void workWithoutRoomBesideKeptMemoryDoesNotRun(long limit, long kept, long kibibytes, int percent, int calls)
            throws IOException {
        try (VirtualDevice device = device("v", limit * MIB, builder -> builder.fifoQueues(1));
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
                Buffer _ = device.allocator().allocate(BufferParams.DEFAULT, kept * MIB)) {
            for (int i = 0; i < CALLS; i++) {
                call(device, kibibytes << 10);
            }
            clock.runUntilIdle();
            assertThat(Forecast.of(recorder.recording(), new Hardware(0, 1, percent))
                            .notEnded())
                    .isEqualTo(3 * (CALLS - calls));
        }
    }

    @Test
    void aRecordingTooLittleOfWhichRunsInTheModelIsRefusedWithTheReason() throws IOException {
        try (VirtualDevice device = device("v", 8 * MIB, builder -> builder.fifoQueues(1));
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            for (int i = 0; i < CALLS; i++) {
                try (Buffer _ = device.queue(0).alloca(null, null, BufferParams.DEFAULT, 6 * MIB, 0)) {
                    clock.runUntil(clock.now() + 1_000);
                }
                clock.runUntil(clock.now() + 1_000);
            }
            FlightRecording recording = recorder.recording();
            assertThat(Forecast.of(recording, Hardware.RECORDED).notEnded()).isZero();
            RecordWords kept = new RecordWords();
            for (int i = 0; i < recording.records().count(); i++) {
                RecordWords one = new RecordWords();
                one.add(recording.records().words(), recording.records().start(i));
                if (RecordType.type(one.word(0, 0)) != RecordType.RELEASED) {
                    kept.add(one.words(), 0);
                }
            }
            FlightRecording without = new FlightRecording(
                    recording.header(), recording.names(), recording.queues(), recording.pools(), kept);
            assertThatThrownBy(() -> Forecast.of(without, Hardware.RECORDED))
                    .hasMessageContaining("%d of %d operations do not run in a model", CALLS - 1, CALLS)
                    .hasMessageContaining("1 wait for memory that is not released");
        }
    }

    @Test
    void moreThanTheLargestLimitIsTheLargestLimit() throws IOException {
        FlightRecording recording = calls(4, Long.MAX_VALUE);
        for (int percent : List.of(100, 101, 120, 10_000)) {
            Forecast forecast = Forecast.of(recording, new Hardware(0, 1, percent));
            assertThat(forecast.notEnded()).isZero();
            assertThat(forecast.shortest()).isEqualTo(forecast.longest()).isEqualTo(forecast.recorded());
        }
    }

    /** 6 MiB fit into 12 MiB, and do not fit beside 8 MiB. */
    @Test
    void memoryHeldFromBeforeTheRecordingLeavesLess() throws IOException {
        try (VirtualDevice device = device("v", 20 * MIB, builder -> builder.unorderedQueue(4));
                Buffer _ = device.queue(0).alloca(null, null, BufferParams.DEFAULT, 8 * MIB, 0)) {
            clock.runUntilIdle();
            try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                for (int i = 0; i < CALLS; i++) {
                    call(device, 6 * MIB);
                }
                clock.runUntilIdle();
                assertThat(Forecast.of(recorder.recording(), new Hardware(0, 1, 80))
                                .longest())
                        .isEqualTo(200_000_000);
                assertThat(Forecast.of(recorder.recording(), new Hardware(0, 1, 60))
                                .notEnded())
                        .isEqualTo(3 * CALLS);
            }
        }
    }
}
