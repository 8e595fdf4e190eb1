package io.github.iree4j.load;

import com.sun.tools.attach.VirtualMachine;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * How much time do the web and service layers add to a call? Starts the sample on a free port of the loopback
 * interface, calls the sample's {@code /infer} and {@code /v2/models/digits/infer} for some seconds over a single
 * connection and over eight, with a single picture and with 4 MiB of pictures, and compares with direct calls of the
 * runtime and with a request calling nothing. Exits with status 1 when a bound is exceeded: 100 us added at the median,
 * and a sixteenth of a large body allocated on the heap.
 *
 * <p>Run after {@code ./mvnw -q package -DskipTests -pl benchmarks,sample-app -am}:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.ServingLoadTest sample-app/target/iree4j-sample-app.jar [seconds]
 * }</pre>
 */
public final class ServingLoadTest {
    /** 4 MiB of pictures. */
    private static final int LARGE = 1 << 14;

    private static final int MANY = 8;
    private static final double BOUND_NANOS = 100_000;
    private static final Pattern VALUE = Pattern.compile("\"value\":([0-9.E+]+)");

    private final int seconds;

    private ServingLoadTest(int seconds) {
        this.seconds = seconds;
    }

    /**
     * Runs the test.
     *
     * @param arguments the sample's jar, and the seconds per measurement, 5 by default
     * @throws Exception when the sample does not start, or responds with a status other than 200
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 1) {
            System.err.println("usage: ServingLoadTest SAMPLE.jar [SECONDS]");
            System.exit(2);
        }
        int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        System.exit(new ServingLoadTest(Math.clamp(seconds, 1, 60)).run(Path.of(arguments[0])) ? 0 : 1);
    }

    /** Returns whether the bounds hold. */
    private boolean run(Path jar) throws Exception {
        Latencies direct = direct(jar, 1);
        show("runtime, called directly", direct);
        Latencies directLarge = direct(jar, LARGE);
        show("runtime, called directly, 4 MiB", directLarge);
        try (SampleServer server = new SampleServer(jar);
                Allocations allocations = new Allocations(server.process())) {
            return measure(server.port(), allocations, direct, directLarge);
        }
    }

    private boolean measure(int port, Allocations allocations, Latencies direct, Latencies directLarge)
            throws Exception {
        byte[] nothing = SampleServer.request("GET", "/v2/health/live", "", new byte[0]);
        byte[] own = ownRequest(1);
        byte[] binary = SampleServer.protocolRequest(1);
        byte[] json = jsonRequest();
        for (byte[] warm : List.of(nothing, own, binary, json)) {
            load(port, warm, MANY);
        }
        Latencies empty = load(port, nothing, 1);
        show("a request that calls nothing, 1 connection", empty);
        Latencies one = measured("/infer, bytes", port, own, 1, allocations);
        measured("/infer, bytes", port, own, MANY, allocations);
        Latencies protocol = measured("/v2, binary", port, binary, 1, allocations);
        measured("/v2, binary", port, binary, MANY, allocations);
        measured("/v2, JSON", port, json, 1, allocations);
        measured("/v2, JSON", port, json, MANY, allocations);
        System.out.printf(
                "threads of the server: %.0f, at most %.0f%n",
                metric(port, "jvm.threads.live"), metric(port, "jvm.threads.peak"));
        load(port, ownRequest(LARGE), 1);
        Latencies large = measured("/infer, 4 MiB", port, ownRequest(LARGE), 1, allocations);
        Latencies largeProtocol = measured("/v2, 4 MiB", port, SampleServer.protocolRequest(LARGE), 1, allocations);
        System.out.printf(
                "added at the median by web, service and transport: /infer %.0f us, /v2 %.0f us; without the transport of a request that calls nothing: %.0f us, %.0f us%n",
                (one.median() - direct.median()) / 1e3,
                (protocol.median() - direct.median()) / 1e3,
                (one.median() - empty.median() - direct.median()) / 1e3,
                (protocol.median() - empty.median() - direct.median()) / 1e3);
        System.out.printf(
                "added to 4 MiB: /infer %.0f us, /v2 %.0f us%n",
                (large.median() - directLarge.median()) / 1e3, (largeProtocol.median() - directLarge.median()) / 1e3);
        double heapBound = Float.BYTES * LARGE * SampleServer.PIXELS / 16.0;
        boolean holds = one.median() - direct.median() < BOUND_NANOS
                && protocol.median() - direct.median() < BOUND_NANOS
                && large.allocated() < heapBound
                && largeProtocol.allocated() < heapBound;
        System.out.println(holds ? "the bounds hold" : "A BOUND DOES NOT HOLD");
        return holds;
    }

    private Latencies measured(String what, int port, byte[] request, int connections, Allocations allocations)
            throws Exception {
        long before = allocations.bytes();
        Latencies latencies = load(port, request, connections);
        latencies.allocated((double) (allocations.bytes() - before) / latencies.count());
        show("%s, %d connection%s".formatted(what, connections, connections == 1 ? "" : "s"), latencies);
        return latencies;
    }

    private static void show(String what, Latencies latencies) {
        System.out.printf("%-44s %s%n", what, latencies);
    }

    // The compared calls.

