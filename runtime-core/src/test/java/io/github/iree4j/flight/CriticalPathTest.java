package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CriticalPathTest {
    private static final long SEED = Effort.seed(20261123);

    /**
     * The longest path by event times alone: each operation takes from the latest end of what it follows, or its submission, to its own end;
     * the length of a path is the first submission and what its operations take.
     */
    static long longest(OperationGraph graph, FlightRecording recording) {
        Map<Long, Long> lengths = new HashMap<>();
        List<RecordedOperation> order = graph.operations().stream()
                .filter(each -> graph.end(each) != RecordedOperation.NEVER)
                .sorted(Comparator.comparingLong(RecordedOperation::issuedAt))
                .toList();
        long best = 0;
        for (RecordedOperation each : order) {
            long begin = Math.min(each.submittedAt(), graph.end(each));
            long before = begin;
            for (Dependency dependency : graph.dependencies(each)) {
                begin = Math.max(begin, dependency.available());
                long length = dependency.before() == null
                        ? dependency.available()
                        : lengths.get(dependency.before().number())
                                + dependency.available()
                                - graph.end(dependency.before());
                before = Math.max(before, length);
            }
            long length = before + graph.end(each) - begin;
            lengths.put(each.number(), length);
            best = Math.max(best, length);
        }
        return best;
    }

    @Test
    void pathIsAsLongAsTheLongestPathOverEventTimes() throws IOException {
        int longer = 0;
        for (long seed = SEED; seed < SEED + 60; seed++) {
            FlightRecording recording = FlightRecorderTest.record(seed, 80);
            OperationGraph graph = new OperationGraph(recording);
            CriticalPath path = CriticalPath.of(graph);
            assertThat(path.steps()).as("seed %d", seed).isNotEmpty();
            CriticalPath.Step last = path.steps().getLast();
            assertThat(last.end()).as("seed %d", seed).isEqualTo(longest(graph, recording));
            assertThat(path.duration())
                    .isEqualTo(last.end() - path.steps().getFirst().begin());
            for (int i = 1; i < path.steps().size(); i++) {
                assertThat(path.steps().get(i).begin())
                        .as("seed %d", seed)
                        .isGreaterThanOrEqualTo(path.steps().get(i - 1).end());
            }
            longer += path.steps().size() > 3 ? 1 : 0;
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
        assertThat(explanation.summary(20)).anyMatch(line -> line.startsWith("critical path: "));
    }
}
