package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.flight.FlightEvent.Workgroups;
import io.github.iree4j.flight.RecordedDispatches.Row;
import io.github.iree4j.flight.RecordedDispatches.State;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dispatches below executions: the slow dispatch, the failed dispatch, and the unknown parts. */
@Timeout(120)
class RecordedDispatchesTest {
    private static final long SEED = Effort.seed(20261127);

    private static List<Row> rows(OperationGraph graph, RecordedOperation operation) {
        return new Explanation(graph).dispatches().of(operation);
    }

    private static List<String> lines(OperationGraph graph, RecordedOperation operation) {
        return new Explanation(graph).explain(operation);
    }

    /**
     * All work by workers, as without knowledge of the kernels, or all by the submitter, as with kernels known to be
     * short.
     */
    private static void learn(ClockedKernels kernels, CommandBuffer commands, boolean inline) {
        while (inline && kernels.ran != Thread.currentThread()) {
            kernels.execute(commands);
        }
    }

    private static ClockedKernels kernels(boolean inline) {
        return new ClockedKernels(inline ? CpuOptions.DEFAULTS : CpuOptions.DEFAULTS.inlineWork(Duration.ZERO));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSlowOfTwoDispatchesIsNamedWithItsTimeAndShare(boolean inline) throws IOException {
        try (ClockedKernels kernels = kernels(inline);
                CommandBuffer commands = kernels.commands(ClockedKernels.QUICK, ClockedKernels.SLOW)) {
            learn(kernels, commands, inline);
            try (FlightRecorder recorder = kernels.recorder(1)) {
                kernels.execute(commands);
                assertThat(Thread.currentThread().equals(kernels.ran)).isEqualTo(inline);
                OperationGraph graph = ClockedKernels.everything(recorder);
                RecordedOperation execute = graph.operations().getFirst();
                assertThat(rows(graph, execute))
                        .extracting(Row::export, Row::workgroups, Row::state, Row::duration, Row::workers)
                        .containsExactly(
                                tuple("quick", new Workgroups(1, 1, 1), State.ENDED, 1_000L, 1L),
                                tuple("slow", new Workgroups(1, 1, 1), State.ENDED, 1_000_000L, 1L));
                assertThat(lines(graph, execute))
                        .containsSubsequence(
                                "  dispatches, sampled:",
                                "    1.000 us  quick of 1x1x1, 0.1 % of the time running",
                                "    1.000 ms  slow of 1x1x1, 99.9 % of the time running");
                assertThat(new Explanation(graph).summary(100))
                        .containsSubsequence(
                                "dispatches with the most time, of 1 sampled of 1 executions:",
                                "  1.000 ms  slow: once, p50 1.000 ms, the longest 1.000 ms in operation "
                                        + execute.number(),
                                "  1.000 us  quick: once, p50 1.000 us, the longest 1.000 us in operation "
                                        + execute.number());
            }
        }
    }

    @Test
    void ofFourExecutionsASingleExecutionIsSampledTheFirstOfTheFirstAndLaterAtChangingPlaces() throws IOException {
        assertThat(sampled(4, 40)).containsExactly(0L, 6L, 8L, 15L, 17L, 20L, 26L, 29L, 35L, 38L);
        assertThat(sampled(1, 5)).containsExactly(0L, 1L, 2L, 3L, 4L);
        assertThat(sampled(1000, 5)).containsExactly(0L);
        assertThat(sampled(0, 5)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void executionsWithoutDispatchesAreNeitherSampledNorCounted(int every) throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.commands(ClockedKernels.QUICK);
                Buffer buffer = kernels.device.allocator().allocate(BufferParams.DEFAULT, 64);
                CommandBuffer fills = kernels.device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0);
                FlightRecorder recorder = kernels.recorder(every)) {
            fills.fillBuffer(BufferRef.of(buffer), 1, 4, 0);
            fills.finish();
            for (int i = 0; i < 5; i++) {
                kernels.execute(fills);
                kernels.execute(commands);
            }
            kernels.device.queue(0).fill(null, null, buffer, 0, 64, 1, 4, 0);
            OperationGraph graph = ClockedKernels.everything(recorder);
            assertThat(new Explanation(graph).summary(100))
                    .contains("dispatches with the most time, of %d sampled of 5 executions:"
                            .formatted(every == 1 ? 5 : 1));
            for (int i = 0; i < 10; i += 2) {
                assertThat(lines(graph, graph.operations().get(i))).contains("  dispatches: none");
            }
            assertThat(lines(graph, graph.operations().getLast())).noneMatch(line -> line.contains("dispatches"));
        }
    }

