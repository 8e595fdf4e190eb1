package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.RecordedCalls.Part;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operation is named as the signaller of a wait only where the operation can be, or was, the signaller. */
class RecordedSignallersTest {
    private static final long LONG = 1_000_000;

    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final Map<String, Long> durations = new HashMap<>();
    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final VirtualScript script = new VirtualScript() {
        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return durations.getOrDefault(operation.name(), 0L);
        }
    };
    private VirtualDevice streams; // two
    private VirtualDevice unordered;
    private FlightRecorder recorder;

    @BeforeEach
    void open() throws IOException {
        SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, 12);
        streams = builder("streams", domain).fifoQueues(2).build();
        unordered = builder("unordered", domain).unorderedQueue(8).build();
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now);
    }

    private VirtualDevice.Builder builder(String id, SchedulingDomain domain) {
        return VirtualDevice.builder()
                .id(id)
                .clock(clock)
                .schedulingDomain(domain)
                .directGroup(domain)
                .script(script);
    }

    @AfterEach
    void close() {
        recorder.close();
        timelines.forEach(each -> each.fail(IreeException.of(StatusCode.ABORTED, "given up")));
        clock.runUntilIdle();
        streams.close();
        unordered.close();
        timelines.forEach(TimelineSemaphore::close);
        tracker.close();
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timelines.add(timeline);
        return timeline;
    }

    private void submit(VirtualDevice device, int queue, String name, Fence wait, Fence signal) {
        device.submit(queue, wait, signal, new VirtualOperation(name));
    }

    private OperationGraph graph() {
        return new OperationGraph(recorder.recording());
    }

    private static List<String> waits(OperationGraph graph, String name) {
        return new Explanation(graph)
                .explain(named(graph, name)).stream()
                        .filter(each -> each.startsWith("  waits for"))
                        .toList();
    }

    private static RecordedOperation named(OperationGraph graph, String name) {
        return graph.operations().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** The second of three steps is missing. */
    @Test
    void anOperationDoesNotSignalItsAwaitedValue() {
        TimelineSemaphore tokens = timeline();
        submit(unordered, 0, "first", null, Fence.at(tokens, 1));
        submit(unordered, 0, "third", Fence.at(tokens, 2), Fence.at(tokens, 3));
        submit(unordered, 0, "fourth", Fence.at(tokens, 3), Fence.at(tokens, 4));
        submit(unordered, 0, "reader", Fence.at(tokens, 2), null);
        clock.runUntilIdle();
        OperationGraph open = graph();
        Stream.of("third", "reader")
                .forEach(each -> assertThat(waits(open, each))
                        .as(each)
                        .singleElement()
                        .asString()
                        .contains("signalled by nobody in the recording"));
        RecordedOperation third = named(open, "third");
        assertThat(waits(open, "fourth").getFirst()).contains("to be signalled by #%d third".formatted(third.number()));
        assertThat(open.producer(third, 0)).isNull();
        tokens.signal(2);
        clock.runUntilIdle();
        OperationGraph ended = graph();
        assertThat(ended.producer(named(ended, "reader"), 0)).as("the host").isNull();
    }

    /** The host reaches the first point of an operation, and fails the second; later the signaller of a higher value fails. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLaterFailureIsNotTheCause(boolean isReached) throws IOException {
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        TimelineSemaphore never = timeline();
        submit(unordered, 0, "failed", Fence.join(Fence.at(first, 1), Fence.at(second, 1)), null);
        submit(unordered, 0, "later", Fence.at(never, 1), Fence.at(first, 3));
        if (isReached) {
            first.signal(1);
        }
        second.fail(IreeException.of(StatusCode.DATA_LOSS, "the cause"));
        clock.runUntil(100);
        never.fail(IreeException.of(StatusCode.ABORTED, "given up"));
        clock.runUntilIdle();
        OperationGraph graph = graph();
        assertThat(named(graph, "failed").status()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(waits(graph, "failed").getFirst())
                .contains(isReached ? "signalled by the host" : "to have been signalled by #")
                .contains(isReached ? "" : " later on");
        ByteArrayOutputStream spans = new ByteArrayOutputStream();
        ExportFormat.OTLP.write(graph, spans);
        assertThat(spans.toString(StandardCharsets.UTF_8))
                .contains("\"links\":[]")
                .doesNotContain("\"links\":[{");
    }

    /** A running operation has promised nothing on a queue without order. */
    @Test
    void aWaitEndedByTheHostIsNotEndedByARunningOperation() {
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        durations.put("later", LONG);
        submit(unordered, 0, "failed", Fence.join(Fence.at(first, 1), Fence.at(second, 1)), null);
        submit(unordered, 0, "later", null, Fence.at(first, 3));
        clock.runUntil(100);
        first.signal(1);
        second.fail(IreeException.of(StatusCode.DATA_LOSS, "the cause"));
        clock.runUntil(200);
        assertThat(waits(graph(), "failed").getFirst()).contains("signalled by the host");
        clock.runUntilIdle();
    }

    /** The waiting operation fails before the end of its failing predecessor is recorded. */
    @Test
    void anOperationFailsByAnOperationFailingWithoutRunning() {
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        submit(unordered, 0, "waiter", Fence.at(second, 1), null);
        submit(unordered, 0, "cause", Fence.at(first, 1), Fence.at(second, 1));
        first.fail(IreeException.of(StatusCode.DATA_LOSS, "the cause"));
        clock.runUntilIdle();
        assertThat(waits(graph(), "waiter").getFirst()).contains("failed by #");
    }

    /** Two operations signal the same value; the first waits for a lower value. */
    @Test
    void ofTwoSignallersTheSignallerNotWaitingForTheValueIsNamed() {
        TimelineSemaphore shared = timeline();
        TimelineSemaphore never = timeline();
        submit(unordered, 0, "first", Fence.at(shared, 2), Fence.at(shared, 3));
        submit(unordered, 0, "second", Fence.at(never, 1), Fence.at(shared, 3));
        submit(unordered, 0, "reader", Fence.at(shared, 2), null);
        clock.runUntilIdle();
        assertThat(waits(graph(), "reader").getFirst()).contains(" second on ");
    }

    @Test
    void aWaitOfTheDeviceIsAWaitOfTheCall() {
        TimelineSemaphore slow = timeline();
        durations.put("slow", LONG);
        submit(streams, 1, "slow", null, Fence.at(slow, 1));
        submit(streams, 0, "waiter", Fence.at(slow, 1), null);
        submit(streams, 0, "next", null, null);
        clock.runUntil(LONG / 2);
        OperationGraph graph = graph();
        RecordedCalls calls = new RecordedCalls(graph, new Explanation(graph));
        assertThat(calls.call(1, List.of(named(graph, "waiter"))).parts()[Part.WAITING.ordinal()])
                .isEqualTo(LONG / 2);
        assertThat(calls.call(1, List.of(named(graph, "next"))).parts()[Part.QUEUE.ordinal()])
                .isEqualTo(LONG / 2);
        assertThat(calls.call(1, List.of(named(graph, "slow"))).parts()[Part.RUNNING.ordinal()])
                .isEqualTo(LONG / 2);
        clock.runUntilIdle();
    }

    @Test
    void aPromisedSignalIsNamedAsPromised() {
        TimelineSemaphore slow = timeline();
        TimelineSemaphore never = timeline();
        durations.put("slow", LONG);
        submit(streams, 0, "waiter", Fence.join(Fence.at(slow, 1), Fence.at(never, 1)), null);
        submit(streams, 1, "slow", null, Fence.at(slow, 1));
        clock.runUntil(LONG / 2);
        assertThat(slow.value()).isZero();
        OperationGraph graph = graph();
        long number = named(graph, "slow").number();
        assertThat(new RunExport(graph).json())
                .contains(
                        "{\"timeline\":\"timeline %d\",\"value\":1,\"over\":\"YES\",\"by\":\"slow #%d\",\"text\":\"to be signalled by #%d slow"
                                .formatted(slow.id(), number, number));
        clock.runUntilIdle();
    }

    @Test
    void aTimelineNamedLikeAnotherOrLikeAQueueIsNeither() {
        TimelineSemaphore first = timeline();
        TimelineSemaphore second = timeline();
        TimelineSemaphore third = timeline();
        first.setName("timeline " + second.id());
        third.setName("streams/0");
        Fence all = Fence.join(Fence.at(first, 7), Fence.at(second, 9), Fence.at(third, 50));
        submit(streams, 0, "all", null, all);
        clock.runUntilIdle();
        assertThat(new RunExport(graph()).json())
                .contains("\"signal\":{\"streams/0\":1,\"timeline %d\":7,\"timeline %d\":9,\"timeline %d\":50}"
                        .formatted(first.id(), second.id(), third.id()))
                .contains("\"timeline %d\":{\"label\":\"streams/0\"}".formatted(third.id()));
    }
}
