package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The view of runs gets the knowledge of the recorder, and leaves out the rest. */
@Timeout(120)
class RunExportTest {
    private static final long SEED = Effort.seed(20261128);
    private static final Pattern OPERATION = Pattern.compile(
            "(?m)^\\{\"id\":\"(\\w+ #(\\d+))\",\"hw\":\"[^\"]*\",(?:\"lane\":\"[^\"]*\",)?\"start\":(null|\\d+),\"end\":(null|\\d+),(.*)$");

    /** An operation; null for an unknown time. */
    private record Shown(
            String id, @Nullable Long start, @Nullable Long end, String rest) {}

    private static String json(OperationGraph graph) throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        ExportFormat.RUN.write(graph, target);
        return target.toString(StandardCharsets.UTF_8);
    }

    private static Map<Long, Shown> operations(String json) {
        Map<Long, Shown> shown = new HashMap<>();
        Matcher found = OPERATION.matcher(json);
        while (found.find()) {
            shown.put(
                    Long.valueOf(found.group(2)),
                    new Shown(found.group(1), time(found.group(3)), time(found.group(4)), found.group(5)));
        }
        return shown;
    }

    private static @Nullable Long time(String text) {
        return text.equals("null") ? null : Long.valueOf(text);
    }

    /** The page's checks by waits and frontiers hold in the recorder's export. */
    @Test
    void operationsBeginAfterTheirWaitsAndEndAfterTheWorkInTheirFrontiers() throws IOException {
        int waits = 0;
        int entries = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(FlightRecorderTest.record(seed, 60));
            Map<Long, Shown> shown = operations(json(graph));
            assertThat(shown)
                    .hasSameSizeAs(graph.operations().stream()
                            .filter(each -> graph.hasEnded(each) != Known.UNKNOWN)
                            .toList());
            for (RecordedOperation each : graph.operations()) {
                Shown operation = shown.get(each.number());
                if (operation == null || operation.start == null) {
                    continue;
                }
                for (int i = 0; i < each.waits().size(); i++) {
                    RecordedOperation producer = graph.producer(each, i);
                    Long end = producer == null ? null : shown.get(producer.number()).end;
                    if (end != null) {
                        assertThat(operation.start)
                                .as("seed %d, %s after %s", seed, each, producer)
                                .isGreaterThanOrEqualTo(end);
                        waits++;
                    }
                }
                for (RecordedFrontier.Entry entry : each.frontier().entries()) {
                    RecordedOperation named = graph.at(entry.axis(), entry.epoch());
                    if (operation.end != null && named != null && !named.equals(each)) {
                        assertThat(operation.end)
                                .as("seed %d, %s names %s", seed, each, named)
                                .isGreaterThanOrEqualTo(shown.get(named.number()).end);
                        entries++;
                    }
                }
            }
        }
        assertThat(waits).isPositive();
        assertThat(entries).isPositive();
    }

    /** The ring has dropped the records of the hanging operation, and half of the records of others. */
    @Test
    void aHangingOperationIsShownHoweverOldAndAnOperationWithoutAKnownEndIsNot() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                TimelineSemaphore never = TimelineSemaphore.create(0);
                FlightRecorder recorder = FlightRecorder.open(
                        work.domain,
                        RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES),
                        work.clock::now)) {
            never.setName("upload \"finished\"");
            work.queues.getFirst().barrier(Fence.at(never, 1), null, 0);
            for (int i = 0; i < 8000; i++) {
                work.queues.getFirst().barrier(null, null, 0);
                work.clock.runUntilIdle();
            }
            OperationGraph graph = new OperationGraph(recorder.recording());
            String json = json(graph);
            List<RecordedOperation> unknown = new ArrayList<>(graph.operations());
            unknown.removeIf(each -> graph.hasEnded(each) != Known.UNKNOWN);
            Map<Long, Shown> shown = operations(json);
            RecordedOperation hanging = graph.operations().stream()
                    .filter(each -> graph.hasEnded(each) == Known.NO)
                    .findFirst()
                    .orElseThrow();
            assertThat(shown.get(hanging.number()))
                    .satisfies(each -> assertThat(each.start).isNull())
                    .satisfies(each -> assertThat(each.end).isNull())
                    .satisfies(each -> assertThat(each.rest)
                            .contains("\"knownWaits\":[{\"timeline\":\"timeline %d\",\"value\":1,\"over\":\"NO\","
                                    .formatted(never.id()))
                            .containsPattern("\"note\":\"submitted [\\d.]+ s before, (held back|not ended)\""));
            assertThat(unknown).allMatch(each -> !shown.containsKey(each.number()));
            assertThat(json)
                    .contains("\"timeline %d\":{\"label\":\"upload \\\"finished\\\"\"}".formatted(never.id()))
                    .contains("What is older than record ");
            if (!unknown.isEmpty()) {
                assertThat(json)
                        .contains("Left out: " + unknown.size() + " of which the recorder does not know the end.");
            }
            assertThat(json).containsPattern("\"problems\":\\[\\s*\\{\"kind\":\"unsignalled-fence\"");
            never.signal(1);
            work.clock.runUntilIdle();
        }
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
            List<RecordedOperation> all = graph.operations();
            String json = new RunExport(graph, 20).json();
            assertThat(operations(json))
                    .hasSize(20)
                    .containsKeys(all.getFirst().number(), all.getLast().number());
            assertThat(json).contains("Left out: 100 other operations");
            never.signal(1);
            work.clock.runUntilIdle();
        }
    }

    @Test
    void memoryHasTheTimesOfItsReservationAndItsRelease() throws IOException {
        int released = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(FlightRecorderTest.record(seed, 60));
            String json = json(graph);
            for (FlightEvent.Reserved each : graph.memory().reservations()) {
                Matcher found = Pattern.compile("\\{\"reservation\":%d,.*\"start\":(\\d+),\"end\":(null|\\d+),"
                                .formatted(each.reservation()))
                        .matcher(json);
                assertThat(found.find()).isTrue();
                FlightEvent.Released release = graph.memory().released(each.reservation());
                Long end = time(found.group(2));
                if (release == null) {
                    assertThat(end).isNull();
                } else {
                    assertThat(end).isNotNull();
                    assertThat(end - Long.parseLong(found.group(1))).isEqualTo(release.time() - each.time());
                    released++;
                }
            }
        }
        assertThat(released).isPositive();
    }

    @Test
    void everyFieldMatchesTheRecorder() throws IOException {
        Set<String> seen = new TreeSet<>();
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph =
                    new OperationGraph(seed % 2 == 0 ? FlightRecorderTest.record(seed, 60) : failing(seed));
            Map<String, Object> run = Json.object(json(graph));
            assertThat(run)
                    .containsOnlyKeys(
                            "id",
                            "label",
                            "description",
                            "unit",
                            "isRecording",
                            "records",
                            "hardware",
                            "ops",
                            "sems",
                            "memory",
                            "heldBefore",
                            "finalTick",
                            "problems")
                    .containsEntry("id", "recording")
                    .containsEntry("unit", "ns")
                    .containsEntry("isRecording", true);
            FlightRecording.Header header = graph.recording().header();
            String start = header.start().toString();
            assertThat((String) run.get("label"))
                    .isEqualTo("Recording of %s %s UTC".formatted(start.substring(0, 10), start.substring(11, 19)));
            assertThat((String) run.get("description"))
                    .contains(graph.operations().size() + " operations");
            long origin = origin(graph);
            assertThat(run.get("records"))
                    .isEqualTo(Map.of("recorder", start, "since", first(graph), "until", header.next()));
            assertThat(run.get("hardware"))
                    .isEqualTo(graph.recording().queues().stream()
                            .map(each -> Map.of("id", name(graph, each.axis()), "lanes", 1L, "machine", ""))
                            .toList());
            assertThat(run.get("ops"))
                    .as("seed %d", seed)
                    .isEqualTo(graph.operations().stream()
                            .map(each -> operation(graph, each, origin))
                            .toList());
            assertThat(run.get("memory"))
                    .as("seed %d", seed)
                    .isEqualTo(graph.memory().reservations().stream()
                            .map(each -> block(graph, each, origin))
                            .toList());
            assertThat(run.get("problems"))
                    .isEqualTo(new Explanation(graph)
                            .problems().stream().map(RunExportTest::problem).toList());
            assertThat(run.get("finalTick")).isEqualTo(finalTick(run, graph, origin));
            for (String list : new String[] {"ops", "memory", "problems"}) {
                ((List<?>) run.get(list))
                        .forEach(each -> ((Map<?, ?>) each).keySet().forEach(key -> seen.add(list + "." + key)));
            }
        }
        assertThat(seen).contains("ops.lane", "ops.failure", "memory.releasedBehind", "problems.kind");
    }

    /** Records random work, failing work, and work behind a signal of nobody. */
    private static FlightRecording failing(long seed) throws IOException {
        try (RandomWork work = new RandomWork(seed, 64 << 10);
                TimelineSemaphore broken = TimelineSemaphore.create(0);
                TimelineSemaphore never = TimelineSemaphore.create(0);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
            work.run(30);
            work.queues.getFirst().barrier(Fence.at(broken, 1), null, 0);
            broken.fail(IreeException.of(StatusCode.DATA_LOSS, "the \"disk\" is full"));
            work.queues.getFirst().barrier(Fence.at(never, 1), null, 0);
            FlightRecording recording = recorder.recording();
            never.signal(1);
            return recording;
        }
    }

    private static Stream<FlightEvent> begins(OperationGraph graph) {
        return Stream.concat(
                graph.memory().reservations().stream(),
                graph.operations().stream().map(each -> each.submitted));
    }

    private static long origin(OperationGraph graph) {
        return begins(graph).mapToLong(FlightEvent::time).min().orElseThrow();
    }

    private static long first(OperationGraph graph) {
        return begins(graph).mapToLong(FlightEvent::sequence).min().orElseThrow();
    }

    /** The latest time in the run, the submissions included. */
    private static long finalTick(Map<String, Object> run, OperationGraph graph, long origin) {
        Stream<?> shown = Stream.concat(((List<?>) run.get("ops")).stream(), ((List<?>) run.get("memory")).stream())
                .flatMap(each -> Stream.of("start", "end").map(key -> ((Map<?, ?>) each).get(key)));
        return Stream.concat(shown, graph.operations().stream().map(each -> each.submittedAt() - origin))
                .filter(Objects::nonNull)
                .mapToLong(Long.class::cast)
                .max()
                .orElseThrow();
    }

    private static String name(OperationGraph graph, long axis) {
        RecordedQueue queue = graph.queue(axis);
        return queue == null ? Axis.toString(axis) : "%s/%d".formatted(queue.device(), queue.index());
    }

    private static Map<String, Long> frontier(OperationGraph graph, RecordedFrontier frontier) {
        return frontier.entries().stream()
                .collect(Collectors.toMap(each -> name(graph, each.axis()), RecordedFrontier.Entry::epoch));
    }

    private static Map<String, Long> points(List<FlightEvent.Point> points) {
        return points.stream()
                .collect(Collectors.toMap(each -> "timeline " + each.timeline(), FlightEvent.Point::value));
    }

    private static Map<String, Object> operation(OperationGraph graph, RecordedOperation operation, long origin) {
        Explanation explanation = new Explanation(graph);
        String queue = name(graph, operation.axis());
        Map<String, Object> shown = new HashMap<>();
        shown.put("id", "%s #%d".formatted(operation.name(), operation.number()));
        shown.put("hw", queue);
        boolean hasEnded = graph.hasEnded(operation) == Known.YES;
        shown.put("end", hasEnded ? graph.endOrFailure(operation) - origin : null);
        shown.put("start", null);
        if (operation.issued != null && hasEnded) {
            shown.put("lane", queue);
            shown.put(
                    "start",
                    Math.max(
                            0,
                            graph.endOrFailure(operation)
                                    - explanation.times(operation).running()
                                    - origin));
        }
        shown.put("knownWaits", waits(graph, operation));
        shown.put("moreWaits", operation.moreWaits());
        shown.put("forMemory", explanation.states().isHeldForMemory(operation).name());
        Map<String, Long> signals = new HashMap<>(points(operation.signals()));
        if (operation.epoch() > 0) {
            signals.put(queue, operation.epoch());
        }
        shown.put("signal", signals);
        shown.put("frontier", frontier(graph, operation.frontier()));
        shown.put("tainted", operation.frontier().tainted());
        if (operation.over != null && operation.over.status() != StatusCode.OK) {
            shown.put("failure", operation.over.message());
        }
        shown.put(
                "decisions",
                operation.lastDecisions().stream()
                        .collect(Collectors.groupingBy(each -> each.decision().name(), Collectors.counting())));
        List<String> note = new ArrayList<>();
        if (operation.call() != 0) {
            note.add("call %d of %s".formatted(operation.call(), operation.function()));
        }
        if (graph.hasEnded(operation) == Known.NO) {
            note.add(explanation.remark(operation));
        }
        shown.put("note", String.join(", ", note));
        return shown;
    }

    /** The waits, as explained line by line; a point as last condition is the wait that let the operation begin. */
    private static List<Map<String, Object>> waits(OperationGraph graph, RecordedOperation operation) {
        Explanation explanation = new Explanation(graph);
        List<String> lines = explanation.explain(operation).stream()
                .filter(each -> each.startsWith("  waits for timeline"))
                .toList();
        Dependency last = graph.decisive(operation);
        List<Map<String, Object>> all = new ArrayList<>();
        for (int i = 0; i < operation.waits().size(); i++) {
            FlightEvent.Point point = operation.waits().get(i);
            Map<String, Object> wait = new HashMap<>();
            wait.put("timeline", "timeline " + point.timeline());
            wait.put("value", point.value());
            wait.put("over", explanation.states().isEndedWait(operation, i).name());
            RecordedOperation producer = explanation.states().producer(operation, i);
            if (producer != null && graph.hasEnded(producer) != Known.UNKNOWN) {
                wait.put("by", "%s #%d".formatted(producer.name(), producer.number()));
            }
            if (last != null && point.equals(last.point())) {
                wait.put("last", true);
            }
            if (!wait.containsKey("by") || !wait.containsValue("YES") || graph.hasEnded(producer) != Known.YES) {
                wait.put("text", lines.get(i).substring(lines.get(i).indexOf(", ") + 2));
            }
            all.add(wait);
        }
        return all;
    }

    /** Work on two queues: the second waits for the first, for a signal of the host, and, in part, for nobody. */
    @Test
    void eachWaitTellsWhetherAndByWhomReachedAndWhetherTheLastCondition() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                TimelineSemaphore first = TimelineSemaphore.create(0);
                TimelineSemaphore host = TimelineSemaphore.create(0);
                TimelineSemaphore never = TimelineSemaphore.create(0);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
            DeviceQueue queue = work.queues.getFirst();
            queue.barrier(null, Fence.at(first, 1), 0);
            queue.barrier(Fence.join(Fence.at(first, 1), Fence.at(host, 1)), null, 0);
            queue.barrier(Fence.join(Fence.at(host, 1), Fence.at(never, 1)), null, 0);
            work.clock.runUntilIdle();
            work.clock.runUntil(work.clock.now() + 1000);
            host.signal(1);
            work.clock.runUntilIdle();
            OperationGraph graph = new OperationGraph(recorder.recording());
            List<RecordedOperation> all = graph.operations();
            Map<Long, Shown> shown = operations(json(graph));
            String signaller = shown.get(all.getFirst().number()).id;
            assertThat(shown.get(all.get(1).number()).rest)
                    .containsPattern(wait(first, "YES", ",\"by\":\"" + signaller + "\"}"))
                    .containsPattern(wait(host, "YES", ",\"last\":true"))
                    .contains("signalled by the host");
            assertThat(shown.get(all.get(2).number()).rest)
                    .as("a wait is reached, and something else holds the operation back")
                    .containsPattern(wait(host, "YES", ",\"text\":"))
                    .containsPattern(wait(never, "NO", ",\"text\":"))
                    .contains("signalled by nobody in the recording");
            String latest = new RunExport(graph, 3).json();
            assertThat(operations(latest).get(all.get(1).number()).rest)
                    .as("the signaller is left out, and known all the same")
                    .doesNotContain("\"by\"")
                    .containsPattern(wait(first, "YES", ",\"text\":"))
                    .contains("signalled by " + signaller.substring(signaller.indexOf('#')));
            never.signal(1);
            work.clock.runUntilIdle();
        }
    }

    private static String wait(TimelineSemaphore timeline, String over, String more) {
        return Pattern.quote(
                "{\"timeline\":\"timeline %d\",\"value\":1,\"over\":\"%s\"%s".formatted(timeline.id(), over, more));
    }

    private static Map<String, Object> block(OperationGraph graph, FlightEvent.Reserved block, long origin) {
        FlightEvent.Released released = graph.memory().released(block.reservation());
        Map<String, Object> shown = new HashMap<>();
        shown.put("reservation", block.reservation());
        shown.put("pool", graph.recording().pools().get(block.pool()).name());
        shown.put("slab", (long) block.slab());
        shown.put("offset", block.offset());
        shown.put("length", block.length());
        shown.put("consumer", block.consumer());
        shown.put("function", block.function());
        shown.put("reuse", block.reuse().name());
        shown.put("start", block.time() - origin);
        shown.put("end", released == null ? null : released.time() - origin);
        shown.put("death", frontier(graph, block.death()));
        if (released != null) {
            shown.put("releasedBehind", frontier(graph, released.death()));
        }
        return shown;
    }

    private static Map<String, Object> problem(RecordedProblem problem) {
        return Map.of(
                "kind", problem.kind(),
                "summary", problem.summary(),
                "age", problem.age(),
                "calls", problem.calls(),
                "links", problem.links(),
                "chain", problem.chain(),
                "remedy", problem.remedy());
    }

    @Test
    void blocksAndProblemsBeyondTheLimitsAreCounted() throws IOException {
        try (RandomWork work = new RandomWork(SEED, 64 << 10);
                FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
            work.run(60);
            OperationGraph graph = new OperationGraph(recorder.recording());
            int blocks = graph.memory().reservations().size();
            assertThat(blocks).isGreaterThan(1);
            assertThat(new RunExport(graph, blocks - 1).json())
                    .contains(" Left out: 1 block of memory, reserved before the others.");
            assertThat(new RunExport(graph, blocks).json()).doesNotContain(" of memory, reserved before");
            List<TimelineSemaphore> never = new ArrayList<>();
            for (int i = 0; i < Explanation.MOST_PROBLEMS + 3; i++) {
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                never.add(timeline);
                work.queues.getFirst().barrier(Fence.at(timeline, 1), null, 0);
                if (i == Explanation.MOST_PROBLEMS - 1) {
                    assertThat(json(new OperationGraph(recorder.recording()))).doesNotContain("problems, younger than");
                }
            }
            String json = json(new OperationGraph(recorder.recording()));
            assertThat((List<?>) Json.object(json).get("problems")).hasSize(Explanation.MOST_PROBLEMS);
            assertThat(json).contains(" Left out: 3 problems, younger than the others.");
            never.forEach(each -> each.signal(1));
            work.clock.runUntilIdle();
        }
    }
}
