package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of docs/spring-ai.md. */
class GenerationMetersTests {

    @ParameterizedTest
    @EnumSource
    void thePageDescribesTheMeter(GenerationMeters meter) throws IOException {
        String type = meter.getType() == Meter.Type.TIMER
                ? "timer"
                : meter.getType() == Meter.Type.GAUGE ? "gauge" : "counter";
        assertThat(Files.readString(Path.of("../docs/spring-ai.md")))
                .contains("| `%s` | %s | %s |".formatted(meter.getName(), type, meter.description()));
    }
}
