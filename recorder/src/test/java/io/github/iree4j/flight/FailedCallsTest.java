package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls given up, or with a failed timeline, have their time in a recording, and their failure. */
@Timeout(120)
class FailedCallsTest {
    private static final float[] FOUR = {1, 2, 3, 4};
    private static final long PASSED = 102_000_000;

    private final AtomicLong clock = new AtomicLong();
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
        program = runtime.load(Fixtures.file("3.13.0/cpu-async/add.vmfb"));
        recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::get);
        for (int i = 0; i < 3; i++) {
            program.function("add").invoke(FOUR, FOUR).close();
        }
    }

    @AfterEach
    void close() {
        recorder.close();
        program.close();
        runtime.close();
    }

    /** Makes a call with a wait for a fence; returns once the call's allocation and execution are held back. */
    private CompletableFuture<Results> submitted(Fence after) {
        CompletableFuture<Results> call = program.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR);
        while (true) {
            OperationGraph graph = new OperationGraph(recorder.recording());
            if (graph.operations().stream()
                            .filter(each -> graph.hasEnded(each) == Known.NO && !each.decided.isEmpty())
                            .count()
                    == 2) {
                return call;
            }
            Thread.onSpinWait();
        }
    }

    /** Returns the operations once all have ended, a little after the future of their call. */
    private OperationGraph ended() {
        while (true) {
            OperationGraph graph = new OperationGraph(recorder.recording());
            if (program.monitor().activeCalls() == 0
                    && graph.operations().stream().allMatch(each -> graph.hasEnded(each) == Known.YES)) {
                return graph;
            }
            Thread.onSpinWait();
        }
    }

    private void assertIsAFailedCall(StatusCode status) {
        OperationGraph graph = ended();
        Explanation explanation = new Explanation(graph);
        RecordedCalls.Call call = new RecordedCalls(graph, explanation)
                .all().stream()
                        .filter(each -> each.status() != StatusCode.OK)
                        .findFirst()
                        .orElseThrow();
        String line = explanation.slowest("", 1).getFirst();
        assertThat(line)
                .startsWith("call " + call.number() + " of ")
                .contains("102.000 ms from 0.000 us on = 102.000 ms waiting;")
                .endsWith(", failed with " + status);
        assertThat(explanation.call(call.number(), 100))
                .startsWith(line)
                .anyMatch(each -> each.contains("102.000 ms waiting; failed with " + status))
                .noneMatch(each -> each.contains("signalled by the host"))
                .anyMatch(each -> each.contains("signalled by nobody in the recording"));
        List<String> summary = explanation.summary(100);
        assertThat(summary.getFirst()).contains(" of them with a failure");
        assertThat(summary).contains("failed:").noneMatch(each -> each.contains("signalled by the host"));
        assertThat(summary).anyMatch(each -> each.contains(": 4 calls, 1 of them failed, p50 0.000 us, slowest"));
    }

    @Test
    void aCallGivenUpTookTheTimePassed() {
        try (Timeline timeline = runtime.createTimeline("never");
                Fence after = timeline.at(1)) {
            CompletableFuture<Results> call = submitted(after);
            clock.set(PASSED);
            assertThat(call.cancel(true)).isTrue();
            assertIsAFailedCall(StatusCode.CANCELLED);
        }
    }

    @Test
    void aCallWithAFailedTimelineWasWaitingUpToTheFailure() {
        try (Timeline timeline = runtime.createTimeline("fails");
                Fence after = timeline.at(1)) {
            CompletableFuture<Results> call = submitted(after);
            clock.set(PASSED);
            after.fail(IreeException.of(StatusCode.DATA_LOSS, "given up"));
            assertThat(call).failsWithin(java.time.Duration.ofMinutes(1));
            assertIsAFailedCall(StatusCode.DATA_LOSS);
        }
    }

    /** A call may be late, or cancelled, after its last operation. */
    @Test
    void theEndOfACallWithWellEndedOperationsIsNotKnown() {
        OperationGraph graph = ended();
        Explanation explanation = new Explanation(graph);
        String ends = "how these calls ended for their callers is not recorded, nor are calls without operations";
        assertThat(explanation.summary(100)).containsSequence("calls by function:", "  " + ends);
        assertThat(explanation.slowest("", 100))
                .hasSize(4)
                .endsWith(ends)
                .first()
                .asString()
                .endsWith(" operations that ended well");
        assertThat(explanation.call(graph.operations().getFirst().call(), 100))
                .contains("how the call ended for its caller is not recorded");
    }
}
