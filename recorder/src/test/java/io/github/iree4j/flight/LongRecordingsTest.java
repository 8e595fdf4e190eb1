package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A recorder left open for months, while programs, functions and devices come and go. */
@Timeout(120)
class LongRecordingsTest {
    private static final int MANY = 3 * Definitions.MAXIMUM_NAMES;
    private static final String NOT_KEPT = "(more names than a recording keeps)";

    @TempDir
    Path folder;

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
    private final VirtualDevice device = device();

    private VirtualDevice device() {
        return VirtualDevice.builder()
                .clock(clock)
                .schedulingDomain(domain)
                .fifoQueues(1)
                .memoryLimit(64 << 10)
                .build();
    }

    @AfterEach
    void close() {
        device.close();
        tracker.close();
    }

    private FlightRecorder recorder(RecorderOptions options) throws IOException {
        return FlightRecorder.open(domain, options, clock::now);
    }

    private static void call(String program, String function, Runnable work) {
        MemoryHolder call = new MemoryHolder(function, new OperationsUnderWay(program));
        MemoryHolder before = call.enter();
        try {
            work.run();
        } finally {
            call.leave(before);
        }
    }

    /** Calls functions, each once, and each of a separate program. */
    private void callFunctions(int first, int count) {
        for (int i = first; i < first + count; i++) {
            call("program " + i, "function " + i, () -> device.queue(0).barrier(null, null, 0));
            clock.runUntilIdle();
        }
    }

    private static List<String> functions(OperationGraph graph) {
        return graph.operations().stream()
                .map(RecordedOperation::function)
                .filter(each -> !each.isEmpty())
                .toList();
    }

    private FlightRecording reread(FlightRecording recording) throws IOException {
        Path file = folder.resolve("again.iree4j");
        recording.write(file);
        return FlightRecording.read(file);
    }

    @Test
    void aRecordingNamesTheFunctionsCalledLastAndNoFunctionByTheNameOfAnother() throws IOException {
        try (FlightRecorder recorder = recorder(RecorderOptions.DEFAULTS.withBytes(64 << 20))) {
            callFunctions(0, MANY);
            FlightRecording recording = recorder.recording();
            for (FlightRecording each : List.of(recording, reread(recording))) {
                OperationGraph graph = new OperationGraph(each);
                List<RecordedOperation> all = graph.operations();
                assertThat(all).hasSize(MANY);
                int whole = 0;
                for (int i = 0; i < MANY; i++) {
                    RecordedOperation operation = all.get(i);
                    if (graph.isWhole(operation)) {
                        whole++;
                        assertThat(operation.name()).isEqualTo("barrier");
                        assertThat(operation.function()).isEqualTo("function " + i);
                    } else if (i < MANY - Definitions.MAXIMUM_NAMES + 10) {
                        assertThat(operation.name()).isIn("barrier", NOT_KEPT);
                        assertThat(operation.function()).isIn("function " + i, NOT_KEPT);
                    } else {
                        assertThat(operation.function()).isEqualTo("function " + i);
                    }
                }
                assertThat(whole).isBetween(Definitions.MAXIMUM_NAMES / 2 - 10, Definitions.MAXIMUM_NAMES * 2);
            }
        }
    }

    @Test
    void aFileNamesAllFunctions() throws IOException {
        Path file = folder.resolve("all.iree4j");
        try (FlightRecorder recorder =
                recorder(RecorderOptions.DEFAULTS.withBytes(64 << 20).withFile(file, 256 << 20))) {
            for (int i = 0; i < MANY; i += MANY / 6) {
                long written = recorder.statistics().fileBytes();
                callFunctions(i, MANY / 6);
                clock.runUntil(clock.now() + 2_000_000_000L);
                device.queue(0).barrier(null, null, 0);
                while (recorder.statistics().fileBytes() == written) {
                    Thread.onSpinWait(); // the writing thread
                }
            }
        }
        OperationGraph graph = new OperationGraph(FlightRecording.read(file));
        List<String> functions = functions(graph);
        assertThat(functions).hasSize(MANY);
        for (int i = 0; i < MANY; i++) {
            assertThat(functions.get(i)).isEqualTo("function " + i);
        }
        assertThat(graph.operations()).allMatch(graph::isWhole);
    }

    @Test
    void aFileFullLongAgoNamesTheHangingFunction() throws IOException {
        Path file = folder.resolve("full.iree4j");
        try (TimelineSemaphore upload = TimelineSemaphore.create(0);
                Fence never = Fence.at(upload, 1)) {
            try (FlightRecorder recorder =
                    recorder(RecorderOptions.DEFAULTS.withFile(file, RecorderOptions.MINIMUM_BYTES))) {
                callFunctions(0, MANY / 6);
                clock.runUntil(clock.now() + 2_000_000_000L);
                device.queue(0).barrier(null, null, 0);
                while (recorder.statistics().fileDropped() == 0) {
                    Thread.onSpinWait(); // the writing thread
                }
                callFunctions(MANY / 6, MANY);
                call("search", "find", () -> device.queue(0).barrier(never, null, 0));
            }
            FlightRecording read = FlightRecording.read(file);
            List<String> functions = functions(new OperationGraph(read));
            assertThat(functions.subList(0, 2)).containsExactly("function 0", "function 1");
            assertThat(functions.getLast()).isEqualTo("find");
            assertThat(functions(new OperationGraph(reread(read)))).isEqualTo(functions);
            upload.signal(1);
            clock.runUntilIdle();
        }
    }

