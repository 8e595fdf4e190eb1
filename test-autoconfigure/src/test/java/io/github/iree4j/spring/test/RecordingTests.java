package io.github.iree4j.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.flight.CriticalPath;
import io.github.iree4j.flight.FlightRecording;
import io.github.iree4j.flight.OperationGraph;
import io.github.iree4j.flight.Replay;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.context.ContextConfiguration;

/** A recording of four threads that called a program on the CPU. */
@IreeTest(recording = "classpath:under-load.iree4j")
@ContextConfiguration(classes = IreeTestTests.Application.class)
@Timeout(300)
class RecordingTests {

    @Test
    void schedulerDecidesAsBefore(@Autowired Replay replay) {
        assertThat(replay.differences()).isEmpty();
        assertThat(replay.frontiers()).isGreaterThan(100);
    }

    @Test
    void criticalPathIsThere(@Autowired OperationGraph graph) {
        assertThat(CriticalPath.of(graph).steps()).isNotEmpty();
    }

    private static ApplicationContextRunner with(String recording) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RecordingTestAutoConfiguration.class))
                .withPropertyValues("iree.test.recording=" + recording);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"under-load.iree4j", "classpath:under-load.iree4j", "file:src/test/resources/under-load.iree4j"})
    void aRecordingIsFoundOnTheClassPathOrAsAFile(String recording) {
        with(recording)
                .run(context -> assertThat(
                                context.getBean(FlightRecording.class).events())
                        .isNotEmpty());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "none.iree4j           | class path resource [none.iree4j]; put the recording into src/test/resources, or name a file as in \"file:none.iree4j\"",
                "classpath:none.iree4j | class path resource [none.iree4j]; correct the path",
                "pom.xml               | class path resource [pom.xml]; a path without a prefix is of the class path; for the file write \"file:pom.xml\"",
                "file:none.iree4j      | none.iree4j]; correct the path"
            })
    void aMissingRecordingFailsTheContextWithASingleMessage(String recording, String message) {
        with(recording)
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasNoCause()
                        .hasMessageContaining(
                                "the recording \"" + recording + "\" of the test does not exist: looked for as ")
                        .hasMessageContaining(message));
    }

    /** The recordings of a library's tests may come in a jar. */
    @Test
    void aDamagedRecordingOfAJarIsNamedAsInTheJar(@TempDir Path directory) throws IOException {
        Path jar = directory.resolve("recordings.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("damaged.iree4j"));
            out.write("IREE4JFR, or not".getBytes(StandardCharsets.US_ASCII));
        }
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()})) {
            with("damaged.iree4j")
                    .withClassLoader(loader)
                    .run(context -> assertThatThrownBy(() -> context.getBean(FlightRecording.class))
                            .rootCause()
                            .hasMessageContaining("recordings.jar!/damaged.iree4j"));
        }
    }
}
