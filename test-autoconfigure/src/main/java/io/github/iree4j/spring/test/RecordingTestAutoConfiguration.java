package io.github.iree4j.spring.test;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.Replay;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.ResourceUtils;

/** The recording of a test, and the replay. */
@AutoConfiguration
@ConditionalOnExpression("'${iree.test.recording:}' != ''")
@Lazy
@NotForApplications
public final class RecordingTestAutoConfiguration {

    private static final String PROPERTY = "iree.test.recording";

    /** For Spring. */
    RecordingTestAutoConfiguration() {}

    /** Fails before there are beans: a bean's exception is only the cause of a cause. */
    @Bean
    static BeanFactoryPostProcessor ireeRecordingIsThere(Environment environment, ResourceLoader resources) {
        return _ -> {
            String location = environment.getRequiredProperty(PROPERTY);
            Resource resource = find(location, resources);
            if (!resource.exists()) {
                throw new IllegalArgumentException(missing(location, resource));
            }
        };
    }

    @Bean
    FlightRecording ireeFlightRecording(Environment environment, ResourceLoader resources) throws IOException {
        Resource resource = find(environment.getRequiredProperty(PROPERTY), resources);
        if (resource.isFile()) {
            return FlightRecording.read(resource.getFile().toPath());
        }
        Path copy = Files.createTempFile("recording", ".iree4j");
        try (InputStream in = resource.getInputStream()) {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            return FlightRecording.read(copy);
        } catch (IreeException e) {
            // Without the cause, an exception naming the copy.
            throw IreeException.of(
                    e.code(),
                    String.valueOf(e.getMessage())
                            .replace(copy.toString(), resource.getURL().toString()));
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

    /** Returns the resource; a path without a prefix is of the class path in any kind of application. */
    private static Resource find(String location, ResourceLoader resources) {
        return ResourceUtils.isUrl(location)
                ? resources.getResource(location)
                : new ClassPathResource(location, resources.getClassLoader());
    }

    private static String missing(String location, Resource resource) {
        String remedy;
        if (ResourceUtils.isUrl(location)) {
            remedy = "correct the path";
        } else if (Files.exists(Path.of(location))) {
            remedy = "a path without a prefix is of the class path; for the file write \"file:%s\"".formatted(location);
        } else {
            remedy = "put the recording into src/test/resources, or name a file as in \"file:%s\", relative to %s"
                    .formatted(location, Path.of("").toAbsolutePath());
        }
        return "the recording \"%s\" of the test does not exist: looked for as %s; %s"
                .formatted(location, resource.getDescription(), remedy);
    }
}
