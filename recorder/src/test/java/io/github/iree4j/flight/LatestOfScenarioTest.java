package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scenario;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A recording longer than a scenario. */
class LatestOfScenarioTest {
    @Test
    void scenarioHasTheLatestOfManyOperations() throws IOException {
        int submitted = Scenario.MAXIMUM_OPERATIONS + 400;
        ByteArrayOutputStream yaml = new ByteArrayOutputStream();
        try (RandomWork work = new RandomWork(Effort.seed(20261127), 64 << 10);
                FlightRecorder recorder = FlightRecorder.open(
                        work.domain, RecorderOptions.DEFAULTS.withBytes(64 << 20), work.clock::now)) {
            for (int i = 0; i < submitted; i += 100) {
                work.run(Math.min(100, submitted - i));
            }
            ExportFormat.SCENARIO.write(new OperationGraph(recorder.recording()), yaml);
        }
        Scenario scenario = Laboratory.read(yaml.toString(StandardCharsets.UTF_8));
        assertThat(scenario.operations()).hasSize(Scenario.MAXIMUM_OPERATIONS);
        assertThat(scenario.description())
                .contains("; the latest %d of %d that ended".formatted(Scenario.MAXIMUM_OPERATIONS, submitted));
        assertThat(Laboratory.run(scenario, LabOptions.DEFAULTS).violations()).isEmpty();
    }
}
