package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HostCallCompletion;
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
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of timelines and messages of failures: a service may have a new text for each request. */
class RecordedTextsTest {
    private static final int MANY = 20_000;

    @TempDir
    Path folder;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private String failure = ""; // of each operation; empty for none
    private VirtualDevice device;
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        VirtualScript script = new VirtualScript() {
            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                return failure.isEmpty() ? null : IreeException.of(StatusCode.DATA_LOSS, failure);
            }
        };
        device = VirtualDevice.builder()
                .clock(clock)
                .script(script)
                .schedulingDomain(domain)
                .fifoQueues(1)
                .build();
        recorder = FlightRecorder.open(
                domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES), clock::now);
    }

    @AfterEach
    void close() {
        recorder.close();
        device.close();
        tracker.close();
    }

    /** Runs an operation with a signal of a named timeline. */
    private void run(Object name) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence signal = Fence.at(timeline, 1)) {
            timeline.setName(name);
            device.queue(0).barrier(null, signal, 0);
            clock.runUntilIdle();
        }
    }

    private void runInACall(Object name) {
        MemoryHolder call = new MemoryHolder("module.add", new OperationsUnderWay());
        MemoryHolder before = call.enter();
        try {
            run(name);
        } finally {
            call.leave(before);
        }
    }

    private static <T extends FlightEvent> List<T> events(FlightRecording recording, Class<T> kind) {
        return recording.events().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    private static List<String> names(FlightRecording recording) {
        return events(recording, FlightEvent.NamedTimeline.class).stream()
                .map(FlightEvent.NamedTimeline::name)
                .toList();
    }

    private static List<String> messages(FlightRecording recording) {
        return events(recording, FlightEvent.Over.class).stream()
                .map(FlightEvent.Over::message)
                .toList();
    }

    private FlightRecording reread() throws IOException {
        Path file = folder.resolve("texts.iree4j");
        FlightRecording recording = recorder.recording();
        recording.write(file);
        FlightRecording read = FlightRecording.read(file);
        assertThat(read.events()).isEqualTo(recording.events());
        return read;
    }

    @Test
    void anOpenRecorderKeepsTheNameOfANewTimelineHoweverManyCameBefore() throws IOException {
        for (int i = 0; i < MANY; i++) {
            run("request " + i);
        }
        assertThat(names(reread())).last().isEqualTo("request " + (MANY - 1));
        assertThat(names(recorder.recording())).allMatch(each -> each.startsWith("request "));
    }

    @Test
    void anOpenRecorderKeepsTheMessageOfANewFailureHoweverManyCameBefore() throws IOException {
        for (int i = 0; i < MANY; i++) {
            failure = "page " + i + " is damaged";
            run("");
        }
        assertThat(messages(reread())).last().isEqualTo("page " + (MANY - 1) + " is damaged");
        assertThat(messages(recorder.recording())).allMatch(each -> each.endsWith(" is damaged"));
    }

    @Test
    void aHangingOperationHasTheNameOfItsTimelineHoweverManyCameBefore() throws IOException {
        for (int i = 0; i < MANY; i++) {
            run("request " + i);
        }
        try (TimelineSemaphore upload = TimelineSemaphore.create(0);
                Fence wait = Fence.at(upload, 1)) {
            device.queue(0).barrier(wait, null, 0);
            upload.setName("named after the submission");
            assertThat(new Explanation(new OperationGraph(reread())).problems())
                    .singleElement()
                    .satisfies(each -> assertThat(each.summary()).contains("'named after the submission' at 1"));
            upload.signal(1);
        }
    }

    @Test
    void theMessageOfALostDeviceIsKeptHoweverManyFailuresCameBefore() throws IOException {
        for (int i = 0; i < MANY; i++) {
            failure = "page " + i + " is damaged";
            run("");
        }
        device.lose(IreeException.of(StatusCode.UNAVAILABLE, "device 3 is gone"));
        assertThat(events(reread(), FlightEvent.Lost.class))
                .singleElement()
                .satisfies(each -> assertThat(each.message()).isEqualTo("device 3 is gone"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "seven b", "eight by", "nine byte", "für 帽子 \ud83d\ude00", "a line\nand \0 others"})
    void aTextIsReadAsRecorded(String text) throws IOException {
        failure = text;
        run(text);
        FlightRecording read = reread();
        assertThat(names(read)).containsExactly(text);
        assertThat(messages(read)).containsExactly(text);
    }

    @Test
    void anOperationWithoutWaitsInACallHasTheNameGivenToItsTimeline() throws IOException {
        runInACall("answer-ready");
        assertThat(names(reread())).containsExactly("answer-ready");
    }

    @Test
    void theTextOfANameMadeUpIsNotBuiltForAnOperationWithoutWaitsInACall() throws IOException {
        runInACall(new Object() {
            @Override
            public String toString() {
                throw new AssertionError("the text was built");
            }
        });
        FlightRecording recording = reread();
        assertThat(names(recording)).isEmpty();
        assertThat(messages(recording)).containsExactly("");
    }

    @Test
    void aLongTextIsCutOffBetweenCharacters() throws IOException {
        String emoji = "\ud83d\ude00";
        failure = "x" + emoji.repeat(9000);
        run(emoji.repeat(9000));
        FlightRecording read = reread();
        assertThat(names(read)).containsExactly(emoji.repeat(150));
        assertThat(messages(read)).containsExactly("x" + emoji.repeat(149));
    }

    @ParameterizedTest
    @ValueSource(longs = {17, -1, Long.MAX_VALUE, Long.MIN_VALUE})
    void aTextLongerThanItsRecordIsDamage(long bytes) {
        run("two words here.!");
        FlightRecording recording = recorder.recording();
        RecordWords records = recording.records();
        for (int i = 0; i < records.count(); i++) {
            if (RecordType.type(records.word(i, 0)) == RecordType.TIMELINE) {
                records.words()[records.start(i) + RecordType.HEADER + 1] = bytes;
            }
        }
        assertThatThrownBy(() -> new FlightRecording(
                        recording.header(), recording.names(), recording.queues(), recording.pools(), records))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS))
                .hasMessageContaining("a text of " + bytes + " bytes and not as many words");
    }

    /** In such a file the texts are among the names. */
    @Test
    void aFileOfVersion4HasItsTextsAlsoWhenWrittenAgain() throws Exception {
        Path old = Path.of(Objects.requireNonNull(RecordedTextsTest.class.getResource("/version-4.iree4j"))
                .toURI());
        assertThat(Files.readAllBytes(old)[8]).isEqualTo((byte) 4);
        Path again = folder.resolve("again.iree4j");
        FlightRecording.read(old).write(again);
        for (FlightRecording each : List.of(FlightRecording.read(old), FlightRecording.read(again))) {
            assertThat(names(each).stream().distinct())
                    .containsExactly("upload-finished", "antwort-für-帽子", "never-signalled");
            assertThat(messages(each)).containsExactly("", "disk 7 returned other bytes", "device 3 is gone");
            assertThat(events(each, FlightEvent.Lost.class))
                    .extracting(FlightEvent.Lost::message)
                    .containsExactly("device 3 is gone");
        }
    }

    @Test
    void theKindsOfOperationsKeepTheirNamesAfterAllOthersAreTaken() {
        for (int i = 0; i < MANY; i++) {
            MemoryHolder call = new MemoryHolder("module.f" + i, new OperationsUnderWay());
            MemoryHolder before = call.enter();
            device.queue(0).barrier(null, null, 0);
            call.leave(before);
            clock.runUntilIdle();
        }
        List<String> kinds = submitAll();
        assertThat(recorder.recording().events().stream()
                        .filter(FlightEvent.Submitted.class::isInstance)
                        .map(each -> ((FlightEvent.Submitted) each).name())
                        .toList())
                .endsWith(kinds.toArray(String[]::new));
    }

    /** Submits an operation of each kind found on a queue without programs and files; returns the kinds. */
    private List<String> submitAll() {
        DeviceQueue queue = device.queue(0);
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        Fence one = Fence.at(timeline, 1);
        Fence two = Fence.at(timeline, 2);
        Buffer buffer = queue.alloca(null, one, BufferParams.DEFAULT, 64, 0);
        queue.fill(one, two, buffer, 0, 64, 7, 1, 0);
        queue.update(two, Fence.at(timeline, 3), MemorySegment.ofArray(new byte[4]), buffer, 0, 0);
        queue.copy(two, Fence.at(timeline, 4), buffer, 0, buffer, 32, 16, 0);
        queue.hostCall(two, Fence.at(timeline, 5), () -> {}, 0);
        queue.deferredHostCall(two, Fence.at(timeline, 6), HostCallCompletion::complete);
        queue.dealloca(two, Fence.at(timeline, 7), buffer, 0);
        clock.runUntilIdle();
        return List.of("alloca", "fill", "update", "copy", "host call", "deferred host call", "dealloca");
    }
}
