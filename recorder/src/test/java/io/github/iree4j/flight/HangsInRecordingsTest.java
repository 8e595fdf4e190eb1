package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hanging operations, of any age, among random work: recordings name exactly these, whatever the rings have dropped,
 * and never an ended operation. The truth is read off the timelines: each operation signals a separate point.
 */
@Tag("long")
@Timeout(600)
class HangsInRecordingsTest {
    private static final int ROUNDS = Effort.rounds(16, 200);
    private static final long SEED = Effort.seed(HangsInRecordingsTest.class, ROUNDS + " rounds", 20261126);

    @TempDir
    Path folder;

    /**
     * Random work, and operations that wait for a value of no signaller, or for such an operation, or for the host.
     * Some end after all, of any age: they get their signal, or fail, and so do their waiters.
     */
    private static final class Work implements AutoCloseable {
        final Random random;
        final RandomWork healthy;
        final TimelineSemaphore never = TimelineSemaphore.create(0);
        final List<TimelineSemaphore> timelines = new ArrayList<>(); // of the hanging operations, or with them
        private final List<TimelineSemaphore> gates = new ArrayList<>(); // awaited by some, not decided yet
        private final List<HostCallCompletion> calls = new ArrayList<>(); // not completed
        private final List<AutoCloseable> opened = new ArrayList<>();
        long released;
        long failed;

        Work(long seed) {
            random = new Random(seed);
            healthy = new RandomWork(seed, 64 << 10);
        }

        void hang() {
            TimelineSemaphore own = TimelineSemaphore.create(0);
            Fence wait = random.nextInt(3) == 0 || timelines.isEmpty()
                    ? Fence.at(never, 1 + random.nextInt(3))
                    : Fence.at(random.nextBoolean() ? gate() : timelines.get(random.nextInt(timelines.size())), 1);
            Fence signal = Fence.at(own, 1);
            timelines.add(own);
            opened.addAll(List.of(wait, signal));
            DeviceQueue queue = healthy.queues.get(random.nextInt(healthy.queues.size()));
            if (random.nextInt(3) == 0) {
                queue.deferredHostCall(null, signal, calls::add);
            } else {
                queue.barrier(wait, signal, 0);
            }
        }

        private TimelineSemaphore gate() {
            TimelineSemaphore gate = TimelineSemaphore.create(0);
            gates.add(gate);
            opened.add(gate);
            return gate;
        }

        /** Ends a hanging operation, in any of four ways. */
        void release() {
            IreeException cause = IreeException.of(StatusCode.DEADLINE_EXCEEDED, "given up");
            boolean fails = random.nextBoolean();
            if (random.nextBoolean() && !calls.isEmpty()) {
                HostCallCompletion call = calls.remove(random.nextInt(calls.size()));
                if (fails) {
                    call.fail(cause);
                } else {
                    call.complete();
                }
            } else if (!gates.isEmpty()) {
                TimelineSemaphore gate = gates.remove(random.nextInt(gates.size()));
                if (fails) {
                    gate.fail(cause);
                } else {
                    gate.signal(1);
                }
            } else {
                return;
            }
            failed += fails ? 1 : 0;
            released += fails ? 0 : 1;
        }

        /** The points not reached yet. */
        Set<FlightEvent.Point> open() {
            Map<Long, TimelineSemaphore> byId = new HashMap<>();
            healthy.timelines.forEach(each -> byId.put(each.id(), each));
            Set<FlightEvent.Point> open = healthy.signalled.keySet().stream()
                    .filter(each -> byId.get(each.timeline()).value() < each.value())
                    .collect(Collectors.toCollection(HashSet::new));
            timelines.stream()
                    .filter(each -> each.value() < 1 && each.failure() == null)
                    .forEach(each -> open.add(new FlightEvent.Point(each.id(), 1)));
            return open;
        }

        @Override
        public void close() {
            healthy.close();
            for (AutoCloseable each : opened) {
                try {
                    each.close();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
            timelines.forEach(TimelineSemaphore::close);
            never.close();
        }
    }

    private static Set<FlightEvent.Point> signals(OperationGraph graph, Known ended) {
        return graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == ended)
                .flatMap(each -> each.submitted.signals().stream())
                .collect(Collectors.toSet());
    }

    /** Checks a recording's claims, and returns the number of waits reported as ended by nobody in the recording. */
    private static long assertIsTrue(FlightRecording recording, Work work, long seed) {
        OperationGraph graph = new OperationGraph(recording);
        Set<FlightEvent.Point> open = work.open();
        assertThat(signals(graph, Known.NO)).as("seed %d", seed).isEqualTo(open);
        List<String> summary = new Explanation(graph).summary(Integer.MAX_VALUE);
        assertThat(summary.contains("not ended:")).isEqualTo(!open.isEmpty());
        List<String> named = summary.stream()
                .skip(open.isEmpty() ? summary.size() : summary.indexOf("not ended:"))
                .filter(line -> line.startsWith("  #"))
                .toList();
        assertThat(named)
                .as("seed %d: %s", seed, summary)
                .hasSameSizeAs(open)
                .allMatch(line -> line.contains(": submitted at "));
        List<String> waits = summary.stream()
                .filter(line -> line.contains("timeline " + work.never.id() + " at "))
                .toList();
        assertThat(waits).as("seed %d", seed).allMatch(line -> line.contains("signalled by nobody in the recording"));
        return waits.size();
    }

