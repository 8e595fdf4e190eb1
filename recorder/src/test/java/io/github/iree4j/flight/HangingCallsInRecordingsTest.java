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
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Hanging calls on the CPU, of any age, among ending calls; some are cancelled, or reach their deadline, or get their
 * signal or a failure of it. Recordings name the timelines awaited by the other calls, and no others, whatever the ring
 * has dropped.
 */
@Tag("long")
@Timeout(600)
class HangingCallsInRecordingsTest {
    private static final int ROUNDS = Effort.rounds(8, 100);
    private static final long SEED = Effort.seed(HangingCallsInRecordingsTest.class, ROUNDS + " rounds", 20261127);
    private static final int STEPS = 60;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);
    private static final float[] FOUR = {1, 2, 3, 4};

    /** A call with a wait for its timeline. */
    private record Hanging(Timeline timeline, Fence after, CompletableFuture<Results> call) {
        long id() {
            return timeline.semaphore().id();
        }

        void close() {
            after.close();
            timeline.close();
        }
    }

    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(14, 0), FrontierTracker.create(), Frontier.DEFAULT_CAPACITY);
    private final List<Hanging> hanging = new ArrayList<>();
    private final Set<Long> unsignalled = new TreeSet<>(); // timelines given up

    @Test
    void exactlyTheHangingCallsAreNamedHoweverOld() throws IOException {
        int recordings = 0;
        int givenUp = 0;
        for (long seed = SEED; seed < SEED + ROUNDS; seed++) {
            Random random = new Random(seed);
            long least = RecorderOptions.MINIMUM_BYTES << random.nextInt(3);
            RecorderOptions options = RecorderOptions.DEFAULTS.withBytes(least + random.nextLong(least));
            try (IreeRuntime runtime = IreeRuntime.builder()
                            .device(
                                    "local",
                                    "local://",
                                    DeviceOptions.builder()
                                            .schedulingDomain(domain)
                                            .build())
                            .build();
                    Program inOrder = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
                    Program fences = runtime.load(Fixtures.file("3.13.0/cpu-async/add.vmfb"));
                    FlightRecorder recorder = FlightRecorder.open(domain, options)) {
                for (int step = 0; step < STEPS; step++) {
                    Program program = random.nextBoolean() ? inOrder : fences;
                    switch (random.nextInt(6)) {
                        case 0 -> hang(runtime, program, step);
                        case 1 -> givenUp += end(random);
                        case 2 -> {
                            assertIsTrue(recorder, "seed %d, step %d".formatted(seed, step));
                            recordings++;
                        }
                        default -> {
                            for (int i = random.nextInt(200); i > 0; i--) {
                                program.function("add").invoke(FOUR, FOUR).close();
                            }
                        }
                    }
                }
                while (!hanging.isEmpty()) {
                    givenUp += end(random);
                }
                assertIsTrue(recorder, "seed %d, at the end".formatted(seed));
            }
        }
        System.out.printf("hanging calls: %d recordings true, %d calls given up%n", recordings, givenUp);
        assertThat(givenUp).isPositive();
    }

    private void hang(IreeRuntime runtime, Program program, int step) {
        Timeline timeline = runtime.createTimeline("step-" + step);
        Fence after = timeline.at(1);
        hanging.add(new Hanging(
                timeline, after, program.function("add").call(CallOptions.DEFAULTS.after(after), FOUR, FOUR)));
    }

    /** Ends a call in any of four ways; returns 1 for a call given up, else 0. */
    private int end(Random random) {
        if (hanging.isEmpty()) {
            return 0;
        }
        Hanging one = hanging.remove(random.nextInt(hanging.size()));
        int way = random.nextInt(4);
        switch (way) {
            case 0 -> one.call.cancel(true);
            case 1 -> one.call.orTimeout(1, TimeUnit.MILLISECONDS);
            case 2 -> one.after.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            default -> one.after.signal();
        }
        if (way < 3) {
            unsignalled.add(one.id());
        }
        try {
            one.call.join().close();
        } catch (CompletionException | java.util.concurrent.CancellationException e) {
            assertThat(way).isLessThan(3);
        }
        one.close();
        return way < 3 ? 1 : 0;
    }

    /** Checks recordings until the calls ended a moment ago have ended in a recording, too. */
    private void assertIsTrue(FlightRecorder recorder, String what) {
        Set<Long> expected = new TreeSet<>();
        hanging.forEach(each -> expected.add(each.id()));
        long begin = System.nanoTime();
        OperationGraph graph;
        do {
            graph = new OperationGraph(recorder.recording());
        } while (!(awaited(graph).equals(expected) && isNamed(graph)) && System.nanoTime() - begin < PATIENCE);
        assertThat(awaited(graph)).as(what).isEqualTo(expected);
        List<String> summary = new Explanation(graph).summary(Integer.MAX_VALUE);
        for (Hanging each : hanging) {
            assertThat(summary)
                    .as(what)
                    .anyMatch(line -> line.contains("waits for timeline " + each.id() + " '"
                            + each.timeline.semaphore().name() + "' at 1, signalled by nobody in the recording"));
        }
        for (long each : unsignalled) {
            assertThat(summary)
                    .as(what)
                    .noneMatch(
                            line -> line.contains("timeline " + each + " ") && line.contains("signalled by the host"));
        }
        for (RecordedCalls.Call each : new RecordedCalls(graph, new Explanation(graph)).all()) {
            boolean inProgress = new Explanation(graph).openCalls().contains(each.number());
            assertThat(each.hasEnded() == Known.NO).as("%s: %s", what, each).isEqualTo(inProgress);
        }
    }

    /** Whether the awaited timelines are listed by name: not of an operation just being submitted. */
    private boolean isNamed(OperationGraph graph) {
        OpenCalls calls = new Explanation(graph).openCalls();
        return hanging.stream().noneMatch(each -> calls.name(each.id()).isEmpty());
    }

    /** The timelines awaited by open operations and calls, and signalled by nothing in the recording. */
    private static Set<Long> awaited(OperationGraph graph) {
        Set<Long> ids = new TreeSet<>();
        graph.operations().stream()
                .filter(each -> graph.hasEnded(each) == Known.NO)
                .flatMap(each -> each.waits().stream())
                .filter(point -> graph.signaller(point) == null)
                .forEach(point -> ids.add(point.timeline()));
        for (FlightEvent each : graph.recording().events()) {
            if (each instanceof FlightEvent.Call call) {
                call.waits().stream()
                        .filter(point -> graph.signaller(point) == null)
                        .forEach(point -> ids.add(point.timeline()));
            }
        }
        return ids;
    }
}
