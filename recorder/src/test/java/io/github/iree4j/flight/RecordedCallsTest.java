package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.flight.RecordedCalls.Call;
import io.github.iree4j.flight.RecordedCalls.Part;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Each moment of a call belongs to a single part, by the state of its operations. */
class RecordedCallsTest {
    private static final long SEED = Effort.seed(20261126);

    @Test
    void everyMomentBelongsToASinglePart() throws IOException {
        long[] seen = new long[Part.values().length];
        for (long seed = SEED; seed < SEED + Effort.rounds(20); seed++) {
            OperationGraph graph = new OperationGraph(FlightRecorderTest.record(seed, 60));
            Explanation explanation = new Explanation(graph);
            RecordedCalls calls = new RecordedCalls(graph, explanation);
            Random random = new Random(seed);
            for (int i = 0; i < 10; i++) {
                List<RecordedOperation> some = new ArrayList<>(graph.operations());
                some.removeIf(each -> random.nextInt(10) < 8);
                if (!some.isEmpty()) {
                    Call call = calls.call(1, some);
                    long[] expected = momentByMoment(explanation, some, call);
                    assertThat(call.parts()).as("seed %d, %s", seed, some).isEqualTo(expected);
                    for (int part = 0; part < seen.length; part++) {
                        seen[part] += expected[part];
                    }
                }
            }
        }
        assertThat(seen[Part.RUNNING.ordinal()]).isPositive();
        assertThat(seen[Part.WAITING.ordinal()]).isPositive();
        assertThat(seen[Part.HOST.ordinal()]).isPositive();
    }

    /** Between two times of changes, asks each operation for its state in the middle. */
    private static long[] momentByMoment(Explanation explanation, List<RecordedOperation> operations, Call call) {
        TreeSet<Long> times = new TreeSet<>(List.of(call.begin(), call.end()));
        List<long[]> bounds = new ArrayList<>(); // by operation: submission, ends of waiting, memory, queue, running
        for (RecordedOperation each : operations) {
            Explanation.Times parts = explanation.times(each);
            long at = Math.min(each.submittedAt(), each.submittedAt() + parts.total());
            if (parts.total() > 0) {
                long[] own = new long[5];
                long[] durations = {0, parts.waiting(), parts.memory(), parts.queue(), parts.running()};
                for (int i = 0; i < own.length; i++) {
                    at += durations[i];
                    own[i] = at;
                    times.add(at);
                }
                bounds.add(own);
            }
        }
        Part[] order = {Part.WAITING, Part.MEMORY, Part.QUEUE, Part.RUNNING};
        long[] sums = new long[Part.values().length];
        Long from = null;
        for (long to : times) {
            if (from != null) {
                int part = Part.HOST.ordinal();
                for (long[] own : bounds) {
                    for (int i = 0; i < order.length; i++) {
                        if (own[i] <= from && to <= own[i + 1]) {
                            part = Math.min(part, order[i].ordinal());
                        }
                    }
                }
                sums[part] += to - from;
            }
            from = to;
        }
        return sums;
    }

    @Test
    void anUnrecordedCallIsNamed() throws IOException {
        Explanation explanation = new Explanation(new OperationGraph(FlightRecorderTest.record(SEED, 20)));
        assertThatThrownBy(() -> explanation.call(77, 5)).hasMessageContaining("no operations of call 77");
        assertThatThrownBy(() -> explanation.slowest("nowhere", 5)).hasMessageContaining("no call of 'nowhere'");
    }
}
