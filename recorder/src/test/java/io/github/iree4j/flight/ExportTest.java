package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExportTest {
    private static final long SEED = Effort.seed(20261123);

    private static byte[] export(ExportFormat format, OperationGraph graph) throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        format.write(graph, target);
        return target.toByteArray();
    }

    private static OperationGraph graph() throws IOException {
        return new OperationGraph(FlightRecorderTest.record(SEED, 80));
    }

    private static long ended(OperationGraph graph) {
        return graph.operations().stream()
                .filter(each -> graph.end(each) != RecordedOperation.NEVER)
                .count();
    }

    /** A message of Protocol Buffers, decoded without knowledge of the writer. */
    static Map<Integer, List<Object>> decode(byte[] bytes) {
        Map<Integer, List<Object>> fields = new TreeMap<>();
        int[] at = {0};
        while (at[0] < bytes.length) {
            long key = varint(bytes, at);
            Object value = switch ((int) key & 7) {
                case 0 -> varint(bytes, at);
                case 1 -> {
                    long all = 0;
                    for (int i = 0; i < 8; i++) {
                        all |= (bytes[at[0]++] & 0xFFL) << 8 * i;
                    }
                    yield all;
                }
                case 2 -> {
                    int length = (int) varint(bytes, at);
                    byte[] part = java.util.Arrays.copyOfRange(bytes, at[0], at[0] + length);
                    assertThat(at[0] + length).isLessThanOrEqualTo(bytes.length);
                    at[0] += length;
                    yield part;
                }
                default -> throw new AssertionError("wire type " + (key & 7));
            };
            fields.computeIfAbsent((int) (key >>> 3), unused -> new ArrayList<>())
                    .add(value);
        }
        return fields;
    }

    private static long varint(byte[] bytes, int[] at) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = bytes[at[0]++];
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    private static long number(Map<Integer, List<Object>> message, int field) {
        return (Long) message.get(field).getFirst();
    }

    @Test
    void perfettoHasASliceForEachOperationAndAFlowForEachDirectWait() throws IOException {
        OperationGraph graph = graph();
        Map<Integer, List<Object>> trace = decode(export(ExportFormat.PERFETTO, graph));
        assertThat(trace.keySet()).containsExactly(1);
        Set<Long> tracks = new HashSet<>();
        Map<Long, Integer> depth = new HashMap<>();
        Set<Object> started = new HashSet<>();
        Set<Object> ended = new HashSet<>();
        long begins = 0;
        long last = 0;
        for (Object each : trace.get(1)) {
            Map<Integer, List<Object>> packet = decode((byte[]) each);
            assertThat(number(packet, 10)).isEqualTo(1);
            if (packet.containsKey(60)) {
                Map<Integer, List<Object>> track =
                        decode((byte[]) packet.get(60).getFirst());
                assertThat(tracks.add(number(track, 1))).isTrue();
                continue;
            }
            assertThat(number(packet, 8)).isGreaterThanOrEqualTo(last);
            last = number(packet, 8);
            Map<Integer, List<Object>> event = decode((byte[]) packet.get(11).getFirst());
            long track = number(event, 11);
            assertThat(tracks).contains(track);
            long type = number(event, 9);
            if (type == 1) {
                begins++;
                assertThat(new String((byte[]) event.get(23).getFirst(), StandardCharsets.UTF_8))
                        .isNotEmpty();
            }
            if (type != 4) {
                int now = depth.merge(track, type == 1 ? 1 : -1, Integer::sum);
                assertThat(now).as("slices of a track follow each other").isBetween(0, 1);
            }
            started.addAll(event.getOrDefault(47, List.of()));
            ended.addAll(event.getOrDefault(48, List.of()));
        }
        assertThat(begins).isEqualTo(ended(graph));
        assertThat(started).isEqualTo(ended).isNotEmpty();
    }

    @Test
    void otlpHasASpanForEachOperationAndLinksToExistingSpans() throws IOException {
        OperationGraph graph = graph();
        String json = new String(export(ExportFormat.OTLP, graph), StandardCharsets.UTF_8);
        Pattern ids =
                Pattern.compile("\"traceId\":\"([0-9a-f]{32})\",\"spanId\":\"([0-9a-f]{16})\",\"(name|attributes)\"");
        Set<String> spans = new HashSet<>();
        Set<String> links = new HashSet<>();
        Matcher matcher = ids.matcher(json);
        while (matcher.find()) {
            (matcher.group(3).equals("name") ? spans : links).add(matcher.group(1) + matcher.group(2));
        }
        assertThat(spans).hasSize((int) ended(graph));
        assertThat(links).isNotEmpty().isSubsetOf(spans);
        long open = json.chars().filter(c -> c == '{' || c == '[').count();
        assertThat(json.chars().filter(c -> c == '}' || c == ']').count()).isEqualTo(open);
    }

    /** Names in traces and reports are for people, and follow the language. */
    @Test
    void exportsForProgramsAreTheSameInEachLanguage() throws IOException {
        OperationGraph graph = graph();
        Locale language = Locale.getDefault();
        try {
            for (ExportFormat format : List.of(ExportFormat.OTLP, ExportFormat.SCENARIO)) {
                Locale.setDefault(Locale.ROOT);
                byte[] root = export(format, graph);
                Locale.setDefault(Locale.forLanguageTag("fa-IR"));
                assertThat(export(format, graph)).as(format.name()).isEqualTo(root);
            }
        } finally {
            Locale.setDefault(language);
        }
    }

    /**
     * Two queues of devices with the same name. An operation of the first waits for an operation of the second,
     * submitted later and ending, or failing, at the same time.
     */
    private static OperationGraph backwards(Object firstGroup, Object secondGroup, @Nullable IreeException failure)
            throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        VirtualScript script = new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return 0;
            }

            @Override
            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                return failure;
            }
        };
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, 8);
            try (VirtualDevice first = device(clock, script, domain, firstGroup);
                    VirtualDevice second = device(clock, script, domain, secondGroup);
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    TimelineSemaphore end = TimelineSemaphore.create(0);
                    Fence wait = Fence.at(timeline, 1);
                    Fence signal = Fence.at(end, 1);
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                first.queue(0).barrier(wait, signal, 0);
                second.queue(0).barrier(null, wait, 0);
                clock.runUntilIdle();
                return new OperationGraph(recorder.recording());
            }
        }
    }

    private static VirtualDevice device(
            VirtualClock clock, VirtualScript script, SchedulingDomain domain, Object group) {
        return VirtualDevice.builder()
                .id("a\u00a0gpu")
                .clock(clock)
                .script(script)
                .schedulingDomain(domain)
                .directGroup(group)
                .fifoQueues(1)
                .build();
    }

    @Test
    void workEndingAtTheSameTimeIsInTheOrderOfItsRun() throws IOException {
        Object group = new Object();
        OperationGraph graph = backwards(group, group, null);
        List<Integer> flows = new ArrayList<>();
        for (Object each : decode(export(ExportFormat.PERFETTO, graph)).get(1)) {
            Map<Integer, List<Object>> packet = decode((byte[]) each);
            if (packet.containsKey(11)) {
                flows.addAll(decode((byte[]) packet.get(11).getFirst()).keySet().stream()
                        .filter(field -> field == 47 || field == 48)
                        .toList());
            }
        }
        assertThat(flows).containsExactly(47, 48);
    }

    /**
     * A device runs an operation before its signaller has been observed to have run: the operation is not over, and its
     * submission precedes the submission of the signaller.
     */
    @Test
    void aFlowIntoARunButUnfinishedOperationEndsBehindItsBeginning() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        Object group = new Object();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(7, 0), tracker, 8);
            try (VirtualDevice waiting = device(clock, lasting(10, 0), domain, group);
                    VirtualDevice signalling = device(clock, lasting(10, 1000), domain, group);
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    Fence signal = Fence.at(timeline, 1);
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                waiting.queue(0).barrier(signal, null, 0);
                clock.runUntil(clock.now() + 5);
                signalling.queue(0).barrier(null, signal, 0);
                clock.runUntil(clock.now() + 500);
                OperationGraph graph = new OperationGraph(recorder.recording());
                assertThat(graph.operations())
                        .allMatch(
                                each -> graph.hasEnded(each) == Known.NO && graph.end(each) != RecordedOperation.NEVER);
                assertThat(flowsIn(graph, 0)).isEqualTo(1);
                clock.runUntilIdle();
            }
        }
    }

    private static VirtualScript lasting(long duration, long delay) {
        return new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return duration;
            }

            @Override
            public long completionDelay(int queue, long number, QueueOperation operation) {
                return delay;
            }
        };
    }

    @Test
    void flowsOfUnrulyWorkEndBehindTheirBeginnings() throws IOException {
        int flows = flowsOfUnrulyWork(20261196); // once wrong
        for (long seed = SEED; seed < SEED + Effort.rounds(200); seed++) {
            flows += flowsOfUnrulyWork(seed);
        }
        assertThat(flows).isPositive();
    }

    private static int flowsOfUnrulyWork(long seed) throws IOException {
        return flowsIn(new OperationGraph(UnrulyWork.record(seed, 100)), seed);
    }

    /** Returns the number of flows: each has a beginning, and afterwards an end. */
    private static int flowsIn(OperationGraph graph, long seed) throws IOException {
        Set<Object> begun = new HashSet<>();
        Set<Object> ended = new HashSet<>();
        for (Object each : decode(export(ExportFormat.PERFETTO, graph)).getOrDefault(1, List.of())) {
            Map<Integer, List<Object>> packet = decode((byte[]) each);
            if (packet.containsKey(11)) {
                Map<Integer, List<Object>> event =
                        decode((byte[]) packet.get(11).getFirst());
                assertThat(begun).as("seed %d", seed).containsAll(event.getOrDefault(48, List.of()));
                begun.addAll(event.getOrDefault(47, List.of()));
                ended.addAll(event.getOrDefault(48, List.of()));
            }
        }
        assertThat(ended).as("seed %d", seed).isEqualTo(begun);
        return begun.size();
    }

    /** On a track an inner slice begins and ends within an outer slice. */
    @Test
    void perfettoHasDispatchesWithinTheirOperations() throws IOException {
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(ClockedKernels.record(seed));
            Map<Long, List<String>> open = new HashMap<>(); // names of the slices under way, by track
            Map<String, Integer> begun = new HashMap<>();
            for (Object each : decode(export(ExportFormat.PERFETTO, graph)).get(1)) {
                Map<Integer, List<Object>> packet = decode((byte[]) each);
                if (!packet.containsKey(11)) {
                    continue;
                }
                Map<Integer, List<Object>> event =
                        decode((byte[]) packet.get(11).getFirst());
                List<String> slices = open.computeIfAbsent(number(event, 11), unused -> new ArrayList<>());
                if (number(event, 9) == 2) {
                    slices.removeLast();
                } else {
                    String name = new String((byte[]) event.get(23).getFirst(), StandardCharsets.UTF_8);
                    assertThat(slices).as("seed %d, under %s", seed, name).hasSizeLessThanOrEqualTo(1);
                    assertThat(slices).doesNotContain("quick", "slow", "broken");
                    slices.add(name);
                    begun.merge(name, 1, Integer::sum);
                }
            }
            assertThat(open.values()).allMatch(List::isEmpty);
            assertThat(begun.get("quick")).isEqualTo(timed(graph, "quick"));
            assertThat(begun.get("slow")).isEqualTo(timed(graph, "slow"));
        }
    }

    private static Integer timed(OperationGraph graph, String export) {
        int count = (int) new Explanation(graph)
                .dispatches().all().stream()
                        .filter(each ->
                                each.export().equals(export) && each.state().isTimed())
                        .count();
        return count == 0 ? null : count;
    }

    @Test
    void otlpHasASpanForEachDispatchBelowTheSpanOfItsOperation() throws IOException {
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(ClockedKernels.record(seed));
            String json = new String(export(ExportFormat.OTLP, graph), StandardCharsets.UTF_8);
            Matcher spans = Pattern.compile(
                            "\"traceId\":\"([0-9a-f]{32})\",\"spanId\":\"([0-9a-f]{16})\",(?:\"parentSpanId\":\"([0-9a-f]{16})\",)?\"name\":\"([^\"]*)\"")
                    .matcher(json);
            Map<String, String> traces = new HashMap<>(); // by span
            Map<String, Integer> below = new HashMap<>();
            while (spans.find()) {
                assertThat(traces.put(spans.group(2), spans.group(1)))
                        .as(spans.group())
                        .isNull();
                if (spans.group(3) != null) {
                    assertThat(traces.get(spans.group(3)))
                            .as("the parent comes before")
                            .isEqualTo(spans.group(1));
                    below.merge(spans.group(4), 1, Integer::sum);
                }
            }
            assertThat(below.get("quick")).isEqualTo(timed(graph, "quick"));
            assertThat(below.get("slow")).isEqualTo(timed(graph, "slow"));
            assertThat(json.split(
                            "\"iree.state\",\"value\":\\{\"stringValue\":\"FAILED\"}}],\"status\":\\{\"code\":2", -1))
                    .hasSize(1 + (timed(graph, "broken") == null ? 0 : timed(graph, "broken")));
        }
    }

    /** A deferred call has run, and its host has not completed the call. */
    @Test
    void unfinishedWorkIsASliceWithoutAnEndAndNoSpan() throws IOException {
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(12, 0), FrontierTracker.create(), 12);
        List<Object> completions = new ArrayList<>();
        OperationGraph graph;
        try (Device device = new LocalBackend().open(DeviceOptions.builder().schedulingDomain(domain));
                TimelineSemaphore gate = TimelineSemaphore.create(0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence closed = Fence.at(gate, 1);
                Fence first = Fence.at(timeline, 1);
                Fence second = Fence.at(timeline, 2);
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            device.queue(0).barrier(null, first, 0);
            device.queue(0).barrier(closed, null, 0);
            device.queue(0).deferredHostCall(null, second, completions::add);
            while (completions.isEmpty() || device.queue(0).counters().inFlight() == 0) {
                Thread.onSpinWait();
            }
            graph = new OperationGraph(recorder.recording());
        }
        long begins = 0;
        long ends = 0;
        for (Object each : decode(export(ExportFormat.PERFETTO, graph)).get(1)) {
            Map<Integer, List<Object>> packet = decode((byte[]) each);
            if (packet.containsKey(11)) {
                long type = number(decode((byte[]) packet.get(11).getFirst()), 9);
                begins += type == 1 ? 1 : 0;
                ends += type == 2 ? 1 : 0;
            }
        }
        assertThat(begins).isEqualTo(3);
        assertThat(ends).isEqualTo(1);
        String spans = new String(export(ExportFormat.OTLP, graph), StandardCharsets.UTF_8);
        assertThat(spans.split("\"spanId\"")).hasSize(2);
        assertThat(spans)
                .contains("{\"key\":\"iree.operations_not_ended\",\"value\":{\"intValue\":\"2\"}}")
                .contains("{\"key\":\"iree.operations_perhaps_ended\",\"value\":{\"intValue\":\"0\"}}");
        assertThat(CriticalPath.of(graph).steps()).hasSize(1);
    }

    /** The end of the first has no record in a wrapped ring: the second may be linked to nothing. */
    @Test
    void otlpCountsTheOperationsAndLinksWithoutSpans() throws IOException {
        FlightRecording whole = backwards(new Object(), new Object(), null).recording();
        FlightRecording.Header header = whole.header();
        RecordWords records = new RecordWords();
        long signaller = new OperationGraph(whole).operations().getLast().number();
        for (int i = 0; i < whole.records().count(); i++) {
            boolean isEnd = RecordType.type(whole.records().word(i, 0)) == RecordType.OVER
                    && whole.records().word(i, RecordType.HEADER) == signaller;
            if (!isEnd) {
                records.add(whole.records().words(), whole.records().start(i));
            }
        }
        OperationGraph graph = new OperationGraph(new FlightRecording(
                new FlightRecording.Header(
                        header.start(), header.frontierCapacity(), header.next(), header.next(), 0, header.taken()),
                whole.names(),
                whole.queues(),
                whole.pools(),
                records));
        assertThat(graph.hasEnded(graph.operation(signaller))).isEqualTo(Known.UNKNOWN);
        String spans = new String(export(ExportFormat.OTLP, graph), StandardCharsets.UTF_8);
        assertThat(spans.split("\"spanId\"", -1)).hasSize(2);
        assertThat(spans)
                .contains("{\"key\":\"iree.operations_perhaps_ended\",\"value\":{\"intValue\":\"1\"}}")
                .contains("\"links\":[],\"droppedLinksCount\":1,");
    }

    @Test
    void dispatchesWithoutTimesOrRecordsAreCountedAtTheirOperation() throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0);
                FlightRecorder recorder = kernels.recorder(1)) {
            for (int i = 0; i < DispatchSampling.MAXIMUM + 5; i++) {
                kernels.dispatch(commands, i == 0 ? ClockedKernels.BROKEN : ClockedKernels.QUICK, 1);
                if (i == 0) {
                    ClockedKernels.barrier(commands);
                }
            }
            commands.finish();
            kernels.execute(commands);
            OperationGraph graph = ClockedKernels.everything(recorder);
            assertThat(new String(export(ExportFormat.OTLP, graph), StandardCharsets.UTF_8))
                    .contains("{\"key\":\"iree.dispatches_without_span\",\"value\":{\"intValue\":\"%d\"}}"
                            .formatted(DispatchSampling.MAXIMUM + 4));
            Map<Integer, List<Object>> slice =
                    decode((byte[]) events(graph).getFirst().get(11).getFirst());
            assertThat(slice.get(4).stream()
                            .map(each -> decode((byte[]) each))
                            .filter(each -> new String((byte[]) each.get(10).getFirst(), StandardCharsets.UTF_8)
                                    .equals("dispatches without a slice"))
                            .map(each -> number(each, 3)))
                    .containsExactly((long) DispatchSampling.MAXIMUM + 4);
        }
    }

    /** Two streams, each with operations that wait for the last operation of the other. */
    @Test
    void perfettoCountsTheWaitsWithoutFlows() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, 12);
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .schedulingDomain(domain)
                            .fifoQueues(2)
                            .build();
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                for (int i = 0; i <= PerfettoExport.MAXIMUM_FLOWS + 3; i++) {
                    try (Fence wait = Fence.at(timeline, i);
                            Fence signal = Fence.at(timeline, i + 1)) {
                        device.queue(i % 2).barrier(i == 0 ? null : wait, signal, 0);
                    }
                    if (i % 100 == 0) {
                        clock.runUntilIdle();
                    }
                }
                clock.runUntilIdle();
                List<String> marks = new ArrayList<>();
                for (Map<Integer, List<Object>> packet : events(new OperationGraph(recorder.recording()))) {
                    Map<Integer, List<Object>> event =
                            decode((byte[]) packet.get(11).getFirst());
                    if (number(event, 9) == 3) {
                        marks.add(new String((byte[]) event.get(23).getFirst(), StandardCharsets.UTF_8));
                    }
                }
                assertThat(marks).containsExactly("3 waits without a flow: the shortest");
            }
        }
    }

    @Test
    void timelinesOfEndedOperationsAreNamed() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, 12);
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .schedulingDomain(domain)
                            .build();
                    TimelineSemaphore upload = TimelineSemaphore.create(0);
                    TimelineSemaphore answer = TimelineSemaphore.create(0);
                    Fence wait = Fence.at(upload, 1);
                    Fence signal = Fence.at(answer, 1);
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                upload.setName("upload-finished");
                answer.setName("answer-ready");
                device.queue(0).barrier(wait, signal, 0);
                upload.signal(1);
                clock.runUntilIdle();
                OperationGraph graph = new OperationGraph(recorder.recording());
                String point = "timeline " + upload.id() + " 'upload-finished' at 1";
                String signalled = "timeline " + answer.id() + " 'answer-ready' at 1";
                assertThat(graph.hasEnded(graph.operations().getFirst())).isEqualTo(Known.YES);
                assertThat(new Explanation(graph).explain(graph.operations().getFirst()))
                        .anyMatch(line -> line.startsWith("  waits for " + point))
                        .contains("  signals " + signalled);
                for (ExportFormat format : List.of(ExportFormat.PERFETTO, ExportFormat.OTLP)) {
                    assertThat(new String(export(format, graph), StandardCharsets.UTF_8))
                            .contains(point)
                            .contains(signalled);
                }
            }
        }
    }

    @Test
    void failuresAreExportedAlsoOfWorkThatNeverRan() throws IOException {
        IreeException failure = IreeException.of(StatusCode.DATA_LOSS, "the hardware broke");
        OperationGraph graph = backwards(new Object(), new Object(), failure);
        assertThat(ended(graph)).isEqualTo(1);
        String spans = new String(export(ExportFormat.OTLP, graph), StandardCharsets.UTF_8);
        assertThat(spans.split("\"code\":2,\"message\":\"[^\"]*the hardware broke", -1))
                .hasSize(3);
        assertThat(spans.split("\"links\":\\[\\{", -1)).as("one has a link").hasSize(2);
        assertThat(new String(export(ExportFormat.PERFETTO, graph), StandardCharsets.UTF_8))
                .contains("failure")
                .contains("the hardware broke");
    }

    @Test
    void perfettoHasASliceUpToTheFailureForWorkFailingBeforeItsTurnAndCountsTheOmitted() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        int most = PerfettoExport.MAXIMUM_OPEN + 7;
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, 12);
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .schedulingDomain(domain)
                            .build();
                    TimelineSemaphore upload = TimelineSemaphore.create(0);
                    Fence wait = Fence.at(upload, 1);
                    FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                for (int i = 0; i < most; i++) {
                    device.queue(0).barrier(wait, null, 0);
                }
                clock.runUntil(clock.now() + 5_000);
                upload.fail(IreeException.of(StatusCode.ABORTED, "gave up"));
                clock.runUntilIdle();
                Map<Long, Long> begun = new HashMap<>(); // by track
                List<Long> lengths = new ArrayList<>();
                List<String> marks = new ArrayList<>();
                for (Map<Integer, List<Object>> packet : events(new OperationGraph(recorder.recording()))) {
                    Map<Integer, List<Object>> event =
                            decode((byte[]) packet.get(11).getFirst());
                    switch ((int) number(event, 9)) {
                        case 1 -> begun.put(number(event, 11), number(packet, 8));
                        case 2 -> lengths.add(number(packet, 8) - begun.get(number(event, 11)));
                        default -> marks.add(new String((byte[]) event.get(23).getFirst(), StandardCharsets.UTF_8));
                    }
                }
                assertThat(lengths).hasSize(PerfettoExport.MAXIMUM_OPEN).containsOnly(5_000L);
                assertThat(marks).containsExactly("7 operations that ended without a record of their run");
            }
        }
    }

    private static List<Map<Integer, List<Object>>> events(OperationGraph graph) throws IOException {
        return decode(export(ExportFormat.PERFETTO, graph)).get(1).stream()
                .map(each -> decode((byte[]) each))
                .filter(packet -> packet.containsKey(11))
                .toList();
    }

    /** Bursts of work with pauses: the stripes of the ring drop records of different ages. */
    @Test
    void perfettoCountsNoMemoryWithAnOverwrittenRelease() throws IOException {
        VirtualClock clock = VirtualClock.stepped();
        try (FrontierTracker tracker = FrontierTracker.create()) {
            SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, 12);
            try (VirtualDevice device = VirtualDevice.builder()
                            .clock(clock)
                            .schedulingDomain(domain)
                            .build();
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    FlightRecorder recorder =
                            FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withBytes(1 << 20), clock::now)) {
                Random random = new Random(7);
                long value = 0;
                for (int burst = 0; burst < 400; burst++) {
                    for (int i = random.nextInt(60); i > 0; i--) {
                        Fence allocated = Fence.at(timeline, value + 1);
                        Buffer buffer = device.queue(0)
                                .alloca(
                                        value == 0 ? null : Fence.at(timeline, value),
                                        allocated,
                                        BufferParams.DEFAULT,
                                        4096,
                                        0);
                        clock.runUntil(clock.now() + 200_000);
                        value += 2;
                        device.queue(0).dealloca(allocated, Fence.at(timeline, value), buffer, 0);
                        clock.runUntil(clock.now() + 200_000);
                        buffer.close();
                    }
                    clock.runUntil(clock.now() + (long) (random.nextExponential() * 3_000_000));
                }
                FlightRecording recording = recorder.recording();
                assertThat(recording.header().completeFrom()).isPositive();
                List<Long> counts = new ArrayList<>();
                for (Map<Integer, List<Object>> packet : events(new OperationGraph(recording))) {
                    Map<Integer, List<Object>> event =
                            decode((byte[]) packet.get(11).getFirst());
                    if (number(event, 9) == 4) {
                        counts.add(number(event, 30));
                    }
                }
                assertThat(counts).containsOnly(0L, 4096L).last().isEqualTo(0L);
            }
        }
    }
}
