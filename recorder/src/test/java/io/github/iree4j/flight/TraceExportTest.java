package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.RecordedCalls.Part;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.Known;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The view of calls gets the times and paths of the explanation. */
@Timeout(120)
class TraceExportTest {
    private static final long SEED = Effort.seed(20261127);

    private static String json(OperationGraph graph) throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        ExportFormat.TRACE.write(graph, target);
        return target.toString(StandardCharsets.UTF_8);
    }

    /** Reads the columns of a part of the JSON: arrays of whole numbers. */
    private static Map<String, long[]> columns(String json, String part) {
        int from = json.indexOf("\"" + part + "\":{");
        Matcher found =
                Pattern.compile("\"(\\w+)\":\\[([-0-9,]*)]").matcher(json.substring(from, json.indexOf('}', from)));
        Map<String, long[]> columns = new HashMap<>();
        while (found.find()) {
            columns.put(
                    found.group(1),
                    found.group(2).isEmpty()
                            ? new long[0]
                            : Arrays.stream(found.group(2).split(","))
                                    .mapToLong(Long::parseLong)
                                    .toArray());
        }
        return columns;
    }

    private static long origin(OperationGraph graph) {
        return graph.operations().stream()
                .mapToLong(each -> Math.min(each.submittedAt(), graph.end(each)))
                .min()
                .orElseThrow();
    }

    @Test
    void operationsHaveTheirTimesAndTheOperationBeforeOnTheirPath() throws IOException {
        int steps = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(FlightRecorderTest.record(seed, 60));
            Explanation explanation = new Explanation(graph);
            Map<String, long[]> columns = columns(json(graph), "operations");
            assertThat(columns).hasSize(16);
            assertThat(columns.values())
                    .allMatch(each -> each.length == graph.operations().size());
            long origin = origin(graph);
            Map<Long, Integer> rows = new HashMap<>();
            for (int row = 0; row < graph.operations().size(); row++) {
                RecordedOperation operation = graph.operations().get(row);
                assertThat(columns.get("number")[row]).isEqualTo(operation.number());
                rows.put(operation.number(), row);
                assertThat(new Explanation.Times(
                                columns.get("waiting")[row],
                                columns.get("memory")[row],
                                columns.get("queued")[row],
                                columns.get("running")[row]))
                        .as("seed %d, %s", seed, operation)
                        .isEqualTo(explanation.times(operation));
                assertThat(Known.values()[(int) columns.get("ended")[row]]).isEqualTo(graph.hasEnded(operation));
            }
            for (RecordedOperation last : graph.operations()) {
                if (graph.hasEnded(last) == Known.YES && explanation.isEndKnown(last)) {
                    List<Long> path = new ArrayList<>();
                    for (long at = last.number(); at != 0; at = columns.get("after")[rows.get(at)]) {
                        path.addFirst(at);
                    }
                    assertThat(path)
                            .as("seed %d, %s", seed, last)
                            .isEqualTo(CriticalPath.to(graph, last).steps().stream()
                                    .map(step -> step.operation().number())
                                    .toList());
                    steps += path.size() - 1;
                    assertThat(path)
                            .allSatisfy(each -> assertThat(columns.get("ready")[rows.get(each)])
                                    .isEqualTo(graph.decisive(graph.operation(each))
                                                    .available()
                                            - origin));
                }
            }
        }
        assertThat(steps).isPositive();
    }

    @Test
    void dispatchesHaveTheirOperationTheirTimesAndTheirState() throws IOException {
        int times = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(ClockedKernels.record(seed));
            Map<String, long[]> columns = columns(json(graph), "dispatches");
            List<RecordedDispatches.Row> all =
                    new Explanation(graph).dispatches().all();
            assertThat(columns)
                    .hasSize(9)
                    .allSatisfy((key, values) -> assertThat(values).hasSize(all.size()));
            for (int row = 0; row < all.size(); row++) {
                RecordedDispatches.Row dispatch = all.get(row);
                assertThat(columns.get("operation")[row])
                        .isEqualTo(dispatch.operation().number());
                assertThat(columns.get("x")[row])
                        .isEqualTo(dispatch.workgroups().x());
                assertThat(columns.get("duration")[row]).isEqualTo(dispatch.duration());
                assertThat(columns.get("workers")[row]).isEqualTo(dispatch.workers());
                assertThat(RecordedDispatches.State.values()[(int) columns.get("state")[row]])
                        .isEqualTo(dispatch.state());
                if (dispatch.state().isTimed()) {
                    assertThat(columns.get("begin")[row]).isEqualTo(dispatch.begin() - origin(graph));
                    times++;
                }
            }
        }
        assertThat(times).isPositive();
    }

    /** Records calls of a program on the CPU; the first waits for a fence of no signaller. */
    private static OperationGraph graphOfCalls() throws IOException {
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(15, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
        DeviceOptions options = DeviceOptions.builder().schedulingDomain(domain).build();
        float[] four = {1, 2, 3, 4};
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Program program = runtime.load(Fixtures.file("3.13.0/cpu-async/add.vmfb"));
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS);
                Timeline timeline = runtime.createTimeline();
                Fence never = timeline.at(1)) {
            timeline.semaphore().setName("upload \"finished\"");
            CompletableFuture<Results> hanging =
                    program.function("add").call(CallOptions.DEFAULTS.after(never), four, four);
            while (open(new OperationGraph(recorder.recording())) < 2) {
                Thread.onSpinWait(); // a worker makes the call
            }
            for (int i = 0; i < 5; i++) {
                program.function("add").invoke(four, four).close();
            }
            OperationGraph graph = new OperationGraph(recorder.recording());
            never.signal();
            hanging.join().close();
            return graph;
        }
    }

    private static long open(OperationGraph graph) {
        return graph.operations().stream()
                .filter(each ->
                        graph.hasEnded(each) == Known.NO && !each.decisions().isEmpty())
                .count();
    }

    @Test
    void callsInProgressLeadToThePointOfNoSignaller() throws IOException {
        String json = json(graphOfCalls());
        assertThat(json)
                .startsWith("{\"format\":\"iree4j trace 1\",")
                .containsPattern("\"kind\":\"unsignalled-fence\",[^}]*\"calls\":\\[\\d+],")
                .containsPattern("\"links\":\\[\"call \\d+ of module.add of program 'add', [^]]*"
                        + "\"timeline \\d+ 'upload \\\\\"finished\\\\\"' at 1\"]");
    }

    /** The hanging call is old, and others hang on it. */
    @Test
    void theLatestOperationsAreExportedAndBesidesTheOldestUnfinished() throws IOException {
        OperationGraph graph = graphOfCalls();
        String json = new TraceExport(graph, 6).json();
        List<RecordedOperation> all = graph.operations();
        List<Long> expected = all.stream()
                .filter(each -> graph.hasEnded(each) != Known.YES || all.indexOf(each) >= all.size() - 4)
                .map(RecordedOperation::number)
                .toList();
        assertThat(expected).hasSize(6);
        assertThat(columns(json, "operations").get("number"))
                .containsExactly(expected.stream().mapToLong(Long::longValue).toArray());
        assertThat(json).contains("\"leftOut\":" + (all.size() - 6) + ",\"openLeftOut\":0,");
        int calls = columns(json, "calls").get("number").length;
        assertThat(calls).isBetween(2, 3);
        assertThat(json)
                .contains("\"callsLeftOut\":"
                        + (new RecordedCalls(graph, new Explanation(graph))
                                        .all()
                                        .size()
                                - calls) + ",");
    }

    @Test
    void theExportIsBoundedHoweverManyOperationsHaveNotEnded() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                TimelineSemaphore never = TimelineSemaphore.create(0);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
            for (int i = 0; i < 60; i++) {
                work.queues.getFirst().barrier(Fence.at(never, 1), null, 0);
            }
            for (int i = 0; i < 60; i++) {
                work.queues.getFirst().barrier(null, null, 0);
            }
            work.clock.runUntilIdle();
            OperationGraph graph = new OperationGraph(recorder.recording());
            String json = new TraceExport(graph, 20).json();
            long[] numbers = columns(json, "operations").get("number");
            List<RecordedOperation> all = graph.operations();
            assertThat(numbers)
                    .hasSize(20)
                    .contains(all.getFirst().number(), all.getLast().number());
            assertThat(columns(json, "operations").get("ended"))
                    .as("the oldest hanging, and the latest")
                    .containsExactly(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            assertThat(json).contains("\"leftOut\":100,\"openLeftOut\":50,");
        }
    }

    /** A call hanging for minutes is not a sliver at the edge of milliseconds of work. */
    @Test
    void timeLastsUntilTheRecordingWasTaken() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                TimelineSemaphore never = TimelineSemaphore.create(0);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
            work.queues.getFirst().barrier(Fence.at(never, 1), null, 0);
            work.run(20);
            long ended = work.clock.now();
            work.clock.runUntil(work.clock.now() + 60_000_000_000L);
            String json = json(new OperationGraph(recorder.recording()));
            Matcher until = Pattern.compile("\"until\":(\\d+),").matcher(json);
            assertThat(until.find()).isTrue();
            assertThat(Long.parseLong(until.group(1))).isGreaterThan(ended).isGreaterThanOrEqualTo(60_000_000_000L);
        }
    }

    /** Work with an unknown end is drawn as far as its records go. */
    @Test
    void operationsHaveTheTimesOfTheirLastRecords() throws IOException {
        OperationGraph graph = new OperationGraph(FlightRecorderTest.record(SEED, 60));
        long[] known = columns(json(graph), "operations").get("known");
        Map<Long, Long> last = new HashMap<>();
        for (FlightEvent each : graph.recording().events()) {
            switch (each) {
                case FlightEvent.Submitted e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.Decided e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.WaitOver e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.Held e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.Issued e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.Began e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.Completed e -> last.merge(e.operation(), e.time(), Math::max);
                case FlightEvent.Over e -> last.merge(e.operation(), e.time(), Math::max);
                default -> {} // of memory
            }
        }
        for (int row = 0; row < known.length; row++) {
            RecordedOperation operation = graph.operations().get(row);
            assertThat(known[row] + origin(graph)).as("%s", operation).isEqualTo(last.get(operation.number()));
        }
    }

    @Test
    void callsHaveThePartsOfTheirTimes() throws IOException {
        OperationGraph graph = graphOfCalls();
        List<RecordedCalls.Call> calls = new RecordedCalls(graph, new Explanation(graph)).all();
        Map<String, long[]> columns = columns(json(graph), "calls");
        assertThat(calls).hasSizeGreaterThan(1);
        for (int row = 0; row < calls.size(); row++) {
            RecordedCalls.Call call = calls.get(row);
            assertThat(columns.get("number")[row]).isEqualTo(call.number());
            assertThat(columns.get("begin")[row]).isEqualTo(call.begin() - origin(graph));
            assertThat(columns.get("end")[row]).isEqualTo(call.end() - origin(graph));
            long[] parts = call.parts();
            assertThat(columns.get("waiting")[row]).isEqualTo(parts[Part.WAITING.ordinal()]);
            assertThat(columns.get("memory")[row]).isEqualTo(parts[Part.MEMORY.ordinal()]);
            assertThat(columns.get("queued")[row]).isEqualTo(parts[Part.QUEUE.ordinal()]);
            assertThat(columns.get("running")[row]).isEqualTo(parts[Part.RUNNING.ordinal()]);
            assertThat(columns.get("unknown")[row]).isEqualTo(parts[Part.UNKNOWN.ordinal()]);
            assertThat(columns.get("host")[row]).isEqualTo(parts[Part.HOST.ordinal()]);
        }
    }

    @Test
    void dispatchesBeyondTheMostOfTheExportAndOfTheRecorderAreCountedApart() throws IOException {
        int executions = TraceExport.MOST_DISPATCHES / DispatchSampling.MAXIMUM + 1;
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0);
                FlightRecorder recorder = kernels.recorder(1)) {
            for (int i = 0; i < DispatchSampling.MAXIMUM + 5; i++) {
                kernels.dispatch(commands, ClockedKernels.QUICK, 1);
            }
            commands.finish();
            for (int i = 0; i < executions; i++) {
                kernels.execute(commands);
            }
            OperationGraph graph = ClockedKernels.everything(recorder);
            assertThat(graph.operations()).hasSize(executions).allMatch(graph::isWhole);
            String json = json(graph);
            assertThat(columns(json, "dispatches").get("operation"))
                    .hasSize((executions - 1) * DispatchSampling.MAXIMUM);
            assertThat(json)
                    .contains("\"dispatchesLeftOut\":" + DispatchSampling.MAXIMUM + ",")
                    .contains("\"dispatchesNotRecorded\":" + 5 * executions + ",")
                    .contains("\"caveat\":\"dispatches of earlier operations left out, too many for a page: 4096; "
                            + "dispatches without a record, after the first 4096 of an execution: " + 5 * executions);
        }
    }
}
