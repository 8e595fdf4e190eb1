package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.StepKernel;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.Known;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hanging operations on the CPU, each in another place: on the submitter's thread, in a collective, with the host after
 * the device is closed.
 */
@Timeout(300)
class HangsOnTheCpuTest {
    @TempDir
    Path folder;

    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(12, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);

    private Device device() {
        return new LocalBackend().open(DeviceOptions.builder().schedulingDomain(domain));
    }

    private FlightRecorder smallRecorder() throws IOException {
        return FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES));
    }

    /** Submits ending operations until the rings have dropped all earlier records. */
    private static void overwrite(Device device, FlightRecorder recorder) {
        long before = recorder.statistics().recorded();
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            for (long i = 1; recorder.statistics().completeFrom() < before; i++) {
                try (Fence signal = Fence.at(timeline, i)) {
                    device.queue(0).barrier(null, signal, 0);
                }
            }
        }
    }

    private static Set<FlightEvent.Point> named(FlightRecording recording) {
        OperationGraph graph = new OperationGraph(recording);
        return graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == Known.NO)
                .flatMap(each -> each.submitted.signals().stream())
                .collect(Collectors.toSet());
    }

    private static FlightEvent.Point point(TimelineSemaphore timeline) {
        return new FlightEvent.Point(timeline.id(), 1);
    }

    @Test
    void aKernelHangingOnTheSubmittersThreadIsNamedHoweverOld() throws Exception {
        CountDownLatch isIn = new CountDownLatch(1);
        CompletableFuture<Void> leave = new CompletableFuture<>();
        StepKernel hanging = new StepKernel((_, _) -> {
            isIn.countDown();
            leave.join();
        });
        DeviceOptions options = DeviceOptions.builder()
                .schedulingDomain(domain)
                .with(CpuOptions.DEFAULTS.loader(hanging))
                .build();
        try (Device device = new LocalDriverProvider().open("local", options);
                Device other = device();
                Executable kernels = device.createExecutable(
                        new ExecutableParams(StepKernel.FORMAT, MemorySegment.ofArray(new byte[1])));
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence signal = Fence.at(timeline, 1);
                FlightRecorder recorder = smallRecorder()) {
            Thread submitter = Thread.ofPlatform()
                    .start(() -> device.queue(0)
                            .dispatch(
                                    null,
                                    signal,
                                    kernels,
                                    0,
                                    DispatchConfig.of(1, 1, 1),
                                    new int[2],
                                    BindingTable.of(),
                                    0));
            isIn.await();
            overwrite(other, recorder);
            assertThat(named(recorder.recording())).containsExactly(point(timeline));
            leave.complete(null);
            submitter.join();
            timeline.await(1);
            assertThat(named(recorder.recording())).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anOperationHasEndedForTheCallbacksOfItsOwnSignal(boolean heldBack) throws IOException {
        List<FlightRecording> recordings = new ArrayList<>();
        try (Device device = device();
                TimelineSemaphore gate = TimelineSemaphore.create(heldBack ? 0 : 1);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence wait = Fence.at(gate, 1);
                Fence signal = Fence.at(timeline, 1);
                FlightRecorder recorder = smallRecorder()) {
            signal.whenReached(_ -> recordings.add(recorder.recording()));
            device.queue(0).barrier(wait, signal, 0);
            if (heldBack) {
                gate.signal(1);
            }
            signal.await();
        }
        assertThat(recordings).hasSize(1);
        assertThat(new OperationGraph(recordings.getFirst()).operations())
                .isNotEmpty()
                .allMatch(each -> each.openAt < 0);
    }

    @Test
    void aRecordingListsNoMoreOperationsThanItsLimit() throws IOException {
        try (Device device = device();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                Fence wait = Fence.at(gate, 1);
                FlightRecorder recorder = smallRecorder()) {
            for (int i = 0; i <= OpenRecords.MAXIMUM; i++) {
                device.queue(0).barrier(wait, null, 0);
            }
            OperationGraph graph = new OperationGraph(recorder.recording());
            assertThat(graph.operations().stream()
                            .filter(each -> each.openAt >= 0)
                            .count())
                    .isEqualTo(OpenRecords.MAXIMUM);
            gate.signal(1);
        }
    }

    @Test
    void anExecutionHangingInACollectiveIsNamed() throws Exception {
        try (Device device = device();
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                Channel one = device.createChannel(-1, ChannelParams.of("meet", 0, 2));
                Channel two = device.createChannel(-1, ChannelParams.of("meet", 1, 2));
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence done = Fence.at(timeline, 1);
                CommandBuffer commands = device.createCommandBuffer(CommandBuffer.ONE_SHOT, 3, -1, 0);
                FlightRecorder recorder = smallRecorder()) {
            commands.collective(
                    one,
                    Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.U8),
                    0,
                    BufferRef.of(buffer),
                    BufferRef.of(buffer),
                    64);
            commands.finish();
            device.queue(0).execute(null, done, commands, null, 0);
            assertThat(two).isNotNull();
            assertThat(named(recorder.recording())).contains(point(timeline));
        }
    }

    @Test
    void anUncompletedDeferredCallIsNamedAfterItsDeviceIsClosed() throws IOException {
        List<Object> completions = new ArrayList<>();
        try (Device other = device();
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence signal = Fence.at(timeline, 1);
                FlightRecorder recorder = smallRecorder()) {
            Device device = device();
            device.queue(0).deferredHostCall(null, signal, completions::add);
            while (device.queue(0).counters().inFlight() == 0) {
                Thread.onSpinWait();
            }
            device.close();
            overwrite(other, recorder);
            assertThat(signal.isReached()).isFalse();
            assertThat(signal.failure()).isEmpty();
            assertThat(named(recorder.recording())).containsExactly(point(timeline));
        }
    }

    /** Three operations without a recorder, two of them alike, and an operation under an earlier recorder. */
    @Test
    void operationsFromBeforeTheRecordingAreNamedAlikeInEachRecording() throws IOException {
        try (Device device = device();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence wait = Fence.at(gate, 1);
                Fence signal = Fence.at(timeline, 1)) {
            device.queue(0).barrier(wait, null, 0);
            device.queue(0).barrier(wait, null, 0);
            device.queue(0).barrier(wait, signal, 0);
            try (FlightRecorder earlier = smallRecorder()) {
                device.queue(0).barrier(wait, null, 0);
                assertThat(submissions(earlier.recording()))
                        .hasSize(4)
                        .satisfies(lines -> assertThat(lines.getLast()).contains(" on local/0: submitted at "));
            }
            try (FlightRecorder recorder = smallRecorder()) {
                List<String> lines = submissions(recorder.recording());
                assertThat(lines)
                        .hasSize(4)
                        .doesNotHaveDuplicates()
                        .allMatch(line -> line.matches(
                                "#\\d+ barrier on local/0: submitted before the recording began and not ended,"
                                        + " for more than"));
                assertThat(submissions(recorder.recording())).isEqualTo(lines);
                device.queue(0).barrier(wait, null, 0);
                assertThat(submissions(recorder.recording())).hasSize(5).containsAll(lines);
                gate.signal(1);
                timeline.await(1);
                assertThat(submissions(recorder.recording())).isEmpty();
            }
        }
    }

    /** Returns the first lines about the open operations, without ages. */
    private static List<String> submissions(FlightRecording recording) {
        OperationGraph graph = new OperationGraph(recording);
        Explanation explanation = new Explanation(graph);
        return graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == Known.NO)
                .map(each -> explanation.explain(each).getFirst())
                .map(line -> line.replaceFirst("(?<= for more than) .*", ""))
                .toList();
    }

    /** Everything ends, some of it after the last record with room in the file. */
    @Test
    void workEndedAfterAFileWasFullIsNotNamed() throws Exception {
        Path file = folder.resolve("full.iree4j");
        try (Device device = device();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence wait = Fence.at(gate, 1);
                Fence signal = Fence.at(timeline, 1)) {
            FlightRecorder recorder =
                    FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withFile(file, RecorderOptions.MINIMUM_BYTES));
            device.queue(0).barrier(wait, signal, 0);
            while (recorder.statistics().fileDropped() == 0) {
                device.queue(0).barrier(null, null, 0);
            }
            gate.signal(1);
            timeline.await(1);
            recorder.close();
        }
        FlightRecording recording = FlightRecording.read(file);
        assertThat(recording.header().dropped()).isPositive();
        assertThat(named(recording)).isEmpty();
    }

    /** The first is submitted before the file is full, the others after, to queues and timelines unknown to the file by then. */
    @Test
    void workHangingWhenAFileIsFullIsNamedWhetherSubmittedBeforeOrAfter() throws Exception {
        Path file = folder.resolve("full.iree4j");
        try (Device device = device();
                Device later = device();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence wait = Fence.at(gate, 1)) {
            FlightRecorder recorder =
                    FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withFile(file, RecorderOptions.MINIMUM_BYTES));
            Set<FlightEvent.Point> hanging = new HashSet<>();
            for (int i = 1; i <= 20_000; i++) {
                try (Fence signal = Fence.at(timeline, i)) {
                    (i == 1 ? device : later).queue(0).barrier(wait, signal, 0);
                }
                hanging.add(new FlightEvent.Point(timeline.id(), i));
                while (recorder.statistics().fileDropped() == 0) {
                    device.queue(0).barrier(null, null, 0);
                }
            }
            gate.setName("named when the file was full");
            recorder.close();
            FlightRecording recording = FlightRecording.read(file);
            assertThat(recording.header().dropped()).isPositive();
            assertThat(named(recording)).isEqualTo(hanging);
            assertThat(Files.size(file))
                    .isBetween(RecorderOptions.MINIMUM_BYTES, RecorderOptions.MINIMUM_BYTES + (32L << 20));
            assertThat(submissions(recording).getLast())
                    .contains("barrier on local/0: submitted at ", "and not ended, for ");
            assertThat(new Explanation(new OperationGraph(recording)).problems())
                    .singleElement()
                    .satisfies(each -> assertThat(each.summary())
                            .contains("'named when the file was full' at 1", "20000 operations"));
            gate.signal(1); // the queues may signal the values of a timeline in any order, so the timeline may fail
        }
    }

    /** Everything has ended; a byte in the middle of the file is another. */
    @Test
    void workPossiblyEndedBehindTheDamageOfAFileIsNotNamed() throws IOException {
        Path file = folder.resolve("damaged.iree4j");
        try (Device device = device();
                TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withFile(file, 64 << 20));
            for (int i = 1; recorder.statistics().fileBytes() < 4 << 20; i++) {
                try (Fence signal = Fence.at(timeline, i)) {
                    device.queue(0).barrier(null, signal, 0);
                }
            }
            recorder.close();
        }
        byte[] all = Files.readAllBytes(file);
        int cut = 0;
        for (int at = all.length / 2; at < all.length && cut == 0; at += 64 << 10) {
            byte[] damaged = all.clone();
            damaged[at]++;
            Files.write(file, damaged);
            FlightRecording salvaged = FlightRecording.salvage(file);
            OperationGraph graph = new OperationGraph(salvaged);
            assertThat(salvaged.damage())
                    .contains("another checksum", "at byte ", " of " + all.length + ", so only the ")
                    .endsWith(" records before the damage are read");
            assertThat(new Explanation(graph).summary(100))
                    .contains(salvaged.damage())
                    .doesNotContain("not ended:");
            assertThat(named(salvaged)).isEmpty();
            cut = (int) graph.operations().stream()
                    .filter(each -> graph.hasEnded(each) == Known.UNKNOWN)
                    .count();
        }
        assertThat(cut).as("operations cut by the damage").isPositive();
    }

    @Test
    void aSalvagedFileWithHangingOperationsIsWrittenAndReadAgain() throws IOException {
        Path file = folder.resolve("cut.iree4j");
        try (Device device = device();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence wait = Fence.at(gate, 1)) {
            FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withFile(file, 64 << 20));
            for (int i = 1; i <= 200; i++) {
                try (Fence signal = Fence.at(timeline, i)) {
                    device.queue(0).barrier(wait, signal, 0);
                }
            }
            recorder.close();
            gate.signal(1);
        }
        byte[] all = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(all, all.length - 4));
        FlightRecording salvaged = FlightRecording.salvage(file);
        assertThat(salvaged.header().dropped()).as("the end").isEqualTo(1);
        assertThat(named(salvaged)).hasSize(200);
        salvaged.write(file);
        assertThat(FlightRecording.read(file).header()).isEqualTo(salvaged.header());
    }
}
