package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Claims about the JSON form of results. */
class ResultJsonTest {
    private static final Path EXAMPLE = Path.of("src/test/resources/lab/late-waiter.json");

    /** What readers of results are written against; {@code -Diree4j.docs.update=true} writes it. */
    @Test
    void theExampleIsWhatARunPrints() throws IOException {
        String json = Laboratory.run(Laboratory.scenario("late-waiter"), LabOptions.DEFAULT)
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
                List.of(new Scenario.Hardware("cpu", 1, false)),
                List.of("s"),
                List.of(new Scenario.Operation("o", "cpu", 1, Map.of(), Map.of("s", 1L))),
                List.of(),
                List.of(),
                List.of());
        String json = Laboratory.run(scenario, LabOptions.DEFAULT).toJson();
        Map<?, ?> read = (Map<?, ?>) YamlReader.read(json);
        assertThat(read.get("id")).isEqualTo(scenario.id());
        assertThat(read.get("label")).isEqualTo(scenario.label());
        assertThat(read.get("description")).isEqualTo(scenario.description());
    }
}
