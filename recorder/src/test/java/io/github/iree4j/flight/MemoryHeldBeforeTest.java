package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A recording knows the memory reserved before its records. */
@Timeout(60)
class MemoryHeldBeforeTest {
    private static final int MIB = 1 << 20;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
    private final VirtualDevice device = VirtualDevice.builder()
            .id("v")
            .clock(clock)
            .schedulingDomain(domain)
            .memoryLimit(8 * MIB)
            .memoryQuota("model", 4 * MIB)
            .fifoQueues(1)
            .build();
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final List<Buffer> buffers = new ArrayList<>();

    @AfterEach
    void close() {
        buffers.forEach(Buffer::close);
        clock.runUntilIdle();
        device.close();
        timeline.close();
        tracker.close();
    }

    private void allocate(BufferParams params, long bytes) {
        Fence allocated = Fence.at(timeline, buffers.size() + 1);
        buffers.add(device.queue(0).alloca(null, allocated, params, bytes, 0));
        clock.runUntilIdle();
    }

    private void allocate(long bytes) {
        allocate(BufferParams.DEFAULT, bytes);
    }

    private FlightRecorder open(long bytes) throws IOException {
        return FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withBytes(bytes), clock::now);
    }

    private static String shortage(FlightRecording recording) {
        List<RecordedProblem> problems = new Explanation(new OperationGraph(recording)).problems();
        assertThat(problems).hasSize(1);
        return problems.getFirst().summary();
    }

    /** Returns a recording as made by earlier versions. */
    private static FlightRecording withoutHeldMemory(FlightRecording recording) {
        RecordWords records = new RecordWords();
        for (int i = 0; i < recording.records().count(); i++) {
            int type = RecordType.type(recording.records().word(i, 0));
            if (type != RecordType.POOLS_HOLD && type != RecordType.RELEASED_UNSEEN) {
                records.add(recording.records().words(), recording.records().start(i));
            }
        }
        return new FlightRecording(
                recording.header(), recording.names(), recording.queues(), recording.pools(), records);
    }

    /** Returns a recording of version 6 as if some memory of the first pool had been reserved while the recording was taken. */
    private static FlightRecording withMoreHeld(FlightRecording recording, long more) {
        RecordWords records = new RecordWords();
        for (int i = 0; i < recording.records().count(); i++) {
            long[] words = recording.records().words().clone();
            int start = recording.records().start(i);
            int payload = RecordType.HEADER;
            int length = RecordType.words(words[start]);
            if (RecordType.type(words[start]) == RecordType.POOLS_HOLD && words[start + payload + 1] != 0) {
                long[] earlier = new long[length - 1];
                System.arraycopy(words, start, earlier, 0, payload + 2);
                System.arraycopy(words, start + payload + 3, earlier, payload + 2, length - payload - 3);
                earlier[0] = RecordType.header(RecordType.POOLS_HOLD, length - 1);
                earlier[payload + 1] = 1;
                int pools = (int) earlier[payload + 3];
                earlier[payload + 6] += more;
                earlier[payload + 5 + 2 * pools + 2] += more;
                records.add(earlier, 0);
            } else {
                records.add(words, start);
            }
        }
        return new FlightRecording(
                recording.header(), recording.names(), recording.queues(), recording.pools(), records);
    }

    private static String perfetto(FlightRecording recording) throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        new PerfettoExport(new OperationGraph(recording)).write(target);
        return target.toString(StandardCharsets.ISO_8859_1);
    }

    // REC-2: the bytes and the records are of a single moment.
    @Test
    void aShortageNamesTheMemoryReservedBeforeTheRecorderWasOpened(@TempDir Path folder) throws IOException {
        allocate(6 * MIB);
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(4096);
            allocate(4 * MIB);
            FlightRecording recording = recorder.recording();
            assertThat(shortage(recording))
                    .contains("4096 bytes in 1 block")
                    .endsWith(" and 6291456 bytes reserved before the records begin");
            recording.write(folder.resolve("late.iree4j"));
            assertThat(shortage(FlightRecording.read(folder.resolve("late.iree4j"))))
                    .isEqualTo(shortage(recording));
            assertThat(shortage(withoutHeldMemory(recording)))
                    .contains("4096 bytes in 1 block")
                    .endsWith(", perhaps others from before the recording");
        }
    }

    @Test
    void aShortageNamesTheMemoryWithDroppedRecords() throws IOException {
        try (FlightRecorder recorder = open(RecorderOptions.MINIMUM_BYTES)) {
            allocate(6 * MIB);
            while (recorder.statistics().completeFrom() == 0) {
                device.queue(0).barrier(null, null, 0);
                clock.runUntilIdle();
            }
            allocate(4 * MIB);
            assertThat(shortage(recorder.recording()))
                    .endsWith("memory is held by no program with 6291456 bytes reserved before the records begin");
        }
    }

    /** A name is asked for while the recording is taken, after the memory was listed. */
    @Test
    void memoryChangingHandsDuringARecordingIsListedAsOfASingleMoment() throws IOException {
        allocate(6 * MIB);
        TimelineSemaphore never = TimelineSemaphore.create(0);
        boolean[] changes = {false};
        try (FlightRecorder recorder = open(16 * MIB)) {
            never.setName(new Object() {
                @Override
                public String toString() {
                    if (changes[0]) {
                        changes[0] = false;
                        buffers.removeFirst().close();
                        clock.runUntilIdle();
                    }
                    return "never";
                }
            });
            device.queue(0).barrier(Fence.at(never, 1), null, 0);
            allocate(4 * MIB);
            changes[0] = true;
            FlightRecording recording = recorder.recording();
            assertThat(changes[0]).isFalse();
            assertThat(new Explanation(new OperationGraph(recording)).problems())
                    .extracting(RecordedProblem::summary)
                    .anyMatch(each -> each.endsWith(
                            "memory is held by no program with 6291456 bytes reserved before the records begin"));
            OperationGraph after = new OperationGraph(recorder.recording());
            assertThat(after.memory().taken())
                    .isNotEmpty()
                    .allSatisfy(each ->
                            assertThat(HeldMemory.of(after, each.set())).allMatch(held -> held.unrecorded() == 0));
        } finally {
            never.signal(1);
            clock.runUntilIdle();
            never.close();
        }
    }

    @Test
    void memoryReleasedBeforeItsSetWasListedIsNotTakenFromTheListedMemory() {
        RecordedMemory memory = new RecordedMemory(List.of(new RecordedPool(1, "large")));
        memory.read(new FlightEvent.ReleasedUnseen(1, 1, 0, MIB));
        memory.read(new FlightEvent.PoolsHold(2, 2, 1, false, 2, 8 * MIB, List.of(), List.of()));
        memory.read(new FlightEvent.ReleasedUnseen(3, 3, 0, 2 * MIB));
        assertThat(memory.releasedUnseen(1)).isEqualTo(2 * MIB);
    }

    @Test
    void memoryReservedWhileARecordingIsTakenIsNotSaidToBeReservedBefore() throws IOException {
        allocate(6 * MIB);
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(MIB);
            allocate(4 * MIB);
            FlightRecording recording = recorder.recording();
            assertThat(shortage(recording)).endsWith(" and 6291456 bytes reserved before the records begin");
            assertThat(shortage(withMoreHeld(recording, MIB)))
                    .endsWith(" and 7340032 bytes reserved before the records begin or while the recording was taken");
            assertThat(modelLimit(recording)).isEqualTo(2 * MIB);
            assertThat(modelLimit(withMoreHeld(recording, MIB))).isEqualTo(2 * MIB);
        }
        buffers.removeFirst().close();
        clock.runUntilIdle();
        try (FlightRecorder recorder = open(16 * MIB)) { // 5 MiB are held
            buffers.removeFirst().close();
            clock.runUntilIdle();
            allocate(6 * MIB);
            FlightRecording recording = recorder.recording();
            assertThat(shortage(recording)).endsWith(" 4194304 bytes reserved before the records begin");
            assertThat(shortage(withMoreHeld(recording, MIB)))
                    .endsWith(" 5242880 bytes reserved before the records begin or while the recording was taken");
        }
    }

    @Test
    void whereNothingWasHeldAtTheBeginningTheRestWasReservedWhileTheRecordingWasTaken() throws IOException {
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(6 * MIB);
            allocate(4 * MIB);
            assertThat(shortage(withMoreHeld(recorder.recording(), MIB)))
                    .contains("6291456 bytes in 1 block")
                    .endsWith(" and 1048576 bytes reserved while the recording was taken");
        }
    }

    @Test
    void theViewOfRunsHasTheMemoryHeldFromBeforeTheRecords() throws IOException {
        try (FlightRecorder recorder = open(RecorderOptions.MINIMUM_BYTES)) {
            allocate(5 * MIB);
            while (recorder.statistics().completeFrom() == 0) {
                device.queue(0).barrier(null, null, 0);
                clock.runUntilIdle();
            }
            allocate(MIB);
            allocate(MIB);
            buffers.removeLast().close();
            clock.runUntilIdle();
            FlightRecording recording = recorder.recording();
            assertThat(new RunExport(new OperationGraph(recording)).json())
                    .contains("\"heldBefore\":{\"large\":5242880}")
                    .doesNotContain("more bytes", "Memory reserved before");
            assertThat(new RunExport(new OperationGraph(withoutHeldMemory(recording))).json())
                    .contains("\"heldBefore\":{}")
                    .contains("Memory reserved before is not recorded.");
            assertThat(new RunExport(new OperationGraph(withMoreHeld(recording, MIB))).json())
                    .contains("\"heldBefore\":{}")
                    .contains("6291456 more bytes were held when the recording was taken, reserved before the records"
                            + " begin or while the recording was taken.");
        }
    }

    @Test
    void blocksLeftOutByTheViewOfRunsWereNotHeldFromBefore() throws IOException {
        allocate(2 * MIB);
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(MIB);
            allocate(MIB);
            assertThat(new RunExport(new OperationGraph(recorder.recording()), 1).json())
                    .contains("\"heldBefore\":{\"large\":2097152}")
                    .contains("Left out: 1 block of memory");
        }
    }

    @Test
    void memoryWithoutARecordedUseIsNotCalledUnused() throws IOException {
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(MIB);
            OperationGraph graph = new OperationGraph(recorder.recording());
            assertThat(new Explanation(graph)
                            .operation(graph.operations().getFirst().number(), 20))
                    .anyMatch(line -> line.endsWith("(1048576 bytes of pool 'large'): no earlier use is recorded"));
        }
    }

    /** Returns the bytes for the model of the device. */
    private static long modelLimit(FlightRecording recording) {
        return new ModelMemory(new OperationGraph(recording), 100).limit("v");
    }

    @Test
    void theCounterOfAPoolBeginsWithTheMemoryHeldAndCountsItsRelease() throws IOException {
        allocate(6 * MIB);
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(MIB);
            buffers.removeFirst().close();
            clock.runUntilIdle();
            FlightRecording recording = recorder.recording();
            assertThat(counts(recording)).containsExactly(6L * MIB, 7L * MIB, (long) MIB);
            assertThat(perfetto(recording)).contains("memory of pool large").doesNotContain("without earlier memory");
            assertThat(perfetto(withoutHeldMemory(recording))).contains("without earlier memory");
        }
    }

    @Test
    void memoryReservedUnderAnEarlierRecorderIsHeldFromTheBeginningAndReleased() throws IOException {
        try (FlightRecorder _ = open(16 * MIB)) {
            allocate(6 * MIB);
        }
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(MIB);
            buffers.removeFirst().close();
            clock.runUntilIdle();
            assertThat(counts(recorder.recording())).containsExactly(6L * MIB, 7L * MIB, (long) MIB);
        }
    }

    /** Returns the values of the only counter with values. */
    private static List<Long> counts(FlightRecording recording) throws IOException {
        List<Long> all = new ArrayList<>();
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        new PerfettoExport(new OperationGraph(recording)).write(target);
        for (Object each : ExportTest.decode(target.toByteArray()).getOrDefault(1, List.of())) {
            var packet = ExportTest.decode((byte[]) each);
            if (packet.containsKey(11)) {
                var event = ExportTest.decode((byte[]) packet.get(11).getFirst());
                if (event.containsKey(30)) {
                    all.add((Long) event.get(30).getFirst());
                }
            }
        }
        return all;
    }

    /** Of 8 MiB, 4 are free, and 1 of the quota of 4. */
    @Test
    void aRequestHeldBackByAQuotaIsShortOfTheQuotaHeldByItsProgramOnly() throws IOException {
        BufferParams of = BufferParams.DEFAULT;
        BufferParams model = new BufferParams(
                of.memoryType(), of.usage(), of.access(), of.affinity(), of.minimumAlignment(), "model");
        allocate(MIB);
        try (FlightRecorder recorder = open(16 * MIB)) {
            allocate(model, 3 * MIB);
            allocate(model, 2 * MIB);
            assertThat(shortage(recorder.recording()))
                    .startsWith("waiting for 2097152 bytes of pool 'large' of device 'v', limited to 4194304 bytes by"
                            + " the quota of program 'model': 1 operation; memory is held by program 'model' with"
                            + " 3145728 bytes in 1 block for ")
                    .doesNotContain("no program");
            allocate(6 * MIB);
            List<RecordedProblem> both = new Explanation(new OperationGraph(recorder.recording())).problems();
            assertThat(both)
                    .hasSize(2)
                    .anySatisfy(each -> assertThat(each.remedy()).endsWith("or raise the quota of program 'model'"))
                    .anySatisfy(each -> assertThat(each.summary())
                            .contains(
                                    "limited to 8388608 bytes: 1 operation; 4194304 bytes are held: program 'model' with")
                            .contains("no program with 1048576 bytes"));
        }
    }
}
