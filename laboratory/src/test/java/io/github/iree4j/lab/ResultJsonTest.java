package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Claims about the JSON form of results. */
class ResultJsonTest {
    private static final Path EXAMPLE = Path.of("src/test/resources/lab/late-waiter.json");

    /** The example for readers of results; {@code -Diree4j.docs.update=true} writes the example. */
    @Test
    void theExampleMatchesTheOutputOfARun() throws IOException {
        String json = Laboratory.run(Laboratory.scenario("late-waiter"), LabOptions.DEFAULTS)
                .toJson();
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(EXAMPLE, json);
        }
        assertThat(Files.readString(EXAMPLE)).isEqualTo(json);
    }

    @Test
    void textsAreEscaped() {
        Scenario scenario = new Scenario(
                "x\"\\",
                "a \"label\"",
                "line\nbreak \u0001 \uD83D\uDE00",
                Scenario.Placement.LANES,
                List.of(new Scenario.Hardware("cpu", "<b>\"CPU\"</b>", 1, false, 0, "")),
                List.of(new Scenario.Semaphore("s", "a \\ b")),
                List.of(new Scenario.Operation("o", "cpu", 1, Map.of(), Map.of("s", 1L))),
                List.of(),
                List.of(),
                List.of());
        String json = Laboratory.run(scenario, LabOptions.DEFAULTS).toJson();
        Map<?, ?> read = (Map<?, ?>) YamlReader.read(json);
        assertThat(read.get("id")).isEqualTo(scenario.id());
        assertThat(read.get("label")).isEqualTo(scenario.label());
        assertThat(read.get("description")).isEqualTo(scenario.description());
        assertThat(read.get("hardware"))
                .isEqualTo(List.of(Map.of(
                        "id", "cpu", "label", "<b>\"CPU\"</b>", "lanes", "1", "scalable", "false", "memory", "0")));
        assertThat(read.get("sems"))
                .isEqualTo(Map.of("s", Map.of("label", "a \\ b", "value", "1", "frontier", Map.of("s", "1"))));
    }

    @Test
    void aLabelIsWrittenUnlessItIsTheId() {
        String json = Laboratory.run(Laboratory.read("""
                        id: x
                        hardware: [cpu, {id: gpu, label: gpu}]
                        semaphores: [s, {id: t}]
                        operations: [{id: a, hw: cpu}, {id: b, label: Second, hw: gpu}]
                        """), LabOptions.DEFAULTS).toJson();
        Map<?, ?> read = (Map<?, ?>) YamlReader.read(json);
        List<?> operations = (List<?>) Objects.requireNonNull(read.get("ops"));
        assertThat((Map<?, ?>) operations.getLast()).extracting("label").isEqualTo("Second");
        assertThat(json.replaceFirst("\"label\": \"Second\"", "").split("\"label\"", -1))
                .as("parts around the label of the scenario, the only other label")
                .hasSize(2);
    }
}