    @Test
    void exactlyTheHangingOperationsAreNamedHoweverOld() throws IOException {
        long overwritten = 0;
        long unknown = 0;
        long byNobody = 0;
        long released = 0;
        long failed = 0;
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Path file = folder.resolve("hangs.iree4j");
            FlightRecording atEnd;
            try (Work work = new Work(seed)) {
                long least = RecorderOptions.MINIMUM_BYTES << work.random.nextInt(4);
                RecorderOptions options = RecorderOptions.DEFAULTS.withBytes(least + work.random.nextLong(least));
                FlightRecorder recorder = FlightRecorder.open(
                        work.healthy.domain, options.withFile(file, 64 << 20), work.healthy.clock::now);
                work.hang();
                for (int i = 120 + work.random.nextInt(100); i >= 0; i--) {
                    if (work.random.nextInt(10) == 0) {
                        work.hang();
                    }
                    if (work.random.nextInt(5) == 0) {
                        work.healthy.begin(work.random.nextInt(100));
                        byNobody += assertIsTrue(recorder.recording(), work, seed); // amid work
                    }
                    work.healthy.run(work.random.nextInt(100));
                    if (work.random.nextInt(6) == 0) {
                        work.release();
                        work.healthy.clock.runUntilIdle();
                        byNobody += assertIsTrue(recorder.recording(), work, seed);
                    }
                }
                work.hang();
                byNobody += assertIsTrue(recorder.recording(), work, seed);
                OperationGraph graph = new OperationGraph(recorder.recording());
                overwritten += graph.operations().stream()
                        .filter(each -> !each.isRecorded())
                        .count();
                unknown += signals(graph, Known.UNKNOWN).size();
                released += work.released;
                failed += work.failed;
                recorder.close();
                atEnd = FlightRecording.read(file);
                byNobody += assertIsTrue(atEnd, work, seed);
                assertThat(FlightRecording.salvage(cut(file, work.random))
                                .header()
                                .completeFrom())
                        .as("nothing was dropped before the cut")
                        .isZero();
            }
        }
        System.out.printf(
                "hangs: %d with their records overwritten, %d operations of unknown end, %d waits for a value of"
                        + " nobody, %d ended and %d failed after all%n",
                overwritten, unknown, byNobody, released, failed);
        assertThat(released).isPositive();
        assertThat(failed).isPositive();
        assertThat(overwritten).isPositive();
        assertThat(byNobody).isPositive();
    }

    @Test
    void workWithAPossiblyLostEndIsNotNamed() throws IOException {
        try (Work work = new Work(SEED);
                FlightRecorder recorder =
                        FlightRecorder.open(work.healthy.domain, RecorderOptions.DEFAULTS, work.healthy.clock::now)) {
            work.hang();
            work.healthy.begin(40);
            FlightRecording recording = recorder.recording();
            RecordWords unlisted = new RecordWords();
            for (int i = 0; i < recording.records().count(); i++) {
                if (RecordType.type(recording.records().word(i, 0)) != RecordType.OPEN) {
                    unlisted.add(
                            recording.records().words(), recording.records().start(i));
                }
            }
            for (long from : new long[] {0, recording.header().next()}) {
                FlightRecording.Header header = recording.header();
                OperationGraph graph = new OperationGraph(new FlightRecording(
                        new FlightRecording.Header(
                                header.start(),
                                header.frontierCapacity(),
                                header.next(),
                                from,
                                header.dropped(),
                                header.taken()),
                        recording.names(),
                        recording.queues(),
                        recording.pools(),
                        unlisted));
                assertThat(signals(graph, from == 0 ? Known.NO : Known.UNKNOWN)).isEqualTo(work.open());
                List<String> summary = new Explanation(graph).summary(Integer.MAX_VALUE);
                assertThat(summary.contains("not ended:")).isEqualTo(from == 0);
                assertThat(summary.contains(
                                work.open().size() + " operations may have ended: their records are missing"))
                        .isEqualTo(from > 0);
            }
        }
    }

    /** The file of a process ended without closing the recorder. */
    private static Path cut(Path file, Random random) throws IOException {
        byte[] all = Files.readAllBytes(file);
        Path cut = file.resolveSibling("cut.iree4j");
        Files.write(cut, java.util.Arrays.copyOf(all, all.length / 2 + random.nextInt(all.length / 2)));
        return cut;
    }
}
