package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Recordings of compiled programs on the CPU, called by several threads. Each operation finds its waits reached, which
 * tells the order whatever the threads do, so there are no differences.
 */
@Timeout(300)
class RecordingUnderLoadTest {
    @TempDir
    Path folder;

    private static void onThreads(int threads, Callable<Void> task) throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Future<Void>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                all.add(pool.submit(task));
            }
            for (Future<Void> each : all) {
                each.get();
            }
        }
    }

    private FlightRecording load(int calls) throws Exception {
        Path file = folder.resolve("load.iree4j");
        FlightRecorder recorder =
                FlightRecorder.open(SchedulingDomain.ofProcess(), RecorderOptions.DEFAULTS.withFile(file, 64 << 20));
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.11.0/cpu/add.vmfb"))) {
            ProgramFunction function = program.functions().getFirst();
            onThreads(4, () -> {
                for (int i = 0; i < calls; i++) {
                    try (Tensor input = Tensor.of(new float[] {1, 2, 3, 4}, 4);
                            Results results = function.invoke(input, input)) {
                        assertThat(results.asList()).isNotEmpty();
                    }
                }
                return null;
            });
        } finally {
            recorder.close();
        }
        return FlightRecording.read(file);
    }

    @Test
    void recordingUnderLoadIsReplayedWithTheSameFrontiersAndDecisions() throws Exception {
        FlightRecording recording = load(50);
        Replay replay = Replay.of(recording);
        assertThat(replay.toString()).endsWith("no differences");
        assertThat(replay.frontiers()).isGreaterThan(100);
        assertThat(replay.leftOut()).isZero();
        if (System.getProperty("iree4j.recording") instanceof String target) {
            recording.write(Path.of(target)); // for the tests of other modules
        }
        OperationGraph graph = new OperationGraph(recording);
        System.out.printf(
                "bytes of an operation with memory, of calls on the CPU: %d%n",
                (long) recording.records().size()
                        * Long.BYTES
                        / graph.operations().size());
        LongestPath.assertIsCriticalPath(recording, "under load");
        assertThat(recording.events()).anyMatch(event -> event instanceof FlightEvent.Reserved);
        assertThat(graph.operations()).anyMatch(each -> !each.function().isEmpty());
    }

    /** A recording can be taken between any two records, for example between the completion of an operation and its signals. */
    @Test
    void recordingEndingAnywhereIsReplayed() throws Exception {
        FlightRecording whole = load(10);
        for (int length = 1; length < whole.records().count(); length++) {
            FlightRecording part = new FlightRecording(
                    whole.header(),
                    whole.names(),
                    whole.queues(),
                    whole.pools(),
                    whole.records().first(length));
            assertThat(Replay.of(part).toString()).as("%d records", length).endsWith("no differences");
        }
    }

    /** A recording is taken over many records, while calls begin and end. */
    @Test
    void noCallUnderLoadWaitsForASignalOfNobody() throws Exception {
        try (FlightRecorder recorder = FlightRecorder.open(SchedulingDomain.ofProcess(), RecorderOptions.DEFAULTS);
                IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.13.0/cpu-async/dynamic_add.vmfb"));
                Tensor input = Tensor.of(new float[100_000], 100_000)) {
            ProgramFunction function = program.functions().getFirst();
            while (recorder.statistics().completeFrom() == 0) { // copying takes longest
                function.invoke(new float[1], new float[1]).close();
            }
            AtomicBoolean over = new AtomicBoolean();
            try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
                for (int i = 0; i < 2; i++) {
                    pool.execute(() -> {
                        while (!over.get()) {
                            function.invokeAsync(input, input).join().close();
                        }
                    });
                }
                try {
                    for (int i = 0; i < Effort.rounds(40); i++) {
                        assertThat(new Explanation(new OperationGraph(recorder.recording())).problems())
                                .as("recording %d", i)
                                .isEmpty();
                    }
                } finally {
                    over.set(true);
                }
            }
        }
    }

    /** Results are closed by the host: in all, the calls take many times the memory of the device. */
    @ParameterizedTest
    @ValueSource(longs = {RecorderOptions.MINIMUM_BYTES, 64 << 20})
    void recordingOfLargeResultsUnderLoadIsForecast(long ring) throws Exception {
        FlightRecording recording;
        try (FlightRecorder recorder =
                        FlightRecorder.open(SchedulingDomain.ofProcess(), RecorderOptions.DEFAULTS.withBytes(ring));
                IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file("3.13.0/cpu/dynamic_add.vmfb"));
                Tensor input = Tensor.of(new float[100_000], 100_000)) {
            ProgramFunction function = program.functions().getFirst();
            onThreads(4, () -> {
                for (int i = 0; i < 400; i++) {
                    function.invoke(input, input).close();
                }
                return null;
            });
            recording = recorder.recording();
        }
        assertThat(recording.header().completeFrom() > 0).isEqualTo(ring == RecorderOptions.MINIMUM_BYTES);
        Forecast forecast = Forecast.of(recording, new Forecast.Hardware(0, 2, 100));
        assertThat(forecast.notEnded()).as("%s", forecast).isZero();
        assertThat(forecast.isWhole()).as("%s", forecast).isTrue();
    }

    /**
     * The recorder is opened among calls, its ring is too small for them, and then the runtime is closed under them.
     */
    @Test
    void recordingWithoutABeginningOrAnEndIsReplayed() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        FlightRecording before;
        FlightRecording after;
        IreeRuntime runtime = IreeRuntime.create();
        try (ExecutorService pool = Executors.newFixedThreadPool(4)) {
            Program program = runtime.load(Fixtures.file("3.11.0/cpu/add.vmfb"));
            ProgramFunction function = program.functions().getFirst();
            List<Future<IreeException>> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                callers.add(pool.submit(() -> {
                    while (true) {
                        try (Tensor input = Tensor.of(new float[] {1, 2, 3, 4}, 4);
                                Results results = function.invoke(input, input)) {
                            assertThat(results.asList()).isNotEmpty();
                            calls.incrementAndGet();
                        } catch (IreeException e) {
                            return e;
                        }
                    }
                }));
            }
            try (FlightRecorder recorder = FlightRecorder.open(
                    SchedulingDomain.ofProcess(), RecorderOptions.DEFAULTS.withBytes(RecorderOptions.MINIMUM_BYTES))) {
                while (recorder.statistics().completeFrom() == 0) {
                    Thread.onSpinWait();
                }
                do { // the ring may have gone round just now, and have nothing whole
                    before = recorder.recording();
                } while (Replay.of(before).operations() == 0);
                runtime.close();
                for (Future<IreeException> each : callers) {
                    assertThat(each.get().code())
                            .isIn(StatusCode.ABORTED, StatusCode.FAILED_PRECONDITION, StatusCode.CANCELLED);
                }
                after = recorder.recording();
            }
            program.close();
        } finally {
            runtime.close();
        }
        for (FlightRecording each : List.of(before, after)) {
            Replay replay = Replay.of(each);
            assertThat(replay.toString()).endsWith("no differences");
            assertThat(replay.frontiers()).as("%s", replay).isGreaterThanOrEqualTo(replay.operations() / 2);
            System.out.println("without a beginning or an end: " + replay);
            assertThat(new Explanation(new OperationGraph(each)).summary(100)).isNotEmpty();
        }
    }

    @Test
    void workSubmittedByThreadsToTheSameQueueAtOnceIsReplayed() throws Exception {
        FlightRecorder recorder = FlightRecorder.open(SchedulingDomain.ofProcess(), RecorderOptions.DEFAULTS);
        try (IreeRuntime runtime = IreeRuntime.create()) {
            DeviceQueue queue = runtime.device().queue(0);
            List<TimelineSemaphore> shared = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                shared.add(TimelineSemaphore.create(0));
            }
            onThreads(4, () -> {
                TimelineSemaphore own = TimelineSemaphore.create(0);
                synchronized (shared) {
                    shared.add(own);
                }
                for (int i = 1; i <= 200; i++) {
                    TimelineSemaphore other;
                    synchronized (shared) {
                        other = shared.get(ThreadLocalRandom.current().nextInt(shared.size()));
                    }
                    boolean joins = i > 1 && other != own && other.value() > 0;
                    try (Fence signal = Fence.at(own, i);
                            Fence before = Fence.at(own, Math.max(1, i - 1));
                            Fence foreign = Fence.at(joins ? other : own, joins ? other.value() : Math.max(1, i - 1))) {
                        Fence wait = i == 1 ? null : Fence.join(before, foreign);
                        queue.barrier(wait, signal, 0);
                        if (wait != null) {
                            wait.close();
                        }
                    }
                }
                own.await(200);
                return null;
            });
            recorder.close();
            Replay replay = Replay.of(recorder.recording());
            assertThat(replay.toString()).endsWith("no differences");
            assertThat(replay.operations()).isEqualTo(800);
            shared.forEach(TimelineSemaphore::close);
        } finally {
            recorder.close();
        }
    }
}
