package io.github.iree4j.spring.cluster.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.identity.LeaseKeeper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** What supervises a process sees a fenced node end, and starts it again. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FencedProcessTests {

    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("identity");
    }

    private Process start() throws IOException {
        return new ProcessBuilder(List.of(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Application.class.getName(),
                        "--spring.main.keep-alive=true", // as a web server does
                        "--spring.main.web-application-type=none",
                        "--iree.cluster.enabled=true",
                        "--iree.cluster.bind.port="
                                + FreePorts.two(
                                        20_000 + (int) (ProcessHandle.current().pid() % 10_000)),
                        "--iree.cluster.identity.machine=3",
                        "--iree.cluster.identity.lease-duration=3s",
                        "--iree.cluster.identity.file=" + file()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void await(BufferedReader output, String line) throws IOException {
        String next;
        do {
            next = output.readLine();
            assertThat(next).as("output before '%s'", line).isNotNull();
        } while (!next.equals(line));
    }

    @Test
    void aFencedNodeEndsByItselfAndHasANewSessionWhenItIsStartedAgain() throws Exception {
        Process fenced = start();
        try (BufferedReader output = fenced.inputReader()) {
            await(output, "session 1");
            Files.writeString(file(), Files.readString(file()).replace("session=1", "session=9")); // its lease is lost
            while (output.readLine() != null) {
                // Until it ends.
            }
            assertThat(fenced.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(fenced.exitValue()).isZero();
        } finally {
            fenced.destroyForcibly();
        }
        Process again = start();
        try (BufferedReader output = again.inputReader()) {
            await(output, "session 10");
        } finally {
            again.destroyForcibly().waitFor();
        }
    }

    /** What users write. */
    @Configuration
    @EnableAutoConfiguration
    static class Application {
        public static void main(String[] arguments) {
            int session = SpringApplication.run(Application.class, arguments)
                    .getBean(LeaseKeeper.class)
                    .identity()
                    .session();
            System.out.println("session " + session);
        }
    }
}
