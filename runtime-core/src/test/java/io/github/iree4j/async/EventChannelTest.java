package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Points of timelines that another process waits for and signals. */
@Timeout(900)
class EventChannelTest {
    private static final Duration LONG =
            Duration.ofMinutes(5); // on an overloaded machine a JVM takes a minute to start
    private static final SemaphoreOptions EXPORTABLE = SemaphoreOptions.DEFAULT.withScope(SemaphoreScope.SYSTEM_WIDE);

    private Path directory;
    private Path path;

    @BeforeAll
    static void load() {
        NativeLibrary.ensureAvailable();
    }

    @BeforeEach
    void chooseShortPath() throws IOException {
        directory = Files.createTempDirectory("iree4j"); // JUnit's path may be too long for a socket
        path = directory.resolve("events");
    }

    @AfterEach
    void remove() throws IOException {
        Files.deleteIfExists(path);
        Files.delete(directory);
    }

    @Test
    void anotherProcessWaitsForAndSignalsOurTimelines() throws Exception {
        try (EventChannel listening = EventChannel.listen(path)) {
            Process process = startOtherProcess();
            try (EventChannel channel = listening.accept(LONG);
                    TimelineSemaphore ours = TimelineSemaphore.create(EXPORTABLE);
                    TimelineSemaphore theirs = TimelineSemaphore.create(0);
                    SystemEvent exported = ExternalTimepoints.exportEvent(ours, 3)) {
                EventChannel.Received received = channel.receive(LONG);
                assertThat(received.tag()).isEqualTo(5);
                ExternalTimepoints.importEvent(received.event(), theirs, received.tag());
                received.event().close();
                channel.send(exported, 3);
                assertThat(theirs.value()).as("it waits for us").isZero();
                ours.signal(3);
                theirs.await(5, LONG);
                assertThat(theirs.isTainted(5)).as("signalled externally").isTrue();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private Process startOtherProcess() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path")));
        System.getProperties().forEach((key, value) -> {
            if (key.toString().startsWith("iree4j.")) {
                command.add("-D" + key + "=" + value);
            }
        });
        command.add(OtherProcess.class.getName());
        command.add(path.toString());
        return new ProcessBuilder(command).inheritIO().start();
    }

    @Test
    void aProcessThatExitsIsNoticed() throws Exception {
        try (EventChannel listening = EventChannel.listen(path)) {
            FutureTask<EventChannel> accepted = new FutureTask<>(() -> listening.accept(LONG));
            Thread.ofPlatform().start(accepted);
            EventChannel.connect(path).close();
            try (EventChannel channel = accepted.get()) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> channel.receive(LONG))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
            }
        }
    }

    @Test
    void waitsTimeOut() {
        try (EventChannel listening = EventChannel.listen(path)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> listening.accept(Duration.ofMillis(1)))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
        }
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> EventChannel.connect(path))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
    }

    @Test
    void aVirtualThreadMustNotWait() throws InterruptedException {
        try (EventChannel listening = EventChannel.listen(path)) {
            FutureTask<EventChannel> accepted = new FutureTask<>(() -> listening.accept(Duration.ZERO));
            Thread.ofVirtual().start(accepted);
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(accepted::get)
                    .withMessageContaining("a virtual thread may not wait");
        }
    }
}
