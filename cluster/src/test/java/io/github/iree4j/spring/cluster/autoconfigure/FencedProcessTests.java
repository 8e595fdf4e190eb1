package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** Processes of fenced nodes, with a web server. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FencedProcessTests {

    @TempDir
    private Path directory;

    private final int port =
            FreePorts.from(20_000 + (int) (ProcessHandle.current().pid() % 10_000));
    private final int http = FreePorts.from(port + 2);

    private Path file() {
        return directory.resolve("identity");
    }

    private Process start(String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Application.class.getName(),
                "--server.port=" + http,
                "--management.endpoint.health.probes.enabled=true",
                "--iree.cluster.enabled=true",
                "--iree.cluster.bind.port=" + port,
                "--iree.cluster.identity.machine=3",
                "--iree.cluster.identity.lease-duration=3s",
                "--iree.cluster.identity.file=" + file()));
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void await(BufferedReader output, String line) throws IOException {
        String next;
        do {
            next = output.readLine();
            assertThat(next).as("output before '%s'", line).isNotNull();
        } while (!next.contains(line));
    }

    private static void awaitEnd(Process process, BufferedReader output) throws Exception {
        while (output.readLine() != null) {
            // Until the end.
        }
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    private void loseTheLease() throws IOException {
        Files.writeString(file(), Files.readString(file()).replace("session=1", "session=9"));
    }

    private int readiness() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(
                                            URI.create("http://localhost:" + http + "/actuator/health/readiness"))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    @Test
    void aFencedNodeServesAgainInTheSameProcessWithANewSession() throws Exception {
        Process process = start();
        try (BufferedReader output = process.inputReader()) {
            await(output, "session 1.");
            loseTheLease();
            await(output, "session 10.");
            assertThat(readiness()).isEqualTo(200);
            process.toHandle().destroy(); // the output stays open
            awaitEnd(process, output);
            assertThat(process.exitValue()).as("as after SIGTERM").isEqualTo(143);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @Tag("nightly")
    void aProcessWithoutAnIdentityIsEndedByASignal() throws Exception {
        Process process = start();
        try (BufferedReader output = process.inputReader()) {
            await(output, "session 1.");
            Files.writeString(file(), "of something else");
            await(output, "next attempt in 2 s");
            process.toHandle().destroy(); // the output stays open
            awaitEnd(process, output);
            assertThat(process.exitValue()).isEqualTo(143);
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @Tag("nightly")
    void aFencedNodeEndsByItselfUnderARestartingSupervisor() throws Exception {
        Process fenced = start("--iree.cluster.on-fence=shutdown");
        try (BufferedReader output = fenced.inputReader()) {
            await(output, "session 1.");
            loseTheLease();
            awaitEnd(fenced, output);
            assertThat(fenced.exitValue()).isZero();
        } finally {
            fenced.destroyForcibly();
        }
        Process again = start();
        try (BufferedReader output = again.inputReader()) {
            await(output, "session 10.");
        } finally {
            again.destroyForcibly().waitFor();
        }
    }

    /** As in users' code. */
    @Configuration
    @EnableAutoConfiguration
    static class Application {
        @EventListener
        void ready(ApplicationReadyEvent event) {
            int session = event.getApplicationContext()
                    .getBean(LeaseKeeper.class)
                    .identity()
                    .session();
            System.out.println("session " + session + ".");
        }

        public static void main(String[] arguments) {
            SpringApplication.run(Application.class, arguments);
        }
    }
}
