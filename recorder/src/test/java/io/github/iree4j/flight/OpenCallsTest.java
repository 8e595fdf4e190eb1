package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.Known;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A recording names the calls in progress, of any age and with or without submitted operations. */
@Timeout(120)
class OpenCallsTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    @TempDir
    Path folder;

    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(14, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    private IreeRuntime runtime;
    private Program program;
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        runtime = IreeRuntime.builder()
                .device(
                        "local",
                        "local://",
                        DeviceOptions.builder().schedulingDomain(domain).build())
                .build();
        program = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES));
    }

    @AfterEach
    void close() {
        recorder.close();
        program.close();
        runtime.close();
    }

    private List<FlightEvent.Call> calls() {
        return calls(recorder.recording());
    }

    private static List<FlightEvent.Call> calls(FlightRecording recording) {
        return recording.events().stream()
                .filter(FlightEvent.Call.class::isInstance)
                .map(FlightEvent.Call.class::cast)
                .toList();
    }

    private static List<String> explain(FlightRecording recording) {
        return new Explanation(new OperationGraph(recording)).summary(100);
    }

    /** Makes ending calls, until the rings have dropped all earlier records. */
    private void overwrite() {
        long before = recorder.statistics().recorded();
        while (recorder.statistics().completeFrom() <= before) {
            program.function("add").invoke(FOUR, FOUR).close();
        }
    }

    @Test
    void operationsOfACallInProgressNameItsProgram() {
        try (Program fences = runtime.load(Fixtures.file("3.13.0/cpu-async/add.vmfb"));
                Timeline timeline = runtime.createTimeline();
                Fence after = timeline.at(1)) {
            CompletableFuture<Results> hanging =
                    fences.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR);
            overwrite();
            assertThat(explain(recorder.recording()))
                    .anyMatch(line -> line.matches(
                            ".*#\\d+ \\w+ on local/0 by call \\d+ of module.add of program 'add': submitted at .*"));
            after.signal();
            hanging.join().close();
        }
    }

    @Test
    void aCallWaitingForAFenceOfNoSignallerIsNamedWithItsTimelineAfterTheRingHasWrapped() throws IOException {
        try (Timeline timeline = runtime.createTimeline();
                Fence after = timeline.at(1)) {
            timeline.semaphore().setName("upload-finished");
            CompletableFuture<Results> hanging =
                    program.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR);
            overwrite();
            assertThat(calls()).singleElement().satisfies(call -> {
                assertThat(call.program()).isEqualTo("add");
                assertThat(call.function()).isEqualTo("module.add");
                assertThat(call.state()).isEqualTo("BEFORE_INPUTS");
                assertThat(call.waits())
                        .containsExactly(
                                new FlightEvent.Point(timeline.semaphore().id(), 1));
                assertThat(call.age()).isPositive();
            });
            Path file = folder.resolve("calls.iree4j");
            recorder.recording().write(file);
            assertThat(new Explanation(new OperationGraph(FlightRecording.read(file)))
                            .call(calls().getFirst().call(), 100))
                    .as("a call without operations")
                    .hasSize(2)
                    .anyMatch(line -> line.endsWith(", before inputs"))
                    .anyMatch(line -> line.endsWith("signalled by nobody in the recording"));
            String point = "waits for timeline %d 'upload-finished' at 1, signalled by nobody in the recording"
                    .formatted(timeline.semaphore().id());
            assertThat(explain(FlightRecording.read(file)))
                    .anyMatch(line -> line.equals("1 call was in progress:"))
                    .anyMatch(line ->
                            line.contains("of module.add of program 'add' for") && line.endsWith("before inputs"))
                    .anyMatch(line -> line.endsWith(point));
            timeline.semaphore().signal(1);
            hanging.join().close();
            while (program.monitor().activeCalls() > 0) {
                Thread.onSpinWait(); // the future is complete a little before
            }
            assertThat(calls()).isEmpty();
            assertThat(explain(recorder.recording())).noneMatch(line -> line.contains("in progress"));
        }
    }

    @Test
    void theTimelineAwaitedByAnOperationIsNamedAfterTheCallHasEnded() {
        try (Program fences = runtime.load(Fixtures.file("3.13.0/cpu-async/add.vmfb"));
                Timeline timeline = runtime.createTimeline("upload-finished");
                Fence after = timeline.at(1)) {
            CompletableFuture<Results> call =
                    fences.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR);
            while (recorder.recording().events().stream().noneMatch(FlightEvent.Decided.class::isInstance)) {
                Thread.onSpinWait(); // until the call has submitted an operation
            }
            after.signal();
            call.join().close();
            OperationGraph graph = new OperationGraph(recorder.recording());
            assertThat(graph.operations())
                    .flatExtracting(new Explanation(graph)::explain)
                    .anyMatch(line -> line.startsWith("  waits for timeline "
                            + timeline.semaphore().id() + " 'upload-finished' at 1, signalled by the host"))
                    .noneMatch(line -> line.contains("'call of "));
        }
    }

    @Test
    void aCallWithoutWaitsHasTheNamesGivenToItsTimelines() {
        try (Program fences = runtime.load(Fixtures.file("3.13.0/cpu-async/add.vmfb"));
                Timeline upload = runtime.createTimeline("upload-finished");
                Timeline answer = runtime.createTimeline("answer-ready");
                Fence after = upload.at(1);
                Fence done = answer.at(1)) {
            after.signal();
            fences.function("add")
                    .call(CallOptions.DEFAULTS.after(after).signal(done), FOUR, FOUR)
                    .join()
                    .close();
            assertThat(recorder.recording().events().stream()
                            .filter(FlightEvent.NamedTimeline.class::isInstance)
                            .map(each -> ((FlightEvent.NamedTimeline) each).name()))
                    .contains("upload-finished", "answer-ready");
        }
    }

    @Test
    void theSignallerOfAnAwaitedPointIsNamed() throws IOException {
        try (Timeline timeline = runtime.createTimeline();
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                Fence closed = Fence.at(gate, 1);
                Fence after = timeline.at(1)) {
            runtime.device().queue(0).barrier(closed, after, 0);
            CompletableFuture<Results> held =
                    program.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR);
            assertThat(explain(recorder.recording()))
                    .anyMatch(line -> line.contains(
                                    "waits for timeline " + timeline.semaphore().id() + " at 1")
                            && line.matches(".*signalled by #\\d+ barrier"));
            gate.signal(1);
            held.join().close();
        }
    }

    @Test
    @Tag("long")
    void exactlyTheHangingCallsAreNamed() {
        long seed = Effort.seed(OpenCallsTest.class, "hangs", 1);
        Random random = new Random(seed);
        for (int round = 0; round < Effort.rounds(30, 600); round++) {
            int count = 1 + random.nextInt(12);
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            List<TimelineSemaphore> timelines = new ArrayList<>();
            Set<Long> hanging = new TreeSet<>();
            ProgramFunction add = program.function("add");
            for (int i = 0; i < count; i++) {
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                timelines.add(timeline);
                try (Fence after = Fence.at(timeline, 1)) {
                    calls.add(add.call(CallOptions.DEFAULTS.after(after), FOUR, FOUR));
                }
            }
            for (int i = 0; i < count; i++) {
                if (random.nextBoolean()) {
                    timelines.get(i).signal(1);
                    calls.get(i).join().close();
                } else {
                    hanging.add(timelines.get(i).id());
                }
            }
            while (program.monitor().activeCalls() > hanging.size()) {
                Thread.onSpinWait();
            }
            Set<Long> named = calls().stream()
                    .flatMap(each -> each.waits().stream())
                    .map(FlightEvent.Point::timeline)
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(named).as("seed %d, round %d", seed, round).isEqualTo(hanging);
            timelines.stream().filter(each -> hanging.contains(each.id())).forEach(each -> each.signal(1));
            calls.stream()
                    .filter(each -> !each.isDone())
                    .forEach(each -> each.join().close());
            timelines.forEach(TimelineSemaphore::close);
        }
    }

    /** Its operations end one after the other; between them the program works on the host. */
    @Test
    void aCallInProgressHasNotEndedThoughItsOperationsHave() {
        try (Program loop = runtime.load(Fixtures.file("3.13.0/cpu/host_while.vmfb"))) {
            AtomicBoolean isEnough = new AtomicBoolean();
            Thread caller = Thread.ofPlatform().start(() -> {
                while (!isEnough.get()) {
                    loop.functions()
                            .getFirst()
                            .invoke(new float[] {1e-30f, 1e-30f, 1e-30f, 1e-30f})
                            .close();
                }
            });
            while (!isEnough.get()) {
                FlightRecording recording = recorder.recording();
                OperationGraph graph = new OperationGraph(recording);
                Explanation explanation = new Explanation(graph);
                List<RecordedOperation> submitted = graph.operations();
                for (FlightEvent.Call call : calls(recording)) {
                    RecordedCalls.Call known = new RecordedCalls(graph, explanation)
                            .all().stream()
                                    .filter(each -> each.number() == call.call())
                                    .findFirst()
                                    .orElse(null);
                    if (known != null) {
                        isEnough.set(submitted.stream().allMatch(each -> graph.hasEnded(each) == Known.YES));
                        assertThat(known.hasEnded()).isEqualTo(Known.NO);
                        assertThat(explanation.slowest("", Integer.MAX_VALUE))
                                .noneMatch(line -> line.startsWith("call " + call.call() + " "))
                                .contains("1 more in progress: see the summary");
                        assertThat(explanation.call(call.call(), 1).getFirst())
                                .contains(" of program 'host_while' for ");
                    }
                }
            }
            join(caller);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aClosedProgramIsForgotten() {
        Device device = runtime.device();
        Program other = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence after = Fence.at(timeline, 1)) {
            CompletableFuture<Results> call = other.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR);
            assertThat(calls()).hasSize(1);
            other.close();
            assertThat(call).isCompletedExceptionally();
            assertThat(calls()).isEmpty();
        }
        assertThat(device.queue(0).counters().pending()).isZero();
    }
}
