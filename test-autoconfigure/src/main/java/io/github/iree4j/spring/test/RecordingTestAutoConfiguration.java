package io.github.iree4j.spring.test;

import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.Replay;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/** The recording of a test, and its replay. */
@AutoConfiguration
@ConditionalOnExpression("'${iree.test.recording:}' != ''")
@Lazy
public final class RecordingTestAutoConfiguration {

    /** For Spring. */
    RecordingTestAutoConfiguration() {}

    @Bean
    FlightRecording ireeFlightRecording(Environment environment, ResourceLoader resources) throws IOException {
        Resource resource = resources.getResource(environment.getRequiredProperty("iree.test.recording"));
        if (resource.isFile()) {
            return FlightRecording.read(resource.getFile().toPath());
        }
        Path copy = Files.createTempFile("recording", ".iree4j");
        try (InputStream in = resource.getInputStream()) {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            return FlightRecording.read(copy);
        } finally {
            Files.delete(copy);
        }
    }

    @Bean
    OperationGraph ireeOperationGraph(FlightRecording recording) {
        return new OperationGraph(recording);
    }

    @Bean
    Replay ireeReplay(FlightRecording recording) {
        return Replay.of(recording);
    }
}
