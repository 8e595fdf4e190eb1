package io.github.iree4j.cluster.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A {@link NodeMain}, and the history that it has told. */
final class NodeProcess implements AutoCloseable {
    final int index;
    private final Process process;
    private final PrintWriter commands;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> history = new ArrayList<>();
    private final Thread reader;

    /**
     * Starts a node that suspects others that have been silent for so many seconds, and fails others whose connections are
     * interrupted for longer.
     *
     * @param prefix a command that begins as another process and becomes the one that follows; empty for none
     */
    NodeProcess(int index, List<String> prefix, String addresses, Path directory, int silence, int resumeMillis)
            throws IOException {
        this.index = index;
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                NodeMain.class.getName(),
                String.valueOf(index),
                addresses,
                directory.toString(),
                String.valueOf(silence),
                String.valueOf(resumeMillis)));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        commands = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        reader = Thread.ofPlatform().daemon().start(() -> {
            try {
                for (String line; (line = output.readLine()) != null; ) {
                    if (line.startsWith("> ")) {
                        lines.add(line.substring(2));
                    } else {
                        System.out.println(index + " " + line);
                    }
                }
            } catch (IOException e) {
                // Killed.
            }
        });
    }

    void command(String line) {
        commands.println(line);
    }

    /** Waits for a line; all up to it become history. */
    String await(Predicate<String> wanted, String what) throws InterruptedException {
        for (; ; ) {
            String line = lines.poll(60, TimeUnit.SECONDS);
            assertThat(line)
                    .as("node %d says %s; it said %s", index, what, tail())
                    .isNotNull();
            history.add(line);
            if (wanted.test(line)) {
                return line;
            }
        }
    }

    String await(String beginning) throws InterruptedException {
        return await(line -> line.startsWith(beginning), "'" + beginning + "'");
    }

    /** The first line with a beginning, waited for unless it was said already. */
    String awaitOnce(String beginning) throws InterruptedException {
        for (String line : history) {
            if (line.startsWith(beginning)) {
                return line;
            }
        }
        return await(beginning);
    }

    private List<String> tail() {
        return history.subList(Math.max(0, history.size() - 10), history.size());
    }

    List<String> history() {
        lines.drainTo(history);
        return history;
    }

    /** Sends a signal: KILL, STOP or CONT. */
    void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
