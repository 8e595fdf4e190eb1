package io.github.iree4j.sample.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sample, as in production, in a separate JVM with little memory. An OutOfMemoryError of the heap ends the process.
 */
final class SampleProcess implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("(?:Tomcat|Netty) started on port (\\d+)");
    private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d+) kB");
    private static final Duration START = Duration.ofMinutes(3);

    private final Process process;
    private final Path log;
    private final List<Integer> ports; // of the service, and of Actuator

    /**
     * Starts the sample.
     *
     * @param stack {@code servlet} or {@code reactive}
     * @param directory the folder of the log
     */
    SampleProcess(String stack, Path directory, String... properties) throws IOException {
        log = directory.resolve(stack + ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                "io.github.iree4j.sample.SampleApplication",
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--spring.profiles.active=production,models",
                "--management.server.port=0",
                "--spring.main.web-application-type=" + stack,
                "--spring.main.banner-mode=off",
                // Tests have both servers on their class path; an application with Netty has no Tomcat beside it.
                "--spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.actuate.web.server"
                        + ".TomcatReactiveManagementContextAutoConfiguration"));
        command.addAll(List.of(properties));
        process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        ports = awaitPorts();
    }

    private List<Integer> awaitPorts() throws IOException {
        for (long end = System.nanoTime() + START.toNanos(); System.nanoTime() < end && process.isAlive(); ) {
            List<Integer> started = PORT.matcher(log())
                    .results()
                    .map(each -> Integer.parseInt(each.group(1)))
                    .toList();
            if (started.size() == 2) {
                return started;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50)); // another process has no other way to say it
        }
        process.destroyForcibly();
        throw new IOException("the sample did not start:\n" + log());
    }

    int port() {
        return ports.getFirst();
    }

    int managementPort() {
        return ports.getLast();
    }

    ProcessHandle process() {
        return process.toHandle();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    /** The most memory of the process so far, bytes. */
    long peakMemory() throws IOException {
        Matcher peak = PEAK.matcher(Files.readString(Path.of("/proc/" + process.pid() + "/status")));
        if (!peak.find()) {
            throw new IOException("the process has no VmHWM");
        }
        return Long.parseLong(peak.group(1)) << 10;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