    private Latencies direct(Path jar, int rows) throws Exception {
        Path directory = Files.createTempDirectory("iree4j-load");
        Path module = directory.resolve("digits.vmfb");
        Path parameters = directory.resolve("digits.irpa");
        try (FileSystem zip = FileSystems.newFileSystem(jar)) {
            Files.copy(zip.getPath("BOOT-INF/classes/models/digits.vmfb"), module);
            Files.copy(zip.getPath("BOOT-INF/classes/models/digits.irpa"), parameters);
        }
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(module)
                        .parameters("model", parameters)
                        .build())) {
            ProgramFunction classify = program.function("classify");
            byte[] pixels = new byte[Float.BYTES * rows * SampleServer.PIXELS];
            Latencies measured = new Latencies();
            for (int round = 0; round < 2; round++) { // the first warms up
                measured = new Latencies();
                long end = System.nanoTime() + seconds * 1_000_000_000L / 2;
                for (long start = System.nanoTime(); start < end; start = System.nanoTime()) {
                    // As in a server: from bytes to bytes.
                    Tensor pictures =
                            Tensor.read(new ByteArrayInputStream(pixels), ElementType.F32, rows, SampleServer.PIXELS);
                    try (Results results = classify.invoke(pictures)) {
                        results.tensor(0).rawBytes();
                    }
                    measured.add(System.nanoTime() - start);
                }
            }
            measured.lasted(seconds / 2.0);
            return measured;
        } finally {
            Files.delete(module);
            Files.delete(parameters);
            Files.delete(directory);
        }
    }

    private static byte[] ownRequest(int rows) {
        return SampleServer.request(
                "POST",
                "/infer",
                "Content-Type: application/octet-stream;type=f32;shape=\"%d,%d\"\r\nAccept: application/octet-stream\r\n"
                        .formatted(rows, SampleServer.PIXELS),
                new byte[Float.BYTES * rows * SampleServer.PIXELS]);
    }

    private static byte[] jsonRequest() {
        String body = "{\"inputs\":[{\"name\":\"input0\",\"shape\":[%d,%d],\"datatype\":\"FP32\",\"data\":%s}]}"
                .formatted(1, SampleServer.PIXELS, Arrays.toString(new float[SampleServer.PIXELS]));
        return SampleServer.request(
                "POST",
                "/v2/models/digits/infer",
                "Content-Type: application/json\r\n",
                body.getBytes(StandardCharsets.US_ASCII));
    }

    private Latencies load(int port, byte[] request, int connections) throws Exception {
        try (ExecutorService clients = Executors.newFixedThreadPool(connections)) {
            List<Future<Latencies>> running = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                running.add(clients.submit((Callable<Latencies>) () -> client(port, request)));
            }
            Latencies all = new Latencies();
            for (Future<Latencies> each : running) {
                all.addAll(each.get());
            }
            all.lasted(seconds);
            return all;
        }
    }

    private Latencies client(int port, byte[] request) throws IOException {
        Latencies latencies = new Latencies();
        try (HttpConnection connection = new HttpConnection(port)) {
            long end = System.nanoTime() + seconds * 1_000_000_000L;
            for (long start = System.nanoTime(); start < end; start = System.nanoTime()) {
                connection.exchange(request);
                latencies.add(System.nanoTime() - start);
            }
        }
        return latencies;
    }

    private static double metric(int port, String name) throws IOException {
        try (HttpConnection connection = new HttpConnection(port)) {
            byte[] body =
                    connection.exchange(SampleServer.request("GET", "/actuator/metrics/" + name, "", new byte[0]));
            Matcher value = VALUE.matcher(new String(body, StandardCharsets.UTF_8));
            return value.find() ? Double.parseDouble(value.group(1)) : Double.NaN;
        }
    }

    /** The Java allocations of another process's threads, queried through its management agent. */
    private static final class Allocations implements AutoCloseable {
        private final JMXConnector connector;

        @SuppressWarnings("BanJNDI") // the address belongs to our own process
        Allocations(long process) throws Exception {
            VirtualMachine machine = VirtualMachine.attach(Long.toString(process));
            try {
                connector = JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()));
            } finally {
                machine.detach();
            }
        }

        long bytes() throws Exception {
            return (Long) connector
                    .getMBeanServerConnection()
                    .getAttribute(new ObjectName("java.lang:type=Threading"), "TotalThreadAllocatedBytes");
        }

        @Override
        public void close() throws IOException {
            connector.close();
        }
    }

    /** The latencies of many requests. */
    private static final class Latencies {
        private long[] nanos = new long[1 << 16];
        private int count;
        private double seconds;
        private double allocated = Double.NaN;

        void add(long value) {
            if (count == nanos.length) {
                nanos = Arrays.copyOf(nanos, 2 * count);
            }
            nanos[count++] = value;
        }

        void addAll(Latencies others) {
            for (int i = 0; i < others.count; i++) {
                add(others.nanos[i]);
            }
        }

        void lasted(double time) {
            seconds = time;
            Arrays.sort(nanos, 0, count);
        }

        int count() {
            return count;
        }

        /** Sets the bytes allocated by the server in Java per request. */
        void allocated(double bytes) {
            allocated = bytes;
        }

        double allocated() {
            return allocated;
        }

        double median() {
            return at(0.5);
        }

        private double at(double part) {
            return count == 0 ? Double.NaN : nanos[(int) (part * (count - 1))];
        }

        @Override
        public String toString() {
            return "%8.0f per second, p50 %7.1f us, p99 %8.1f us%s"
                    .formatted(
                            count / seconds,
                            median() / 1e3,
                            at(0.99) / 1e3,
                            Double.isNaN(allocated) ? "" : ", %7.0f bytes".formatted(allocated));
        }
    }
}
