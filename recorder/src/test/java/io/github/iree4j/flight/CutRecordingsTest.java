package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Recordings with any end, also between two records of the same operation. */
class CutRecordingsTest {
    private static final long SEED = Effort.seed(20261128);

    private static OperationGraph cut(FlightRecording recording, int records) {
        RecordWords kept = recording.records().first(records);
        FlightRecording.Header header = recording.header();
        long next = kept.word(records - 1, 1) + 1;
        return new OperationGraph(new FlightRecording(
                new FlightRecording.Header(header.start(), header.frontierCapacity(), next, 0, 0, 0),
                recording.names(),
                recording.queues(),
                recording.pools(),
                kept));
    }

    @Test
    void anOperationFailingAfterTheEndOfARecordingHasNotEndedWellInside() throws IOException {
        int between = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(200); seed++) {
            FlightRecording recording = UnrulyWork.record(seed, 40);
            OperationGraph whole = new OperationGraph(recording);
            for (int records = 1; records < recording.records().count(); records++) {
                OperationGraph graph = cut(recording, records);
                Explanation explanation = new Explanation(graph);
                for (RecordedOperation each : graph.operations()) {
                    RecordedOperation later = whole.operation(each.number());
                    if (each.over == null && later != null && later.status() != StatusCode.OK) {
                        String what = "seed %d, %d records: %s".formatted(seed, records, each);
                        assertThat(graph.hasEnded(each)).as(what).isNotEqualTo(Known.YES);
                        if (each.completed != null) {
                            between++;
                            RecordedCalls.Call call = new RecordedCalls(graph, explanation).call(1, List.of(each));
                            assertThat(call.hasEnded()).as(what).isNotEqualTo(Known.YES);
                            assertThat(explanation.explain(each).getFirst())
                                    .as(what)
                                    .containsAnyOf(
                                            "run, ended well or not: the record is missing",
                                            "not completed by the host");
                        }
                    }
                }
            }
        }
        assertThat(between).as("cuts between a completion and a failure").isPositive();
    }
}
