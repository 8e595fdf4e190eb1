package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightEvent.Decided;
import io.github.iree4j.flight.FlightEvent.Decision;
import io.github.iree4j.flight.FlightEvent.Over;
import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.FlightEvent.Submitted;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecorderTest {
    private static final long SEED = Effort.seed(20261123);

    @TempDir
    Path folder;

    static FlightRecording record(long seed, int operations) throws IOException {
        try (RandomWork work = new RandomWork(seed, 64 << 10);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
            work.run(operations);
            return recorder.recording();
        }
    }

    @Test
    void recordedFrontiersMatchTheFences() throws IOException {
        for (long seed = SEED; seed < SEED + 40; seed++) {
            try (RandomWork work = new RandomWork(seed, 64 << 10);
                    FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
                work.run(14); // timelines retain their last 16 signals
                FlightRecording recording = recorder.recording();
                Map<Long, RecordedFrontier> own = new HashMap<>();
                Map<Point, Long> by = new HashMap<>();
                for (FlightEvent each : recording.events()) {
                    if (each instanceof Submitted submitted) {
                        submitted.signals().forEach(point -> by.put(point, submitted.operation()));
                    } else if (each instanceof Over over) {
                        own.put(over.operation(), over.frontier());
                    }
                }
                int compared = 0;
                for (Map.Entry<Point, Frontier> each : work.signalled.entrySet()) {
                    RecordedFrontier recorded = own.get(by.get(each.getKey()));
                    if (recorded != null && each.getValue().size() > 0) {
                        assertThat(recorded.entries())
                                .as("seed %d, %s", seed, each.getKey())
                                .isEqualTo(RecordedFrontier.of(each.getValue()).entries());
                        compared++;
                    }
                }
                assertThat(compared).as("seed %d", seed).isGreaterThan(5);
            }
        }
    }

    @Test
    void recordedDecisionsMatchTheCounters() throws IOException {
        for (long seed = SEED; seed < SEED + 40; seed++) {
            try (RandomWork work = new RandomWork(seed, 64 << 10);
                    FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
                work.run(100);
                Map<WaitDecision, Long> counted = new EnumMap<>(WaitDecision.class);
                for (DeviceQueue queue : work.queues) {
                    QueueCounters counters = queue.counters();
                    counted.merge(WaitDecision.REACHED, counters.reached(), Long::sum);
                    counted.merge(WaitDecision.ELIDED_FIFO, counters.elidedFifo(), Long::sum);
                    counted.merge(WaitDecision.ELIDED_FRONTIER, counters.elidedFrontier(), Long::sum);
                    counted.merge(WaitDecision.DEVICE_WAIT, counters.deviceWaits(), Long::sum);
                    counted.merge(WaitDecision.COVERED, counters.covered(), Long::sum);
                    counted.merge(WaitDecision.DEFERRED_UNKNOWN, counters.deferred(), Long::sum);
                }
                Map<WaitDecision, Long> recorded = new EnumMap<>(WaitDecision.class);
                counted.keySet().forEach(decision -> recorded.put(decision, 0L));
                List<Long> decided = new ArrayList<>(); // each is counted once
                for (FlightEvent each : recorder.recording().events()) {
                    if (each instanceof Decided event && !decided.contains(event.operation())) {
                        decided.add(event.operation());
                        for (Decision decision : event.decisions()) {
                            recorded.merge(
                                    decision.decision() == WaitDecision.DEFERRED_UNREACHED
                                            ? WaitDecision.DEFERRED_UNKNOWN
                                            : decision.decision(),
                                    1L,
                                    Long::sum);
                        }
                    }
                }
                assertThat(recorded).as("seed %d", seed).isEqualTo(counted);
            }
        }
    }

    /** Returns the records without the memory held when the recording was taken. */
    private static List<FlightEvent> numbered(FlightRecording recording) {
        return recording.events().stream()
                .filter(each -> !(each instanceof FlightEvent.PoolsHold pools && pools.taken()))
                .toList();
    }

    @Test
    void fileIsReadAsRecorded() throws IOException {
        FlightRecording recording = record(SEED, 200);
        Path file = folder.resolve("a.iree4j");
        recording.write(file);
        FlightRecording read = FlightRecording.read(file);
        assertThat(read.events()).isEqualTo(recording.events());
        assertThat(read.queues()).isEqualTo(recording.queues());
        assertThat(read.pools()).isEqualTo(recording.pools());
        assertThat(read.header()).isEqualTo(recording.header());
        assertThat(Files.readAllBytes(file)).isEqualTo(recording.toBytes());
    }

    @Test
    void filesOfEarlierVersionsAreReadAndOfUnknownVersionsRefused() throws IOException {
        FlightRecording recording = record(SEED, 40);
        byte[] file = recording.toBytes();
        Path path = folder.resolve("v.iree4j");
        for (byte version : new byte[] {1, 2, 3, 4, 5, 6}) {
            file[8] = version;
            Files.write(path, file);
            assertThat(FlightRecording.read(path).events()).isEqualTo(recording.events());
        }
        for (byte version : new byte[] {0, 8, -1}) {
            file[8] = version;
            Files.write(path, file);
            assertThatThrownBy(() -> FlightRecording.read(path))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                    .hasMessageContaining("versions 1 to 7");
        }
    }

    /** Files up to version 3 have none. */
    @Test
    void aFileWithoutTheTimeOfItsEndWasTakenAtItsLastRecord() throws IOException {
        FlightRecording recording = record(SEED, 40);
        ByteBuffer file = ByteBuffer.wrap(recording.toBytes()).order(ByteOrder.LITTLE_ENDIAN);
        int end = file.limit() - RecordingFile.CHUNK_HEADER_BYTES - 4 * Long.BYTES;
        file.limit(file.limit() - Long.BYTES);
        CRC32C checksum = new CRC32C();
        checksum.update(file.slice(end + RecordingFile.CHUNK_HEADER_BYTES, 3 * Long.BYTES));
        file.putInt(end + 4, 3 * Long.BYTES).putInt(end + 8, (int) checksum.getValue());
        Path path = folder.resolve("w.iree4j");
        Files.write(path, Arrays.copyOf(file.array(), file.limit()));
        FlightRecording read = FlightRecording.read(path);
        long last =
                recording.events().stream().mapToLong(FlightEvent::time).max().orElseThrow();
        assertThat(read.header().taken()).isEqualTo(last);
        assertThat(recording.header().taken()).isGreaterThanOrEqualTo(last);
        assertThat(read.header().next()).isEqualTo(recording.header().next());
    }

    @Test
    void fileWrittenMeanwhileHasEverything() throws IOException {
        Path file = folder.resolve("b.iree4j");
        FlightRecording ring;
        try (RandomWork work = new RandomWork(SEED, 64 << 10)) {
            FlightRecorder recorder = FlightRecorder.open(
                    work.domain, RecorderOptions.DEFAULTS.withBytes(1 << 20).withFile(file, 64 << 20));
            work.run(300);
            ring = recorder.recording();
            recorder.close();
            recorder.close();
            assertThat(recorder.statistics().fileBytes()).isEqualTo(Files.size(file));
            assertThat(recorder.statistics().fileDropped()).isZero();
        }
        FlightRecording read = FlightRecording.read(file);
        assertThat(numbered(read).subList(0, numbered(ring).size())).isEqualTo(numbered(ring));
        assertThat(read.header().dropped()).isZero();
    }

    @Test
    void fullFileKeepsTheBeginningAndCountsTheRest() throws IOException {
        Path file = folder.resolve("c.iree4j");
        long recorded;
        try (RandomWork work = new RandomWork(SEED, 64 << 10)) {
            FlightRecorder recorder = FlightRecorder.open(
                    work.domain,
                    new RecorderOptions(RecorderOptions.MAXIMUM_BYTES >> 4, file, RecorderOptions.MINIMUM_BYTES, 0));
            work.run(6000);
            recorder.close();
            recorded = recorder.statistics().recorded();
        }
        FlightRecording read = FlightRecording.read(file);
        assertThat(Files.size(file))
                .as("the limit, and the memory held at the end")
                .isLessThanOrEqualTo(RecorderOptions.MINIMUM_BYTES + 1024);
        assertThat(read.header().dropped()).isPositive();
        assertThat(numbered(read).size() + read.header().dropped()).isEqualTo(recorded);
        assertThat(read.events().getFirst().sequence()).isZero();
    }

    @Test
    void fullRingDropsTheOldestAndNamesTheBeginOfCompleteness() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                FlightRecorder recorder = FlightRecorder.open(
                        work.domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES))) {
            work.run(6000);
            FlightRecording recording = recorder.recording();
            long from = recording.header().completeFrom();
            assertThat(from).isPositive().isLessThan(recording.header().next());
            List<Long> complete = numbered(recording).stream()
                    .map(FlightEvent::sequence)
                    .filter(number -> number >= from)
                    .toList();
            assertThat(complete).hasSize((int) (recording.header().next() - from));
        }
    }

    @Test
    // REC-1: the records of a cut of the sequence are whole in the rings.
    void returningReadersMissNothing() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
            List<FlightEvent> pieces = new ArrayList<>();
            long next = 0;
            for (int i = 0; i < 10; i++) {
                work.run(10);
                FlightRecording piece = recorder.since(next);
                next = piece.header().next();
                pieces.addAll(numbered(piece));
            }
            assertThat(pieces).isEqualTo(numbered(recorder.recording()));
        }
    }

    @Test
    void aPageIsCompleteFromItsBeginning() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
            work.run(10);
            long end = recorder.recording().header().next();
            for (long each = 0; each < end; each += 7) {
                long from = each;
                FlightRecording page = recorder.since(from, 20);
                assertThat(page.header().completeFrom()).isEqualTo(from);
                assertThat(new Explanation(new OperationGraph(page)).summary(100))
                        .anyMatch(line ->
                                line.startsWith("records before number " + from + " are incomplete") || from == 0);
            }
            assertThat(recorder.since(end + 5).header().completeFrom())
                    .as("there are no records yet")
                    .isLessThanOrEqualTo(recorder.statistics().recorded());
        }
    }

    @Test
    void domainHasASingleRecorder() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10)) {
            try (FlightRecorder first = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
                assertThatThrownBy(() -> FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS))
                        .isInstanceOfSatisfying(
                                IreeException.class,
                                e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
                work.run(5);
                assertThat(first.recording().events()).isNotEmpty();
            }
            try (FlightRecorder second = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
                work.run(5);
                assertThat(second.recording().events()).isNotEmpty();
            }
        }
    }

    @Test
    void aClosedRecorderHasTheWorkOpenAtItsClose() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(3, 0), FrontierTracker.create(), 12);
        try (TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore done = TimelineSemaphore.create(0);
                VirtualDevice device = VirtualDevice.builder()
                        .clock(clock)
                        .schedulingDomain(domain)
                        .fifoQueues(1)
                        .build()) {
            FlightRecorder closed = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
            device.queue(0).barrier(Fence.at(gate, 1), Fence.at(done, 1), 0);
            clock.runUntil(500);
            closed.close();
            List<String> then = new Explanation(new OperationGraph(closed.recording())).summary(100);
            gate.signal(1);
            clock.runUntilIdle();
            clock.runUntil(5_000_000_000L);
            try (FlightRecorder _ = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                device.queue(0).barrier(Fence.at(done, 7), null, 0);
                clock.runUntil(6_000_000_000L);
                assertThat(new Explanation(new OperationGraph(closed.recording())).summary(100))
                        .isEqualTo(then);
            }
            done.signal(7);
            clock.runUntilIdle();
        }
    }

    @Test
    void unopenableRecorderLeavesTheFileOfTheOther() throws IOException {
        Path file = folder.resolve("e.iree4j");
        RecorderOptions options = RecorderOptions.DEFAULTS.withFile(file, 64 << 20);
        try (RandomWork work = new RandomWork(SEED, 64 << 10)) {
            FlightRecorder first = FlightRecorder.open(work.domain, options);
            work.run(50);
            assertThatThrownBy(() -> FlightRecorder.open(work.domain, options)).isInstanceOf(IreeException.class);
            work.run(50);
            first.close();
            FlightRecording all = FlightRecording.read(file);
            assertThat(numbered(all)).isEqualTo(numbered(first.recording()));
            assertThatThrownBy(() -> FlightRecorder.open(
                            work.domain, RecorderOptions.DEFAULTS.withFile(folder.resolve("none/f.iree4j"), 64 << 20)))
                    .isInstanceOf(IOException.class);
            FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS).close(); // it is free
        }
    }

    @Test
    void fileWithoutRoomHasABeginningAndNothingAfterAGap() throws IOException {
        Path file = folder.resolve("f.iree4j");
        try (RandomWork work = new RandomWork(SEED, 64 << 10)) {
            FlightRecorder recorder = FlightRecorder.open(
                    work.domain,
                    new RecorderOptions(RecorderOptions.MINIMUM_BYTES, file, RecorderOptions.MINIMUM_BYTES, 0));
            for (int i = 0; i < 60; i++) {
                work.run(100);
            }
            recorder.close();
        }
        FlightRecording read = FlightRecording.read(file);
        long from = read.header().completeFrom();
        List<Long> complete = read.events().stream()
                .map(FlightEvent::sequence)
                .filter(number -> number >= from && number < read.header().next()) // without the open operations
                .toList();
        assertThat(complete).isNotEmpty();
        assertThat(complete.getLast() - complete.getFirst()).isEqualTo(complete.size() - 1L);
    }

    @Test
    void operationTakesAsManyBytesAsTheLimitsSay() throws IOException {
        FlightRecording recording = record(SEED, 2000);
        long bytes = (long) recording.records().size() * Long.BYTES / 2000;
        System.out.printf("bytes of an operation with memory, of random work: %d%n", bytes);
        assertThat(bytes).isBetween(RecorderOptions.OPERATION_BYTES / 2, RecorderOptions.OPERATION_BYTES * 2);
    }

    @Test
    void theMemoryHeldAtTheEndIsNoRecordOfAFileWithoutItsLastChunk() throws IOException {
        FlightRecording recording = record(SEED, 8);
        byte[] whole = recording.toBytes();
        Path file = folder.resolve("e.iree4j");
        Files.write(file, Arrays.copyOf(whole, whole.length - 1));
        FlightRecording read = FlightRecording.salvage(file);
        assertThat(read.events()).hasSameSizeAs(recording.events());
        assertThat(read.header().next()).isEqualTo(recording.header().next());
    }

    @Test
    // Bit by bit: only the header is outside of the checksums.
    void damageInAnyByteGetsAStatus() throws IOException {
        byte[] whole = record(SEED, 8).toBytes();
        Path file = folder.resolve("g.iree4j");
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << (at + 4) % 8); // not between versions
            Files.write(file, damaged);
            assertThatThrownBy(() -> FlightRecording.read(file))
                    .as("byte %d", at)
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining(file.toString());
        }
    }

    @Test
    void damagedFilesGetAStatus() throws IOException {
        byte[] whole = record(SEED, 40).toBytes();
        Random random = new Random(SEED);
        Path file = folder.resolve("d.iree4j");
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = Arrays.copyOf(whole, random.nextInt(3) == 0 ? random.nextInt(whole.length) : whole.length);
            boolean cut = damaged.length < whole.length;
            for (int j = random.nextInt(cut ? 2 : 4) + (cut ? 0 : 1); j > 0 && damaged.length > 0; j--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 + random.nextInt(255));
            }
            Files.write(file, damaged);
            if (Arrays.equals(damaged, whole)) {
                continue;
            }
            try {
                FlightRecording.read(file);
                assertThat(damaged).isEqualTo(whole);
            } catch (IreeException e) {
                assertThat(e.code()).isIn(StatusCode.DATA_LOSS, StatusCode.INVALID_ARGUMENT, StatusCode.UNIMPLEMENTED);
                assertThat(e.getMessage()).contains(file.toString());
            }
            try {
                assertThat(FlightRecording.salvage(file).events())
                        .allSatisfy(event -> assertThat(event.sequence()).isNotNegative());
            } catch (IreeException e) {
                assertThat(e.code()).isIn(StatusCode.DATA_LOSS, StatusCode.INVALID_ARGUMENT, StatusCode.UNIMPLEMENTED);
            }
        }
    }

    /** A recording of megabytes is not lost with a single byte. */
    @Test
    void recordsBeforeADamageAreKept() throws IOException {
        FlightRecording recording = record(SEED, 4000);
        byte[] damaged = recording.toBytes();
        assertThat(damaged.length).as("several chunks").isGreaterThan(600 << 10);
        damaged[damaged.length - (100 << 10)] ^= 1;
        Path file = Files.write(folder.resolve("damaged.iree4j"), damaged);
        int kept = FlightRecording.salvage(file).events().size();
        assertThat(kept)
                .isBetween(recording.events().size() / 3, recording.events().size() - 1);
    }
}
