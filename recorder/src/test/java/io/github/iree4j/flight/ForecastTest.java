package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.Forecast.Hardware;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ForecastTest {
    /** Two calls of three operations each, one after the other on a stream; each operation takes 10 ms. */
    private static FlightRecording twoCallsOnTheSameStream() throws IOException {
        return twoCalls(false);
    }

    /**
     * Two calls of three operations each on a stream; each operation takes 10 ms.
     *
     * @param waits whether the thread waits for the end of each operation
     */
    private static FlightRecording twoCalls(boolean waits) throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, Frontier.DEFAULT_CAPACITY);
            VirtualScript script = new VirtualScript() {
                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return 10_000_000;
                }
            };
            List<TimelineSemaphore> timelines = new ArrayList<>();
            List<Fence> fences = new ArrayList<>();
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .script(script)
                            .schedulingDomain(domain)
                            .build();
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                for (int call = 0; call < 2; call++) {
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    timelines.add(timeline);
                    MemoryHolder holder = new MemoryHolder("m.f", new OperationsUnderWay());
                    MemoryHolder before = holder.enter();
                    for (int i = 1; i <= 3; i++) {
                        Fence wait = i == 1 ? null : Fence.at(timeline, i - 1);
                        Fence signal = Fence.at(timeline, i);
                        fences.add(signal);
                        if (wait != null) {
                            fences.add(wait);
                        }
                        device.queue(0).barrier(wait, signal, 0);
                        if (waits) {
                            clock.runUntilIdle();
                        }
                    }
                    holder.leave(before);
                }
                clock.runUntilIdle();
                return recorder.recording();
            } finally {
                fences.forEach(Fence::close);
                timelines.forEach(TimelineSemaphore::close);
            }
        }
    }

    @Test
    void modelOfTheRecordedHardwareTakesAsLong() throws IOException {
        Forecast same = Forecast.of(twoCallsOnTheSameStream(), Hardware.RECORDED);
        assertThat(same.recorded()).isEqualTo(60_000_000);
        assertThat(same.model()).isEqualTo(60_000_000);
        assertThat(same.shortest()).isEqualTo(same.longest()).isEqualTo(60_000_000);
        assertThat(same.operations()).isEqualTo(6);
        assertThat(same.notEnded()).isZero();
    }

    @Test
    void independentCallsTakeHalfTheTimeOnTwiceTheHardware() throws IOException {
        FlightRecording recording = twoCallsOnTheSameStream();
        assertThat(Forecast.of(recording, new Hardware(2, 1, 100)).longest()).isEqualTo(30_000_000);
        assertThat(Forecast.of(recording, new Hardware(0, 2, 100)).longest()).isEqualTo(30_000_000);
        assertThat(Forecast.of(recording, new Hardware(0, 2, 100)).notEnded()).isZero();
    }

    /** A preempted worker records the end of an operation after the waiting thread has submitted the next. */
    @Test
    void callsOfAWaitingThreadGainNothingDespiteLateRecordsOfTheirEnds() throws IOException {
        FlightRecording recording = twoCalls(true);
        RecordWords late = new RecordWords();
        for (int i = 0; i < recording.records().count(); i++) {
            RecordWords one = new RecordWords();
            one.add(recording.records().words(), recording.records().start(i));
            if (RecordType.type(one.word(0, 0)) == RecordType.OVER) {
                one.words()[2] += 5_000_000;
            }
            late.add(one.words(), 0);
        }
        Forecast forecast = Forecast.of(
                new FlightRecording(recording.header(), recording.names(), recording.queues(), recording.pools(), late),
                new Hardware(2, 1, 100));
        assertThat(forecast.model()).isEqualTo(60_000_000);
        assertThat(forecast.shortest()).isEqualTo(forecast.longest()).isEqualTo(60_000_000);
        assertThat(forecast.error()).isEqualTo(5.0 / forecast.recorded() * 1_000_000);
    }

    @Test
    void ringsWithoutTheBeginningAreForecastFromTheRest() throws IOException {
        for (long seed = 1; seed <= 4; seed++) {
            try (RandomWork work = new RandomWork(seed, 64 << 10, seed % 2 == 0);
                    FlightRecorder recorder = FlightRecorder.open(
                            work.domain,
                            RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES),
                            work.clock::now)) {
                for (int i = 0; i < 60; i++) {
                    work.run(50);
                }
                FlightRecording recording = recorder.recording();
                assertThat(recording.header().completeFrom()).isPositive();
                Forecast forecast = Forecast.of(recording, Hardware.RECORDED);
                assertThat(forecast.operations()).isGreaterThan(500);
                assertThat(forecast.isWhole()).as("seed %d: %s", seed, forecast).isTrue();
                System.out.printf("ring: %s, error %.3f%n", forecast, forecast.error());
            }
        }
    }

    @Test
    void criticalPathOfAStreamIsTheStream() throws IOException {
        FlightRecording recording = twoCallsOnTheSameStream();
        CriticalPath path = CriticalPath.of(new OperationGraph(recording));
        assertThat(path.duration()).isEqualTo(60_000_000);
        assertThat(path.steps()).hasSize(6);
    }

    @Test
    void randomWorkEndsOnAnyHardware() throws IOException {
        for (long seed = 1; seed <= 10; seed++) {
            FlightRecording recording = FlightRecorderTest.record(seed, 60);
            for (Hardware hardware : List.of(
                    new Hardware(0, 1, 100),
                    new Hardware(4, 1, 100),
                    new Hardware(0, 3, 120),
                    new Hardware(1, 1, 100))) {
                Forecast forecast = Forecast.of(recording, hardware);
                assertThat(forecast.shortest())
                        .as("seed %d, %s", seed, hardware)
                        .isPositive();
            }
        }
    }

    /** Each of many calls takes a tenth of the memory, and the host closes the memory before the next call. */
    @Test
    void memoryClosedByTheHostIsFree() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, Frontier.DEFAULT_CAPACITY);
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .schedulingDomain(domain)
                            .build();
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                for (int call = 0; call < 40; call++) {
                    try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                            Fence allocated = Fence.at(timeline, 1);
                            Fence done = Fence.at(timeline, 2);
                            Buffer _ = device.queue(0).alloca(null, allocated, BufferParams.DEFAULT, 100 << 10, 0)) {
                        device.queue(0).barrier(allocated, done, 0);
                        clock.runUntilIdle();
                    }
                }
                Forecast forecast = Forecast.of(recorder.recording(), new Hardware(0, 2, 100));
                assertThat(forecast.operations()).isEqualTo(80);
                assertThat(forecast.notEnded()).isZero();
                assertThat(forecast.isWhole()).isTrue();
            }
        }
    }

    @Test
    void hungWorkIsCountedAndNotCompared() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain =
                    SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, Frontier.DEFAULT_CAPACITY);
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .schedulingDomain(domain)
                            .build();
                    TimelineSemaphore never = TimelineSemaphore.create(0);
                    Fence after = Fence.at(never, 1);
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                assertThatThrownBy(() -> Forecast.of(recorder.recording(), Hardware.RECORDED))
                        .isInstanceOfSatisfying(
                                IreeException.class,
                                e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION))
                        .hasMessageContaining("nothing to forecast");
                for (int i = 0; i < 20; i++) {
                    device.queue(0).barrier(null, null, 0);
                    device.queue(0).barrier(after, null, 0);
                }
                clock.runUntilIdle();
                Forecast forecast = Forecast.of(recorder.recording(), Hardware.RECORDED);
                assertThat(forecast.operations()).isEqualTo(20);
                assertThat(forecast.hanging()).isEqualTo(20);
                assertThat(forecast.notEnded()).isZero();
                assertThat(forecast.isWhole()).isFalse();
                never.signal(1);
                clock.runUntilIdle();
            }
        }
    }

    @Test
    void impossibleHardwareIsRefused() {
        assertThatThrownBy(() -> new Hardware(65, 1, 100)).isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> new Hardware(0, 0, 100)).isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> new Hardware(0, 1, 0)).isInstanceOf(IreeException.class);
    }
}