    /** Returns the executions with dispatches, counted from 0. */
    private static List<Long> sampled(int every, int executions) throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.commands(ClockedKernels.QUICK);
                FlightRecorder recorder = kernels.recorder(every)) {
            for (int i = 0; i < executions; i++) {
                kernels.execute(commands);
            }
            OperationGraph graph = ClockedKernels.everything(recorder);
            List<RecordedOperation> all = graph.operations();
            assertThat(all).hasSize(executions);
            for (RecordedOperation each : all) {
                assertThat(lines(graph, each).contains("  dispatches: not sampled"))
                        .isEqualTo(rows(graph, each).isEmpty());
            }
            return LongStream.range(0, executions)
                    .filter(i -> !rows(graph, all.get((int) i)).isEmpty())
                    .boxed()
                    .toList();
        }
    }

    @Test
    void transfersAreNotCountedAsExecutionsWithDispatches() throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                Buffer buffer = kernels.device.allocator().allocate(BufferParams.DEFAULT, 64);
                CommandBuffer transfers = kernels.device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0);
                CommandBuffer commands = kernels.commands(ClockedKernels.QUICK);
                FlightRecorder recorder = kernels.recorder(100)) {
            transfers.fillBuffer(BufferRef.of(buffer), 1, 4, 0);
            transfers.finish();
            kernels.execute(transfers);
            kernels.execute(commands);
            OperationGraph graph = ClockedKernels.everything(recorder);
            assertThat(rows(graph, graph.operations().getFirst())).isEmpty();
            assertThat(rows(graph, graph.operations().getLast())).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofAnExecutionFailingInItsSecondDispatchTheFirstHasATimeAndTheThirdHasNotRun(boolean inline)
            throws IOException {
        try (ClockedKernels kernels = kernels(inline);
                CommandBuffer quick = kernels.commands(ClockedKernels.QUICK);
                CommandBuffer commands =
                        kernels.commands(ClockedKernels.QUICK, ClockedKernels.CUSTOM, ClockedKernels.SLOW)) {
            learn(kernels, commands, inline);
            kernels.custom = () -> {
                kernels.clock.addAndGet(2_000);
                throw IreeException.of(StatusCode.DATA_LOSS, "broken");
            };
            try (FlightRecorder recorder = kernels.recorder(1)) {
                kernels.execute(commands);
                kernels.execute(quick);
                OperationGraph graph = ClockedKernels.everything(recorder);
                assertThat(lines(graph, graph.operations().getFirst()))
                        .containsSubsequence(
                                "  dispatches, sampled:",
                                "    1.000 us  quick of 1x1x1, 33.3 % of the time running",
                                "    2.000 us  custom of 1x1x1, 66.7 % of the time running, failed",
                                "    slow of 1x1x1: not run");
                assertThat(rows(graph, graph.operations().getLast()))
                        .extracting(Row::state)
                        .containsExactly(State.ENDED);
            }
        }
    }

    @Test
    void aHangingDispatchIsNamedAndAnOverwrittenListIsNoClaim() throws Exception {
        CountDownLatch isIn = new CountDownLatch(1);
        CompletableFuture<Void> leave = new CompletableFuture<>();
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands =
                        kernels.commands(ClockedKernels.QUICK, ClockedKernels.CUSTOM, ClockedKernels.SLOW);
                FlightRecorder recorder = kernels.smallRecorder()) {
            kernels.custom = () -> {
                isIn.countDown();
                leave.join();
            };
            try (Fence done = kernels.submit(commands)) {
                isIn.await();
                OperationGraph graph = new OperationGraph(recorder.recording());
                RecordedOperation execute = graph.operations().getFirst();
                assertThat(rows(graph, execute))
                        .extracting(Row::state)
                        .containsExactly(State.ENDED, State.NOT_ENDED, State.NOT_ENDED);
                assertThat(lines(graph, execute)).contains("    custom of 1x1x1: not ended");
                while (recorder.recording().events().stream().anyMatch(FlightEvent.Dispatches.class::isInstance)) {
                    for (int i = 0; i < 2000; i++) {
                        kernels.device.queue(0).barrier(null, null, 0);
                    }
                }
                OperationGraph overwritten = new OperationGraph(recorder.recording());
                RecordedOperation open = overwritten.operation(execute.number());
                assertThat(overwritten.hasEnded(open)).isEqualTo(Known.NO);
                assertThat(lines(overwritten, open)).contains("  dispatches: not known, records are missing");
                leave.complete(null);
                done.await();
            } finally {
                leave.complete(null);
            }
        }
    }

    /** Rings of several threads drop their records at different rates: any record may be missing among others. */
    @Test
    void whateverRecordsAreMissingNothingFalseIsSaid() throws IOException {
        int unknown = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            FlightRecording whole = ClockedKernels.record(seed);
            Map<List<Long>, Row> truth = truth(new OperationGraph(whole));
            Random random = new Random(seed);
            for (int i = 0; i < 10; i++) {
                RecordWords kept = new RecordWords();
                long completeFrom = 0;
                for (int record = 0; record < whole.records().count(); record++) {
                    if (random.nextInt(6) == 0) {
                        completeFrom = whole.records().word(record, 1) + 1;
                    } else {
                        kept.add(whole.records().words(), whole.records().start(record));
                    }
                }
                FlightRecording.Header header = whole.header();
                OperationGraph graph = new OperationGraph(new FlightRecording(
                        new FlightRecording.Header(
                                header.start(),
                                header.frontierCapacity(),
                                header.next(),
                                completeFrom,
                                0,
                                header.taken()),
                        whole.names(),
                        whole.queues(),
                        whole.pools(),
                        kept));
                for (Row each : new Explanation(graph).dispatches().all()) {
                    Row expected = truth.get(List.of(each.operation().number(), (long) each.index()));
                    assertThat(expected).as("seed %d", seed).isNotNull();
                    assertThat(each.export()).isEqualTo(expected.export());
                    if (each.state() == State.UNKNOWN) {
                        unknown++;
                    } else if (graph.hasEnded(each.operation()) == Known.YES) {
                        assertThat(each.state()).as("seed %d, %s", seed, each).isEqualTo(expected.state());
                        assertThat(each.begin()).isEqualTo(expected.begin());
                        assertThat(each.end()).isEqualTo(expected.end());
                    }
                }
            }
        }
        assertThat(unknown).isPositive();
    }

    private static Map<List<Long>, Row> truth(OperationGraph graph) {
        Map<List<Long>, Row> rows = new Explanation(graph)
                .dispatches().all().stream()
                        .collect(Collectors.toMap(
                                each -> List.of(each.operation().number(), (long) each.index()), each -> each));
        assertThat(rows.values()).noneMatch(each -> each.state() == State.UNKNOWN || each.state() == State.NOT_ENDED);
        return rows;
    }

    /** On the machine's clock: several dispatches of a region may be under way at once, no more than there are threads. */
    @Test
    void dispatchesTakeNoMoreTimeThanTheirExecutionForEachThread() throws IOException {
        int workers = 2;
        CpuOptions cpu = CpuOptions.DEFAULTS.workers(workers).inlineWork(Duration.ZERO);
        try (ClockedKernels kernels = new ClockedKernels(cpu);
                FlightRecorder recorder = kernels.smallRecorder()) {
            Random random = new Random(SEED);
            for (int i = 0; i < 50; i++) {
                try (CommandBuffer commands = kernels.device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0)) {
                    for (int dispatch = 1 + random.nextInt(20); dispatch > 0; dispatch--) {
                        kernels.dispatch(commands, ClockedKernels.QUICK, random.nextInt(200));
                        if (random.nextInt(3) == 0) {
                            ClockedKernels.barrier(commands);
                        }
                    }
                    commands.finish();
                    kernels.execute(commands);
                }
            }
            OperationGraph graph = ClockedKernels.everything(recorder);
            int threads = workers + 1; // the submitter helps while waiting
            int compared = 0;
            for (RecordedOperation each : graph.operations()) {
                long sum = 0;
                for (Row row : rows(graph, each)) {
                    assertThat(row.state()).isEqualTo(State.ENDED);
                    assertThat(row.workers()).isBetween(row.workgroups().x() == 0 ? 0L : 1L, (long) threads);
                    assertThat(row.begin()).isBetween(each.beganAt(), row.end());
                    assertThat(row.end()).isLessThanOrEqualTo(each.completedAt());
                    sum += row.duration();
                    compared++;
                }
                assertThat(sum).isLessThanOrEqualTo(threads * (each.completedAt() - each.beganAt()));
            }
            assertThat(compared).isGreaterThan(50);
        }
    }

    @Test
    void workgroupsCountedByABufferAreKnownOnceTheDispatchBegins() throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                Buffer counts = kernels.device
                        .allocator()
                        .allocate(
                                new BufferParams(
                                        BufferParams.DEFAULT.memoryType(),
                                        BufferUsage.DEFAULT | BufferUsage.DISPATCH_INDIRECT_PARAMETERS),
                                12);
                CommandBuffer commands = kernels.device.createCommandBuffer(0, 3, -1, 0);
                FlightRecorder recorder = kernels.recorder(1)) {
            commands.updateBuffer(MemorySegment.ofArray(new int[] {3, 2, 1}), BufferRef.of(counts), 0);
            ClockedKernels.barrier(commands);
            kernels.dispatchIndirect(commands, ClockedKernels.QUICK, counts);
            commands.finish();
            kernels.execute(commands);
            OperationGraph graph = ClockedKernels.everything(recorder);
            FlightEvent.Dispatches list = (FlightEvent.Dispatches) graph.recording().events().stream()
                    .filter(FlightEvent.Dispatches.class::isInstance)
                    .findFirst()
                    .orElseThrow();
            assertThat(list.dispatches().getFirst().workgroups()).hasToString("counts in a buffer");
            assertThat(lines(graph, graph.operations().getFirst())).anyMatch(line -> line.contains("quick of 3x2x1, "));
        }
    }

    @Test
    void ofVeryManyDispatchesTheFirstAreListedAndTheRestCounted() throws IOException {
        try (ClockedKernels kernels = new ClockedKernels();
                CommandBuffer commands = kernels.device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 0);
                FlightRecorder recorder = kernels.recorder(1)) {
            for (int i = 0; i < DispatchSampling.MAXIMUM + 5; i++) {
                kernels.dispatch(commands, ClockedKernels.QUICK, 1);
            }
            commands.finish();
            kernels.execute(commands);
            OperationGraph graph = ClockedKernels.everything(recorder);
            RecordedOperation execute = graph.operations().getFirst();
            assertThat(rows(graph, execute)).hasSize(DispatchSampling.MAXIMUM);
            assertThat(lines(graph, execute)).contains("    (5 more, not listed)");
        }
    }

    @Test
    void theFirstExecutionOfEachFunctionOfEachProgramIsSampled() throws IOException {
        SchedulingDomain domain = SchedulingDomain.create(
                AxisAllocator.create(15, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
        DeviceOptions options = DeviceOptions.builder().schedulingDomain(domain).build();
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Program add = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
                Program chain = runtime.load(Fixtures.file("3.13.0/cpu/chain.vmfb"));
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS.withDispatches(100))) {
            float[] four = {1, 2, 3, 4};
            float[][] square = {four, four, four, four};
            for (int i = 0; i < 3; i++) {
                add.function("add").invoke(four, four).close();
                chain.functions().getFirst().invoke((Object) square).close();
            }
            OperationGraph graph = ClockedKernels.everything(recorder);
            List<Row> all = new Explanation(graph).dispatches().all();
            assertThat(all)
                    .extracting(each -> each.operation().function())
                    .containsOnlyOnce("module.add")
                    .contains("module.chain");
            assertThat(all)
                    .allMatch(
                            each -> each.state() == State.ENDED && each.export().contains("_dispatch_"));
        }
    }

    @Test
    void samplingBeyondItsBoundsIsRefused() {
        for (int wrong : new int[] {-1, RecorderOptions.MAXIMUM_DISPATCHES + 1}) {
            assertThatThrownBy(() -> RecorderOptions.DEFAULTS.withDispatches(wrong))
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("one of %d executions".formatted(wrong));
        }
    }
}
