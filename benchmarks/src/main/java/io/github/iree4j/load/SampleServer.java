package io.github.iree4j.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sample, in a separate process on a free port of the loopback interface, and requests to the sample. */
final class SampleServer implements AutoCloseable {
    static final int PIXELS = 64;

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    private static final Pattern GRPC = Pattern.compile("gRPC Server started, listening on address: .*?:(\\d+)");

    private final Process server;
    private final Path log;
    private final int port;

    /** Starts the sample's jar with further arguments, and waits until the server is ready. */
    SampleServer(Path jar, String... arguments) throws IOException, InterruptedException {
        this(List.of(), jar, List.of(arguments));
    }

    /** The server has the first processor; this process has the others from now on. Needs taskset of Linux. */
    static SampleServer onItsOwnProcessor(Path jar, List<String> arguments) throws IOException, InterruptedException {
        String others = "1-%d".formatted(Runtime.getRuntime().availableProcessors() - 1);
        String self = Long.toString(ProcessHandle.current().pid());
        int failed = new ProcessBuilder("taskset", "-a", "-c", "-p", others, self)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (failed != 0) {
            throw new IOException(
                    "taskset -c -p %s has status %d; are there two processors?".formatted(others, failed));
        }
        return new SampleServer(List.of("taskset", "-c", "0"), jar, arguments);
    }

    private SampleServer(List<String> prefix, Path jar, List<String> arguments)
            throws IOException, InterruptedException {
        log = Files.createTempFile("iree4j-load", ".log");
        List<String> command = new ArrayList<>(prefix);
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "-Xmx512m",
                "-jar",
                jar.toString(),
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--server.tomcat.max-keep-alive-requests=-1",
                "--logging.level.io.github.iree4j=WARN"));
        command.addAll(arguments);
        server = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean isThere = false;
        try {
            port = awaitPort(PORT);
            isThere = true;
        } finally {
            if (!isThere) {
                close();
            }
        }
    }

    /** Returns the port of gRPC, where the arguments enable the server. */
    int grpcPort() throws IOException, InterruptedException {
        return awaitPort(GRPC);
    }

    private int awaitPort(Pattern pattern) throws IOException, InterruptedException {
        for (int i = 0; i < 600 && server.isAlive(); i++) {
            Matcher started = pattern.matcher(Files.readString(log));
            if (started.find()) {
                return Integer.parseInt(started.group(1));
            }
            Thread.sleep(100);
        }
        throw new IOException("the sample did not start:\n" + Files.readString(log));
    }

    int port() {
        return port;
    }

    long process() {
        return server.pid();
    }

    /** A request of the Open Inference Protocol with the given number of pictures, input and output in binary. */
    static byte[] protocolRequest(int rows) {
        int size = Float.BYTES * rows * PIXELS;
        String header =
                "{\"inputs\":[{\"name\":\"input0\",\"shape\":[%d,%d],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":%d}}],\"parameters\":{\"binary_data_output\":true}}"
                        .formatted(rows, PIXELS, size);
        return request(
                "POST",
                "/v2/models/digits/infer",
                "Inference-Header-Content-Length: %d\r\n".formatted(header.length()),
                Arrays.copyOf(header.getBytes(StandardCharsets.US_ASCII), header.length() + size));
    }

    static byte[] request(String method, String path, String headers, byte[] body) {
        byte[] head = "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n"
                .formatted(method, path, headers, body.length)
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, request, head.length, body.length);
        return request;
    }

    @Override
    public void close() throws IOException {
        server.destroy();
        Process ended = server.onExit().join();
        assert !ended.isAlive();
        Files.deleteIfExists(log);
    }
}
