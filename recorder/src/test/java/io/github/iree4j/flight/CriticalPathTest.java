package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class CriticalPathTest {
    private static final long SEED = Effort.seed(20261123);

    @Test
    void pathIsTheLongestPathOverEventTimes() throws IOException {
        int longer = 0;
        for (long seed = SEED; seed < SEED + 60; seed++) {
            longer += LongestPath.assertIsCriticalPath(FlightRecorderTest.record(seed, 80), "seed " + seed) > 3 ? 1 : 0;
        }
        assertThat(longer).isGreaterThan(10);
    }

    @Test
    void timesOfAnOperationAddUp() throws IOException {
        FlightRecording recording = FlightRecorderTest.record(SEED, 80);
        OperationGraph graph = new OperationGraph(recording);
        Explanation explanation = new Explanation(graph);
        int waited = 0;
        for (RecordedOperation each : graph.operations()) {
            if (graph.end(each) != RecordedOperation.NEVER) {
                Explanation.Times times = explanation.times(each);
                assertThat(times.total()).isEqualTo(graph.end(each) - Math.min(each.submittedAt(), graph.end(each)));
                waited += times.waiting() > 0 ? 1 : 0;
            }
            assertThat(explanation.explain(each)).isNotEmpty();
        }
        assertThat(waited).isPositive();
        assertThat(explanation.summary(100)).anyMatch(line -> line.startsWith("critical path: "));
    }
}
