package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A call with some operations without records is not shown as whole: neither by a full file, nor by a full ring. */
@Timeout(120)
class CallsInPartTest {
    private static final String EARLIER = "calls that began before may have taken longer, or failed";
    private static final String LATER = "later records are missing: calls may have taken longer, or failed";

    @TempDir
    Path folder;

    private final VirtualClock clock = VirtualClock.stepped();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(3, 0), FrontierTracker.create(), 12);
    private final VirtualDevice device = VirtualDevice.builder()
            .id("gpu")
            .clock(clock)
            .schedulingDomain(domain)
            .script(new VirtualScript() {
                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return operation.name().startsWith("slow") ? 5_000_000_000L : 1000;
                }

                @Override
                public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                    return operation.name().equals("slow failure")
                            ? IreeException.of(StatusCode.INTERNAL, "the kernel failed")
                            : null;
                }
            })
            .fifoQueues(1)
            .build();
    private MemoryHolder call = new MemoryHolder("m.f", new OperationsUnderWay());
    private final TimelineSemaphore ofCall = TimelineSemaphore.create(0);
    private final TimelineSemaphore ofOthers = TimelineSemaphore.create(0);

    /** Runs an operation of the call. */
    private void run(String name, long signal) {
        MemoryHolder before = call.enter();
        device.submit(0, null, Fence.at(ofCall, signal), new VirtualOperation(name));
        call.leave(before);
        clock.runUntilIdle();
    }

    /** Runs operations of no call, more than the smallest ring or file holds. */
    private void runOthers() {
        for (int i = 1; i <= 8000; i++) {
            device.submit(0, null, Fence.at(ofOthers, i), new VirtualOperation("other"));
            clock.runUntilIdle();
        }
    }

    private static String trace(OperationGraph graph) throws IOException {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        ExportFormat.TRACE.write(graph, target);
        return target.toString(StandardCharsets.UTF_8);
    }

    private void assertSays(OperationGraph graph, String caveat) throws IOException {
        Explanation explanation = new Explanation(graph);
        for (List<String> lines :
                List.of(explanation.summary(100), explanation.slowest("", 3), explanation.call(call.number(), 100))) {
            assertThat(lines).anyMatch(line -> line.endsWith(caveat));
        }
        assertThat(trace(graph))
                .contains(caveat + "\",")
                .containsOnlyOnce("how these calls ended for their callers is not recorded");
    }

    @Test
    void aFullFileDoesNotKnowHowCallsEnded() throws IOException {
        Path file = folder.resolve("full.iree4j");
        RecorderOptions options = new RecorderOptions(64 << 20, file, RecorderOptions.MINIMUM_BYTES, 0);
        FlightRecorder recorder = FlightRecorder.open(domain, options, clock::now);
        call = new MemoryHolder("m.f", new OperationsUnderWay()); // within the recording
        run("early", 1);
        runOthers();
        run("slow failure", 2);
        recorder.close();
        OperationGraph graph = new OperationGraph(FlightRecording.read(file));
        assertThat(graph.recording().header().completeFrom()).isZero();
        Explanation explanation = new Explanation(graph);
        assertThat(new RecordedCalls(graph, explanation).all())
                .singleElement()
                .extracting(RecordedCalls.Call::hasEnded)
                .isEqualTo(Known.UNKNOWN);
        assertThat(explanation.slowest("", 100)).first().isEqualTo("1 call not known to have ended");
        assertThat(explanation.call(call.number(), 100)).noneMatch(line -> line.contains("that ended well"));
        assertThat(explanation.summary(100))
                .anyMatch(line -> line.endsWith("m.f: 1 call, 1 of them not known to have ended"))
                .anyMatch(line -> line.endsWith(
                        " later records are missing: ends of operations, and later operations, may be among these"))
                .anyMatch(line -> line.startsWith("critical path: ")
                        && line.endsWith(", and perhaps later ones: the records are missing"));
        assertThat(graph.mayLackLater()).isTrue();
        assertSays(graph, LATER);
    }

    @Test
    void aFullRingDoesNotKnowHowCallsBegan() throws IOException {
        try (FlightRecorder recorder = FlightRecorder.open(
                domain, RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES), clock::now)) {
            run("slow", 1);
            runOthers();
            run("last", 2);
            assertSays(new OperationGraph(recorder.recording()), EARLIER);
        }
    }
}
