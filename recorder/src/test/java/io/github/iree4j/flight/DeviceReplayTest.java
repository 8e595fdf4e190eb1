package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of random work on virtual devices, repeated on the CPU and on streams of a GPU's driver. */
@Timeout(300)
class DeviceReplayTest {
    private static final long SEED = Effort.seed(20261126);
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private interface Opener {
        Device open(DeviceOptions.Builder options);
    }

    private static DeviceReplay replay(FlightRecording recording, Opener opener, Duration patience) {
        FrontierTracker tracker = FrontierTracker.create();
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(21, 0), tracker, recording.header().frontierCapacity());
        List<Device> devices = new ArrayList<>();
        try {
            for (int count : DeviceReplay.queueCounts(recording)) {
                devices.add(
                        opener.open(DeviceOptions.builder().queueCount(count).schedulingDomain(domain)));
            }
            return DeviceReplay.of(recording, domain, devices, patience);
        } finally {
            devices.forEach(Device::close);
            tracker.close();
        }
    }

    private static DeviceReplay onCpu(FlightRecording recording) {
        return onCpu(recording, LONG);
    }

    static DeviceReplay onCpu(FlightRecording recording, Duration patience) {
        List<IreeRuntime> runtimes = new ArrayList<>();
        try {
            return replay(
                    recording,
                    options -> {
                        IreeRuntime runtime = IreeRuntime.builder()
                                .device("cpu", "local", options.build())
                                .build();
                        runtimes.add(runtime);
                        return runtime.device();
                    },
                    patience);
        } finally {
            runtimes.forEach(IreeRuntime::close);
        }
    }

    @Test
    void randomWorkIsRepeatedOnTheCpu() throws IOException {
        int waits = 0;
        for (long seed = SEED; seed < SEED + 40; seed++) {
            DeviceReplay replay = onCpu(FlightRecorderTest.record(seed, 80));
            assertThat(replay.differences()).as("seed %d: %s", seed, replay).isEmpty();
            assertThat(replay.notEnded()).as("seed %d: %s", seed, replay).isZero();
            assertThat(replay.operations()).isEqualTo(80);
            waits += replay.waits();
        }
        assertThat(waits).isGreaterThan(100);
    }

    @Test
    void randomWorkIsRepeatedOnStreams() throws IOException {
        int waits = 0;
        int frontiers = 0;
        for (GpuKind kind : GpuKind.values()) {
            for (long seed = SEED; seed < SEED + 10; seed++) {
                GpuDrivers drivers = GpuDrivers.fake(directory, kind, "");
                for (FlightRecording recording :
                        List.of(FlightRecorderTest.record(seed, 80), HostSignalsTest.record(seed, true))) {
                    DeviceReplay replay = replay(recording, drivers::open, LONG);
                    assertThat(replay.differences())
                            .as("seed %d: %s", seed, replay)
                            .isEmpty();
                    assertThat(replay.notEnded())
                            .as("seed %d: %s", seed, replay)
                            .isZero();
                    waits += replay.waits();
                    frontiers += replay.frontiers();
                }
            }
        }
        assertThat(waits).isGreaterThan(2000);
        assertThat(frontiers).isGreaterThan(500);
    }

    @Test
    void failedOperationFailsItsDependents() throws IOException {
        FlightRecording recording = FlightRecorderTest.record(SEED, 80);
        long[] words = recording.records().words();
        long failed = 0;
        for (int i = 0; i < recording.records().count() && failed == 0; i++) {
            int start = recording.records().start(i);
            if (RecordType.type(words[start]) == RecordType.OVER) {
                words[start + RecordType.HEADER + 1] = StatusCode.DATA_LOSS.number();
                failed = words[start + RecordType.HEADER];
            }
        }
        long first = failed;
        DeviceReplay replay = onCpu(altered(recording));
        assertThat(replay.differences()).as("%s", replay).isNotEmpty().allSatisfy(each -> {
            assertThat(each.operation().number()).isNotEqualTo(first); // the failure is repeated
            assertThat(each.what()).isEqualTo("the status");
            assertThat(each.replayed()).startsWith("DATA_LOSS");
        });
        assertThat(replay.notEnded()).isZero();
    }

    @Test
    void frontierNamingLaterWorkIsADifference() throws IOException {
        int found = 0;
        for (long seed = SEED; seed < SEED + 5; seed++) {
            FlightRecording recording = HostSignalsTest.record(seed, true);
            OperationGraph graph = new OperationGraph(recording);
            RecordedOperation last = graph.operations().stream()
                    .filter(each -> each.epoch() > 0)
                    .max(Comparator.comparingLong(OperationGraph::issueNumber))
                    .orElseThrow();
            long[] words = recording.records().words();
            long altered = 0;
            for (int i = 0; i < recording.records().count() && altered == 0; i++) {
                int start = recording.records().start(i) + RecordType.HEADER;
                if (RecordType.type(words[start - RecordType.HEADER]) == RecordType.OVER) {
                    for (int entry = 0; entry < (int) words[start + 3]; entry++) {
                        long axis = words[start + 5 + 2 * entry];
                        if (axis == last.axis() && axis != words[start + 4]) {
                            words[start + 6 + 2 * entry] = last.epoch();
                            altered = words[start];
                        }
                    }
                }
            }
            long number = altered;
            DeviceReplay replay = onCpu(altered(recording));
            assertThat(replay.differences())
                    .as("seed %d, operation %d: %s", seed, number, replay)
                    .filteredOn(each -> each.operation().number() == number)
                    .hasSize(number == 0 ? 0 : 1)
                    .allSatisfy(each -> assertThat(each.what()).isEqualTo("the frontier"));
            found += number == 0 ? 0 : 1;
        }
        assertThat(found).isPositive();
    }

    @Test
    void endlessWaitIsReported() throws IOException {
        FlightRecording recording = FlightRecorderTest.record(SEED, 40);
        long[] words = recording.records().words();
        int start = IntStream.range(0, recording.records().count())
                .map(recording.records()::start)
                .filter(each -> RecordType.type(words[each]) == RecordType.SUBMITTED)
                .findFirst()
                .orElseThrow();
        words[start + RecordType.HEADER + 8] = 1L << 40; // the first operation's signal has no signaller now
        DeviceReplay replay = onCpu(altered(recording), Duration.ofMillis(100));
        assertThat(replay.notEnded()).as("%s", replay).isPositive();
        assertThat(replay.toString()).contains("operations have not ended");
    }

    private static FlightRecording altered(FlightRecording recording) {
        return new FlightRecording(
                recording.header(), recording.names(), recording.queues(), recording.pools(), recording.records());
    }
}
