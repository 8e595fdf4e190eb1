package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.RecordedCalls.Part;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A recording names the obstacles of waiting work, with or without calls. */
@Timeout(120)
class RecordedProblemsTest {
    private static final long MEMORY = 64 << 10;
    private static final long SEED = Effort.seed(20261128);
    private static final Pattern HELD = Pattern.compile("held by .* with (\\d+) bytes");

    private final RandomWork work = new RandomWork(7, MEMORY);
    private final DeviceQueue queue = work.queues.getFirst();
    private final TimelineSemaphore upload = TimelineSemaphore.create(0);
    private final TimelineSemaphore copied = TimelineSemaphore.create(0);
    private final List<Buffer> buffers = new ArrayList<>();
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now);
        upload.setName("upload-finished");
    }

    @AfterEach
    void close() {
        recorder.close();
        buffers.forEach(Buffer::close);
        work.close();
        upload.close();
        copied.close();
    }

    private List<RecordedProblem> problems() {
        return new Explanation(new OperationGraph(recorder.recording())).problems();
    }

    /** Holds the second of two allocations back for four seconds. */
    private void holdAnAllocation() {
        buffers.add(queue.alloca(null, Fence.at(upload, 1), BufferParams.DEFAULT, MEMORY / 4 * 3, 0));
        work.clock.runUntilIdle();
        buffers.add(queue.alloca(null, Fence.at(copied, 1), BufferParams.DEFAULT, MEMORY / 2, 0));
        work.clock.runUntil(work.clock.now() + 4_000_000_000L);
    }

    @Test
    void anOperationWithoutACallHangsOnTheMissingSignal() {
        queue.barrier(Fence.at(upload, 3), Fence.at(copied, 1), 0);
        work.clock.runUntil(work.clock.now() + 2_000_000_000L);
        queue.barrier(Fence.at(copied, 1), null, 0);
        work.run(30);
        work.clock.runUntil(work.clock.now() + 3_000_000_000L);
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("unsignalled-fence");
            assertThat(each.summary())
                    .contains(
                            "timeline " + upload.id() + " 'upload-finished' at 3",
                            "waiting for the signal: 2 operations");
            assertThat(each.age()).isGreaterThanOrEqualTo(5_000_000_000L);
            assertThat(each.calls()).isEmpty();
            assertThat(each.links()).hasSize(4);
            assertThat(each.links().get(0)).contains("barrier on v0/0");
            assertThat(each.links().get(1)).isEqualTo("timeline " + copied.id() + " at 1");
            assertThat(each.links().get(2)).contains("barrier on v0/0");
            assertThat(each.links().get(3)).isEqualTo("timeline " + upload.id() + " 'upload-finished' at 3");
            assertThat(each.chain()).hasSize(2).allMatch(line -> line.contains(", has waited "));
            assertThat(each.remedy()).startsWith("signal the timeline");
        });
        upload.signal(3);
        work.clock.runUntilIdle();
        assertThat(problems()).isEmpty();
    }

    @Test
    void manyWithTheSameWaitAreASingleProblemWithTheOldestFirst() {
        for (int i = 0; i < 30; i++) {
            queue.barrier(Fence.at(upload, 1), null, 0);
        }
        work.clock.runUntil(work.clock.now() + 1_000);
        queue.barrier(Fence.at(copied, 1), null, 0);
        assertThat(problems()).hasSize(2);
        assertThat(problems().getFirst().summary())
                .contains("'upload-finished' at 1; waiting for the signal: 30 operations");
        assertThat(problems().getFirst().chain()).hasSize(11).last().isEqualTo("and 20 more");
        upload.signal(1);
        copied.signal(1);
    }

    @Test
    void operationsWaitingForEachOtherAreADeadlockWithTheirWaiters() {
        queue.barrier(Fence.at(copied, 1), Fence.at(upload, 1), 0);
        work.clock.runUntil(work.clock.now() + 2_000_000_000L);
        queue.barrier(Fence.at(upload, 1), Fence.at(copied, 1), 0);
        assertThat(problems()).hasSize(1);
        try (TimelineSemaphore behind = TimelineSemaphore.create(0);
                TimelineSemaphore never = TimelineSemaphore.create(0)) {
            queue.barrier(Fence.at(copied, 1), Fence.at(behind, 1), 0);
            queue.barrier(Fence.of(List.of(new Fence.Entry(behind, 1), new Fence.Entry(never, 1))), null, 0);
            work.run(30);
            List<RecordedProblem> all = problems();
            assertThat(all).extracting(RecordedProblem::kind).containsExactly("deadlock", "unsignalled-fence");
            RecordedProblem deadlock = all.getFirst();
            assertThat(deadlock.summary())
                    .isEqualTo("2 operations wait for each other; waiting for the end of the cycle: 2 operations");
            assertThat(deadlock.age()).isGreaterThanOrEqualTo(2_000_000_000L);
            assertThat(deadlock.calls()).isEmpty();
            assertThat(deadlock.links()).hasSize(5);
            assertThat(deadlock.links().get(0))
                    .contains("barrier on v0/0")
                    .isEqualTo(deadlock.links().get(4));
            assertThat(deadlock.links().get(1)).isEqualTo("timeline " + copied.id() + " at 1");
            assertThat(deadlock.links().get(2))
                    .contains("barrier on v0/0")
                    .isNotEqualTo(deadlock.links().get(0));
            assertThat(deadlock.links().get(3)).isEqualTo("timeline " + upload.id() + " 'upload-finished' at 1");
            assertThat(deadlock.chain()).hasSize(4).allMatch(line -> line.contains(", has waited "));
            never.signal(1);
            assertThat(problems()).extracting(RecordedProblem::kind).containsExactly("deadlock");
            upload.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            work.clock.runUntilIdle();
            assertThat(problems()).isEmpty();
        }
    }

    @Test
    void eachOfTwoDeadlocksIsAProblem() {
        try (TimelineSemaphore left = TimelineSemaphore.create(0);
                TimelineSemaphore right = TimelineSemaphore.create(0)) {
            queue.barrier(Fence.at(copied, 1), Fence.at(upload, 1), 0);
            queue.barrier(Fence.at(left, 1), Fence.at(right, 1), 0);
            queue.barrier(Fence.at(upload, 1), Fence.at(copied, 1), 0);
            queue.barrier(Fence.at(right, 1), Fence.at(left, 1), 0);
            assertThat(problems())
                    .hasSize(2)
                    .allMatch(each -> each.summary().equals("2 operations wait for each other"));
            left.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            upload.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            work.clock.runUntilIdle();
        }
    }

    @Test
    void aDeadlockOfManyOperationsIsFoundAndItsLinksCountTheOmittedOperations() {
        int most = 30_000;
        for (int i = 0; i < most; i++) {
            queue.barrier(
                    i == 0 ? Fence.at(upload, 1) : Fence.at(copied, i),
                    i == most - 1 ? Fence.at(upload, 1) : Fence.at(copied, i + 1),
                    0);
        }
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.summary()).isEqualTo("30000 operations wait for each other");
            assertThat(each.links())
                    .hasSize(22)
                    .contains("29990 operations in between")
                    .last()
                    .isEqualTo(each.links().getFirst());
            assertThat(each.chain()).hasSize(11).last().isEqualTo("and 29990 more");
        });
        upload.fail(IreeException.of(StatusCode.ABORTED, "given up"));
        work.clock.runUntilIdle();
        assertThat(problems()).isEmpty();
    }

    @Test
    void aLongWayToAMissingSignalCountsTheOmittedOperations() {
        queue.barrier(Fence.at(upload, 1), Fence.at(copied, 1), 0);
        for (int i = 1; i < 12; i++) {
            queue.barrier(Fence.at(copied, i), Fence.at(copied, i + 1), 0);
        }
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.links()).hasSize(21);
            assertThat(each.links().get(8)).contains("barrier on v0/0");
            assertThat(each.links().get(9)).isEqualTo("timeline " + copied.id() + " at 7");
            assertThat(each.links().get(10)).isEqualTo("2 operations in between");
            assertThat(each.links().get(11)).contains("barrier on v0/0");
            assertThat(each.links().get(12)).isEqualTo("timeline " + copied.id() + " at 4");
            assertThat(each.links().getLast()).isEqualTo("timeline " + upload.id() + " 'upload-finished' at 1");
        });
        upload.signal(1);
    }

    @Test
    void aWaitEndedByTheHostIsNoPartOfACycleThroughALaterValue() {
        try (TimelineSemaphore never = TimelineSemaphore.create(0)) {
            queue.barrier(
                    Fence.of(List.of(new Fence.Entry(copied, 1), new Fence.Entry(never, 1))), Fence.at(upload, 1), 0);
            queue.barrier(Fence.at(upload, 1), Fence.at(copied, 2), 0);
            copied.signal(1);
            assertThat(problems()).singleElement().satisfies(each -> {
                assertThat(each.summary())
                        .isEqualTo(
                                "nobody in the recording signals timeline %d at 1; waiting for the signal: 2 operations"
                                        .formatted(never.id()));
                assertThat(each.links()).hasSize(4);
            });
            never.signal(1);
        }
    }

    @Test
    void aDeadlockFromBeforeTheRecordingIsAtLeastAsOldAsTheRecording() throws IOException {
        recorder.close();
        queue.barrier(Fence.at(copied, 1), Fence.at(upload, 1), 0);
        queue.barrier(Fence.at(upload, 1), Fence.at(copied, 1), 0);
        work.clock.runUntil(work.clock.now() + 9_000_000_000L);
        recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now);
        work.clock.runUntil(work.clock.now() + 2_000_000_000L);
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("deadlock");
            assertThat(each.age()).isEqualTo(2_000_000_000L);
            assertThat(each.chain()).hasSize(2).allMatch(line -> line.contains(", has waited at least 2.000 s for "));
        });
        upload.fail(IreeException.of(StatusCode.ABORTED, "given up"));
    }

    @Test
    void anOperationSignallingALaterValueOfItsOwnWaitHangsOnTheMissingSignal() {
        queue.barrier(Fence.at(upload, 1), Fence.at(upload, 2), 0);
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("unsignalled-fence");
            assertThat(each.summary()).contains("'upload-finished' at 1; waiting for the signal: 1 operation");
        });
        upload.signal(1);
        work.clock.runUntilIdle();
        assertThat(problems()).isEmpty();
    }

    @Test
    void aRequestWaitingForMemoryNamesItsHolders() {
        Fence first = Fence.at(upload, 1);
        buffers.add(queue.alloca(null, first, BufferParams.DEFAULT, MEMORY / 4 * 3, 0));
        work.clock.runUntilIdle();
        assertThat(problems()).isEmpty();
        buffers.add(queue.alloca(null, Fence.at(copied, 1), BufferParams.DEFAULT, MEMORY / 2, 0));
        work.clock.runUntil(work.clock.now() + 4_000_000_000L);
        assertThat(problems()).singleElement().satisfies(each -> {
            assertThat(each.kind()).isEqualTo("memory-shortage");
            assertThat(each.summary())
                    .isEqualTo("waiting for 32768 bytes of pool 'large' of device 'v0', limited to 65536 bytes:"
                            + " 1 operation; memory is held by no program with 49152 bytes in 1 block for 4.000 s");
            assertThat(each.age()).isEqualTo(4_000_000_000L);
            assertThat(each.links()).isEmpty();
            assertThat(each.chain())
                    .singleElement()
                    .asString()
                    .contains("alloca on v0/0", "for 32768 bytes of pool 'large'");
        });
        queue.dealloca(first, null, buffers.getFirst(), 0);
        work.clock.runUntilIdle();
        assertThat(problems()).isEmpty();
    }

    @Test
    void memoryGivenByAnotherDeviceIsNotForTheWaitingRequest() {
        DeviceQueue other = work.devices.getLast().queue(0);
        buffers.add(queue.alloca(null, null, BufferParams.DEFAULT, MEMORY / 4 * 3, 0));
        buffers.add(other.alloca(null, null, BufferParams.DEFAULT, MEMORY / 4, 0));
        work.clock.runUntilIdle();
        buffers.add(queue.alloca(null, null, BufferParams.DEFAULT, MEMORY / 2, 0));
        work.clock.runUntilIdle();
        String before = problems().getFirst().summary();
        buffers.add(other.alloca(null, null, BufferParams.DEFAULT, MEMORY / 2, 0));
        work.clock.runUntil(work.clock.now() + 1);
        assertThat(problems())
                .singleElement()
                .satisfies(each -> assertThat(each.summary().replaceFirst(" for [^ ]* [a-z]*$", ""))
                        .isEqualTo(before.replaceFirst(" for [^ ]* [a-z]*$", ""))
                        .contains("of pool 'large' of device 'v0', limited to 65536 bytes", "with 49152 bytes"));
        queue.dealloca(null, null, buffers.getFirst(), 0);
        work.clock.runUntilIdle();
        assertThat(problems()).isEmpty();
    }

    /** The request of the first allocation has no record: the second one's is not the first one's. */
    @Test
    void withoutARecordOfTheRequestTheHoldersAreOfADeviceWithASingleSetOfPools() {
        for (boolean hasHolder : new boolean[] {true, false}) {
            buffers.add(queue.alloca(null, null, BufferParams.DEFAULT, MEMORY / 4 * 3, 0));
            work.clock.runUntilIdle();
            buffers.add(queue.alloca(null, null, BufferParams.DEFAULT, MEMORY / 2, 0));
            work.clock.runUntilIdle();
            FlightRecording recording = recorder.recording();
            RecordWords records = new RecordWords();
            for (int i = 0; i < recording.records().count(); i++) {
                int type = RecordType.type(recording.records().word(i, 0));
                if (type != RecordType.IN_LINE && (hasHolder || type != RecordType.RESERVED)) {
                    records.add(recording.records().words(), recording.records().start(i));
                }
            }
            OperationGraph graph = new OperationGraph(new FlightRecording(
                    recording.header(), recording.names(), recording.queues(), recording.pools(), records));
            assertThat(new Explanation(graph).problems())
                    .singleElement()
                    .satisfies(each -> assertThat(each.summary())
                            .startsWith(
                                    "waiting for 32768 bytes of memory of device 'v0', limited to 65536 bytes: 1 operation")
                            .contains(
                                    hasHolder
                                            ? "memory is held by no program with 49152 bytes in 1 block"
                                            : "who holds memory is not known"));
            queue.dealloca(null, null, buffers.getFirst(), 0);
            work.clock.runUntilIdle();
            queue.dealloca(null, null, buffers.getLast(), 0);
            work.clock.runUntilIdle();
            buffers.clear();
        }
    }

    /** Of few sizes: requests of both devices are alike. */
    @Test
    void noMoreMemoryIsHeldThanTheLimitOfTheDeviceAllows() {
        int shortages = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            Random random = new Random(seed);
            List<Fence> allocated = new ArrayList<>();
            List<Integer> on = new ArrayList<>(); // the device of each buffer
            for (int i = 0; i < 40; i++) {
                int device = random.nextInt(2);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                allocated.add(Fence.at(timeline, 1));
                on.add(device);
                buffers.add(work.devices
                        .get(device)
                        .queue(0)
                        .alloca(
                                null,
                                allocated.getLast(),
                                BufferParams.DEFAULT,
                                MEMORY / 8 * (1 + random.nextInt(4)),
                                0));
                work.clock.runUntil(work.clock.now() + random.nextInt(20_000));
                for (RecordedProblem each : problems()) {
                    Matcher held = HELD.matcher(each.summary());
                    if (held.find()) {
                        assertThat(Long.parseLong(held.group(1)))
                                .as("seed %d: %s", seed, each.summary())
                                .isLessThanOrEqualTo(MEMORY);
                        shortages++;
                    }
                }
                for (int most = random.nextInt(4) == 0 ? 2 : 0; most > 0 && !allocated.isEmpty(); most--) {
                    int which = random.nextInt(allocated.size());
                    work.devices
                            .get(on.remove(which))
                            .queue(0)
                            .dealloca(allocated.remove(which), null, buffers.remove(which), 0);
                }
            }
            for (int i = 0; i < allocated.size(); i++) {
                work.devices.get(on.get(i)).queue(0).dealloca(allocated.get(i), null, buffers.get(i), 0);
            }
            buffers.clear();
            do { // a request may wait for memory being acquired by a thread of the pools
                work.clock.runUntilIdle();
            } while (!problems().isEmpty());
        }
        assertThat(shortages).isPositive();
    }

    /** The same recording, once as it is, and once with a header that allows for any missing record before the end. */
    @Test
    void anAllocationIsHeldOnlyIfNoRecordOfItsIssueCanBeMissing() {
        holdAnAllocation();
        FlightRecording recording = recorder.recording();
        FlightRecording.Header header = recording.header();
        for (boolean isWhole : new boolean[] {true, false}) {
            OperationGraph graph = new OperationGraph(new FlightRecording(
                    new FlightRecording.Header(
                            header.start(),
                            header.frontierCapacity(),
                            header.next(),
                            isWhole ? 0 : header.next(),
                            0,
                            header.taken()),
                    recording.names(),
                    recording.queues(),
                    recording.pools(),
                    recording.records()));
            Explanation explanation = new Explanation(graph);
            RecordedOperation held = explanation.open().getFirst();
            long[] parts =
                    new RecordedCalls(graph, explanation).call(1, List.of(held)).parts();
            assertThat(held.held).isNotNull();
            assertThat(explanation.problems()).hasSize(isWhole ? 1 : 0);
            assertThat(explanation.explain(held).getFirst())
                    .contains(isWhole ? " and held back for memory, for " : " and not ended, for ");
            assertThat(parts[Part.MEMORY.ordinal()]).isEqualTo(isWhole ? 4_000_000_000L : 0);
            assertThat(parts[Part.UNKNOWN.ordinal()]).isEqualTo(isWhole ? 0 : 4_000_000_000L);
        }
        queue.dealloca(null, null, buffers.getFirst(), 0);
        work.clock.runUntilIdle();
    }

    @Test
    void theHeldTimeOfAnOperationUnderWayIsForMemory() {
        holdAnAllocation();
        queue.dealloca(null, null, buffers.getFirst(), 0);
        OperationGraph graph;
        do {
            work.clock.runUntil(work.clock.now() + 1);
            graph = new OperationGraph(recorder.recording());
        } while (graph.operations().get(1).issued == null);
        RecordedOperation once = graph.operations().get(1);
        assertThat(graph.hasEnded(once)).isEqualTo(Known.NO);
        long[] parts = new RecordedCalls(graph, new Explanation(graph))
                .call(1, List.of(once))
                .parts();
        assertThat(parts[Part.MEMORY.ordinal()]).isGreaterThanOrEqualTo(4_000_000_000L);
        assertThat(parts[Part.WAITING.ordinal()]).isZero();
    }

    /** The records of the allocation are there, but for the issue. */
    @Test
    void theTimeOfAnOperationWithoutTheRecordOfItsIssueIsNotKnown() {
        holdAnAllocation();
        queue.dealloca(null, null, buffers.getFirst(), 0);
        work.clock.runUntilIdle();
        FlightRecording recording = recorder.recording();
        FlightRecording.Header header = recording.header();
        RecordWords records = new RecordWords();
        for (int i = 0; i < recording.records().count(); i++) {
            if (RecordType.type(recording.records().word(i, 0)) != RecordType.ISSUED) {
                records.add(recording.records().words(), recording.records().start(i));
            }
        }
        OperationGraph graph = new OperationGraph(new FlightRecording(
                new FlightRecording.Header(
                        header.start(), header.frontierCapacity(), header.next(), header.next(), 0, header.taken()),
                recording.names(),
                recording.queues(),
                recording.pools(),
                records));
        Explanation explanation = new Explanation(graph);
        RecordedOperation once = graph.operations().get(1);
        long[] parts =
                new RecordedCalls(graph, explanation).call(1, List.of(once)).parts();
        assertThat(once.held).isNotNull();
        assertThat(explanation.explain(once).getFirst()).contains(" not known").doesNotContain("for memory");
        assertThat(parts[Part.MEMORY.ordinal()]).isZero();
        assertThat(parts[Part.UNKNOWN.ordinal()]).isGreaterThanOrEqualTo(4_000_000_000L);
    }

    /** The signal resumes the request of the other device first, which joins its line before this device has memory. */
    @Test
    void aRequestOfTheSameSizeInTheLineOfAnotherDeviceIsNoPlaceInThisLine() {
        DeviceQueue other = work.devices.getLast().queue(0);
        buffers.add(other.alloca(null, null, BufferParams.DEFAULT, MEMORY / 4 * 3, 0));
        work.clock.runUntilIdle();
        buffers.add(other.alloca(Fence.at(upload, 1), null, BufferParams.DEFAULT, MEMORY / 2, 0));
        buffers.add(queue.alloca(Fence.at(upload, 1), null, BufferParams.DEFAULT, MEMORY / 2, 0));
        upload.signal(1);
        work.clock.runUntilIdle();
        other.dealloca(null, null, buffers.getFirst(), 0);
        work.clock.runUntilIdle();
        OperationGraph graph = new OperationGraph(recorder.recording());
        RecordedOperation inLine = graph.operations().get(1);
        RecordedOperation atOnce = graph.operations().get(2);
        assertThat(graph.recording().events().stream()
                        .filter(FlightEvent.InLine.class::isInstance)
                        .map(FlightEvent::sequence))
                .singleElement()
                .satisfies(each -> assertThat(each).isBetween(atOnce.held.sequence(), atOnce.reserved.sequence()));
        assertThat(graph.memory().stoodInLine(inLine)).isTrue();
        assertThat(graph.memory().stoodInLine(atOnce)).isFalse();
    }

    @Test
    void problemsBeyondTheMostAreCounted() throws IOException {
        List<TimelineSemaphore> timelines = new ArrayList<>();
        for (int i = 0; i < 23; i++) {
            timelines.add(TimelineSemaphore.create(0));
            queue.barrier(Fence.at(timelines.getLast(), 1), null, 0);
        }
        OperationGraph graph = new OperationGraph(recorder.recording());
        for (ExportFormat each : List.of(ExportFormat.PROBLEMS, ExportFormat.TRACE)) {
            ByteArrayOutputStream json = new ByteArrayOutputStream();
            each.write(graph, json);
            String text = json.toString(StandardCharsets.UTF_8);
            assertThat(text.split("\"kind\":\"unsignalled-fence\"", -1)).hasSize(1 + 20);
            assertThat(text).contains("\"problemsLeftOut\":3");
        }
        timelines.forEach(each -> each.signal(1));
        timelines.forEach(TimelineSemaphore::close);
    }
}
