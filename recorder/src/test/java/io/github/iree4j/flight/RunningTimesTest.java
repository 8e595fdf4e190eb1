package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The parts of the time of an operation match the virtual devices, even where the host learns of several ends together.
 */
class RunningTimesTest {
    private static final long SEED = Effort.seed(20261130);

    @Test
    void anOperationEndsWhenTheNextOnTheStreamBegins() throws IOException {
        TimedWork work = new TimedWork();
        TimelineSemaphore host = TimelineSemaphore.create(0);
        TimelineSemaphore done = TimelineSemaphore.create(0);
        try (FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
            work.submit(0, "first", 1000, Fence.at(host, 1), Fence.at(done, 1));
            work.submit(0, "second", 1500, Fence.at(done, 1), Fence.at(done, 2));
            host.signal(1);
            work.clock.runUntilIdle();
            OperationGraph graph = new OperationGraph(recorder.recording());
            Explanation explanation = new Explanation(graph);
            RecordedOperation first = graph.operations().getFirst();
            RecordedOperation second = graph.operations().getLast();
            assertThat(first.completedAt()).as("learnt together").isEqualTo(second.completedAt());
            assertThat(explanation.times(first)).isEqualTo(new Explanation.Times(0, 0, 0, 1000));
            assertThat(explanation.times(second)).isEqualTo(new Explanation.Times(1000, 0, 0, 1500));
            assertThat(CriticalPath.of(graph).steps())
                    .extracting(CriticalPath.Step::operation)
                    .containsExactly(first, second);
            ByteArrayOutputStream scenario = new ByteArrayOutputStream();
            ExportFormat.SCENARIO.write(graph, scenario);
            assertThat(scenario.toString(StandardCharsets.UTF_8))
                    .contains("duration: 1000")
                    .contains("duration: 1500");
        }
    }

    @Test
    void timesMatchTheDevices() throws IOException {
        int together = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(100); seed++) {
            TimedWork work = new TimedWork();
            try (FlightRecorder recorder =
                    FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)) {
                work.run(new Random(seed), 60);
                OperationGraph graph = new OperationGraph(recorder.recording());
                Explanation explanation = new Explanation(graph);
                for (RecordedOperation each : graph.operations()) {
                    Explanation.Times times = explanation.times(each);
                    assertThat(times.running())
                            .as("seed %d, %s", seed, explanation.explain(each))
                            .isEqualTo(work.durations.get(each.name()));
                    assertThat(times.waiting())
                            .as("seed %d, %s", seed, explanation.explain(each))
                            .isEqualTo(work.readyAt(each) - each.submittedAt());
                    together += each.completedAt() > graph.end(each) ? 1 : 0;
                }
            }
        }
        assertThat(together).isPositive();
    }
}