    @Test
    void memoryOfMoreDevicesThanARecordingKeepsIsOfNoOtherDevice() throws IOException {
        try (FlightRecorder recorder = recorder(RecorderOptions.DEFAULTS)) {
            for (int i = 0; i < Definitions.MAXIMUM_POOLS + 10; i++) {
                try (VirtualDevice each = device()) {
                    each.allocator().allocate(BufferParams.DEFAULT, 64).close();
                }
            }
            FlightRecording recording = recorder.recording();
            List<FlightEvent.Reserved> reserved = recording.events().stream()
                    .filter(FlightEvent.Reserved.class::isInstance)
                    .map(FlightEvent.Reserved.class::cast)
                    .toList();
            assertThat(reserved).hasSizeGreaterThan(Definitions.MAXIMUM_POOLS);
            RecordedPool first = recording.pools().get(reserved.getFirst().pool());
            RecordedPool last = recording.pools().get(reserved.getLast().pool());
            assertThat(first.name()).doesNotContain("more");
            assertThat(last.name()).isEqualTo("(more pools than a recording keeps)");
            assertThat(recording.pools().stream().filter(each -> each.set() == last.set()))
                    .containsExactly(last);
        }
    }

    /** A server short of memory, with a call for each request. Looking at all requests for each took minutes. */
    @Test
    void problemsOfManyCallsWaitingForMemoryAreFoundInSeconds() throws IOException {
        List<VirtualDevice> devices = new ArrayList<>();
        List<Buffer> buffers = new ArrayList<>();
        try (FlightRecorder recorder = recorder(RecorderOptions.DEFAULTS.withBytes(64 << 20))) {
            for (int i = 0; i < 50; i++) { // few requests of each: the pools compare the requests in line
                VirtualDevice each = device();
                devices.add(each);
                buffers.add(each.allocator().allocate(BufferParams.DEFAULT, 64 << 10));
                for (int k = 0; k < 1000; k++) {
                    call(
                            "server",
                            "find",
                            () -> buffers.add(each.queue(0).alloca(null, null, BufferParams.DEFAULT, 4096, 0)));
                }
                clock.runUntilIdle();
            }
            Explanation explanation = new Explanation(new OperationGraph(recorder.recording()));
            long begin = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            List<RecordedProblem> problems = explanation.allProblems();
            long time = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begin;
            assertThat(problems)
                    .hasSize(50)
                    .allSatisfy(each -> assertThat(each.summary())
                            .contains("1000 operations; memory is held by no program with 65536 bytes"));
            assertThat(time).isLessThan(6_000_000_000L);
        } finally {
            buffers.forEach(Buffer::close);
            clock.runUntilIdle();
            devices.forEach(VirtualDevice::close);
        }
    }

    @Test
    void theFirstExecutionOfEachFunctionIsSampledHoweverManyCameBefore() throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.commands(ClockedKernels.QUICK);
                FlightRecorder recorder = kernels.recorder(1000)) {
            for (int i = 0; i < 5000; i++) {
                call("program " + i, "main", () -> kernels.execute(commands));
            }
            OperationGraph graph = ClockedKernels.everything(recorder);
            RecordedDispatches dispatches = new Explanation(graph).dispatches();
            assertThat(graph.operations().size()).isGreaterThan(1000);
            assertThat(graph.operations().stream()
                            .filter(each -> dispatches.of(each).isEmpty()))
                    .isEmpty();
        }
    }

    @Test
    void aFunctionInUseIsCountedOnHoweverManyFunctionsAreExecutedOnce() throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.commands(ClockedKernels.QUICK);
                FlightRecorder recorder = kernels.recorder(RecorderOptions.MAXIMUM_DISPATCHES)) {
            for (int i = 0; i < 10_000; i++) {
                call("program " + i, "main", () -> kernels.execute(commands));
                if (i % 100 == 0) {
                    call("search", "find", () -> kernels.execute(commands));
                }
            }
            OperationGraph graph = ClockedKernels.everything(recorder);
            RecordedDispatches dispatches = new Explanation(graph).dispatches();
            assertThat(graph.operations().stream()
                            .filter(each -> each.function().equals("find"))
                            .skip(1))
                    .hasSizeGreaterThan(10)
                    .allSatisfy(each -> assertThat(dispatches.of(each)).isEmpty());
        }
    }
}
