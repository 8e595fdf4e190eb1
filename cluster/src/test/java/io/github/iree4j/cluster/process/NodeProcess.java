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
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A node in a separate process, with lines for the test beginning with "> ", and the history told so far. */
public final class NodeProcess implements AutoCloseable {
    final int index;
    private final Process process;
    private final PrintWriter commands;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> history = new ArrayList<>();
    private final Thread thread; // of the reading thread

    /**
     * Starts a {@link NodeMain} that suspects others after so many seconds of silence, and fails others after longer
     * interruptions of connections.
     *
     * @param prefix a command that begins as another process and becomes the following command; empty for none
     */
    static NodeProcess of(
            int index, List<String> prefix, String addresses, Path directory, int silence, int resumeMillis)
            throws IOException {
        return new NodeProcess(
                index,
                prefix,
                Map.of(),
                NodeMain.class,
                List.of(
                        String.valueOf(index),
                        addresses,
                        directory.toString(),
                        String.valueOf(silence),
                        String.valueOf(resumeMillis)),
                _ -> false);
    }

    /**
     * Starts a process.
     *
     * @param prefix a command that begins as another process and becomes the one that follows; empty for none
     * @param environment variables besides the variables of this process
     * @param reader takes lines, and returns false for lines of history; called by one thread
     */
    public NodeProcess(
            int index,
            List<String> prefix,
            Map<String, String> environment,
            Class<?> main,
            List<String> arguments,
            Predicate<String> reader)
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
                main.getName()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        process = builder.start();
        commands = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                for (String line; (line = output.readLine()) != null; ) {
                    if (line.startsWith("> ")) {
                        if (!reader.test(line.substring(2))) {
                            lines.add(line.substring(2));
                        }
                    } else {
                        System.out.println(index + " " + line);
                    }
                }
            } catch (IOException e) {
                // Killed.
            }
        });
    }

    public void command(String line) {
        commands.println(line);
    }

    /** Waits for a line; all earlier lines become history. */
    String await(Predicate<String> wanted, String what) throws InterruptedException {
        for (; ; ) {
            String line = lines.poll(60, TimeUnit.SECONDS);
            assertThat(line)
                    .as("node %d: %s; lines so far: %s", index, what, tail())
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

    /** The first line with a beginning, waited for unless already here. */
    String awaitOnce(String beginning) throws InterruptedException {
        for (String line : history) {
            if (line.startsWith(beginning)) {
                return line;
            }
        }
        return await(beginning);
    }

    /** Gives a command, and returns the answer after its beginning; null if the process has ended instead. */
    public @Nullable String ask(String command, String beginning) throws InterruptedException {
        command(command);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (System.nanoTime() - deadline < 0) {
            String line = lines.poll(20, TimeUnit.MILLISECONDS);
            if (line != null && line.startsWith(beginning)) {
                return line.substring(beginning.length());
            } else if (line == null && !process.isAlive()) {
                return null;
            }
        }
        throw new AssertionError("node %d does not answer '%s'".formatted(index, command));
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end; returns the exit code. */
    public int awaitEnd() throws InterruptedException {
        assertThat(process.waitFor(60, TimeUnit.SECONDS))
                .as("node %d ends", index)
                .isTrue();
        thread.join();
        return process.exitValue();
    }

    private List<String> tail() {
        return history.subList(Math.max(0, history.size() - 10), history.size());
    }

    List<String> history() {
        lines.drainTo(history);
        return history;
    }

    /** Sends a signal: KILL, TERM, QUIT, STOP or CONT. */
    public void signal(String name) {
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
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
