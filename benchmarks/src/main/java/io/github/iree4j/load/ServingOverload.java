package io.github.iree4j.load;

import io.github.iree4j.load.OverloadProtocol.Client;
import io.github.iree4j.load.OverloadProtocol.Clients;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * How many answers per second do clients of a service get when asking for more than the service can compute, and how
 * long do the answered requests take?
 *
 * <p>{@code fibonacci} of the fixtures, a loop of the interpreter, with small requests and answers. The capacity is the
 * rate of 16 clients, each sending the next request after the answer. The rows are more such clients, and clients
 * arriving at a rate, independently of earlier answers, up to four times the capacity; each is timed from the planned
 * arrival. HotSpot compiles the loop anew now and then, to faster or slower code, and code of waits and refusals during
 * minutes. So the measurement begins after a long time of overload, and each row is between two measurements of the
 * capacity, and related to the average of both.
 *
 * <p>The server has the first processor, and the clients have the others, as with clients on other machines.
 *
 * <p>Run after {@code ./mvnw -q package -DskipTests -pl benchmarks,sample-app -am}; prints rows of a Markdown table,
 * and exits with status 1 when a row at a rate has less than {@value #BOUND} of the capacity's answers, or answers
 * later than line and computation allow:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.ServingOverload sample-app/target/iree4j-sample-app.jar \
 *     fixtures/modules/3.13.0/cpu/host_scalars.vmfb http1|http2|grpc STEPS SECONDS [PROPERTIES]
 * }</pre>
 */
public final class ServingOverload {
    private static final double BOUND = 0.9;
    private static final int SIXTEEN = 16;
    private static final int MANY = 4_000;
    private static final int WARM = 12; // rows of overload
    private static final long LATE = 300_000_000; // nanoseconds
    private static final double LONGEST = 3; // seconds: 1 in line, the rest to compute 100 requests on few processors
    private static final String LOOP = "--iree.modules.loop.";

    private final SampleServer server;
    private final OverloadProtocol protocol;
    private final int steps;
    private final double seconds;
    private boolean holds = true;

    private ServingOverload(SampleServer server, OverloadProtocol protocol, int steps, double seconds) {
        this.server = server;
        this.protocol = protocol;
        this.steps = steps;
        this.seconds = seconds;
    }

    /**
     * Measures.
     *
     * @param arguments the sample's jar, the module, the protocol, the steps of the loop, the seconds of each row, and
     *     properties
     * @throws Exception when the sample does not start
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 5) {
            System.err.println("usage: ServingOverload SAMPLE.jar MODULE.vmfb PROTOCOL STEPS SECONDS [PROPERTIES]");
            System.exit(2);
        }
        List<String> properties = new ArrayList<>(List.of(
                LOOP + "location=file:" + arguments[1],
                LOOP + "contexts=4",
                "--iree.serving.functions.loop=fibonacci",
                "--server.http2.enabled=true",
                "--spring.grpc.server.enabled=true",
                "--spring.grpc.server.port=0",
                "--server.tomcat.accept-count=" + MANY));
        properties.addAll(Arrays.asList(arguments).subList(5, arguments.length));
        boolean holds;
        try (SampleServer server = SampleServer.onItsOwnProcessor(Path.of(arguments[0]), properties)) {
            ServingOverload overload = new ServingOverload(
                    server,
                    OverloadProtocol.valueOf(arguments[2].toUpperCase(Locale.ROOT)),
                    Integer.parseInt(arguments[3]),
                    Double.parseDouble(arguments[4]));
            overload.measure();
            holds = overload.holds;
        }
        System.exit(holds ? 0 : 1);
    }

    private void measure() throws Exception {
        double capacity = inTurn(SIXTEEN).rate();
        for (int i = 0; i < WARM; i++) {
            inTurn(MANY / 10);
            atRate(3 * capacity);
            capacity = inTurn(SIXTEEN).rate();
        }
        System.out.printf("%s, %d steps, %.1f s%n%n", protocol.label(), steps, seconds);
        System.out.println(
                "| clients | capacity/s | answers/s | of the capacity | refused/s | after a wait | lost/s | median, ms | 99 of 100, ms |");
        System.out.println("|---|---|---|---|---|---|---|---|---|");
        for (int clients : new int[] {64, 128, 400}) {
            Outcome outcome = inTurn(clients);
            capacity = print(clients + " in turn", 0, outcome, capacity);
        }
        for (double times : new double[] {0.8, 1, 2, 4}) {
            Outcome outcome = atRate(times * capacity);
            capacity = print("%.1f of the capacity".formatted(times), times, outcome, capacity);
        }
    }

    /** Prints a row, and returns the capacity afterwards. */
    private double print(String clients, double times, Outcome outcome, double before) throws Exception {
        double after = inTurn(SIXTEEN).rate();
        double capacity = (before + after) / 2;
        boolean within = outcome.percentile(0.99) < LONGEST * 1e9 && (times <= 1 || outcome.rate() >= BOUND * capacity);
        holds &= within;
        System.out.printf(
                "| %s | %.0f | %.0f | %s%.2f%s | %.0f | %.0f | %.0f | %.1f | %.1f |%n",
                clients,
                capacity,
                outcome.rate(),
                within ? "" : "**",
                outcome.rate() / capacity,
                within ? "" : "**",
                outcome.refused / seconds,
                outcome.late / seconds,
                outcome.lost / seconds,
                outcome.percentile(0.5) / 1e6,
                outcome.percentile(0.99) / 1e6);
        return after;
    }

    /** The results of requests. */
    private final class Outcome {
        private final List<Long> answers = new ArrayList<>();
        private long refused;
        private long late; // refused after a wait
        private long lost; // connections broken, or not made

        synchronized void ended(boolean answered, long nanos) {
            if (answered) {
                answers.add(nanos);
            } else {
                refused++;
                late += nanos > LATE ? 1 : 0;
            }
        }

        synchronized void lost() {
            lost++;
        }

        synchronized double rate() {
            return answers.size() / seconds;
        }

        synchronized double percentile(double part) {
            long[] sorted = answers.stream().mapToLong(each -> each).sorted().toArray();
            return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1, part * sorted.length)];
        }
    }

    /** Each client sends the next request after the answer. */
    private Outcome inTurn(int count) throws Exception {
        Outcome outcome = new Outcome();
        try (Clients clients = clients()) {
            long end = System.nanoTime() + (long) (seconds * 1e9);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                threads.add(Thread.startVirtualThread(() -> {
                    while (System.nanoTime() < end) {
                        try (Client client = clients.connect()) {
                            while (System.nanoTime() < end) {
                                ask(client, System.nanoTime(), outcome, end);
                            }
                        } catch (IOException e) {
                            outcome.lost();
                        }
                    }
                }));
            }
            for (Thread each : threads) {
                each.join();
            }
        }
        return outcome;
    }

    /** Requests come at a rate, each from a free client. */
    private Outcome atRate(double rate) throws Exception {
        Outcome outcome = new Outcome();
        BlockingQueue<Long> due = new ArrayBlockingQueue<>(MANY);
        try (Clients clients = clients()) {
            List<Thread> threads = new ArrayList<>();
            long begin = System.nanoTime();
            long end = begin + (long) (seconds * 1e9);
            for (int i = 0; i < MANY; i++) {
                threads.add(Thread.startVirtualThread(() -> serve(clients, due, outcome, end)));
            }
            long count = 0;
            for (long next = begin; next < end; next = begin + (long) (++count * 1e9 / rate)) {
                LockSupport.parkNanos(next - System.nanoTime());
                if (!due.offer(next)) {
                    outcome.lost();
                }
            }
            for (Thread each : threads) {
                each.interrupt();
            }
            for (Thread each : threads) {
                each.join();
            }
        }
        return outcome;
    }

    private void serve(Clients clients, BlockingQueue<Long> due, Outcome outcome, long end) {
        while (System.nanoTime() < end) {
            try (Client client = clients.connect()) {
                while (true) {
                    ask(client, due.take(), outcome, end);
                }
            } catch (IOException e) {
                if (System.nanoTime() < end && !Thread.currentThread().isInterrupted()) {
                    outcome.lost();
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void ask(Client client, long start, Outcome outcome, long end) throws IOException {
        boolean answered = client.isAnswered();
        long now = System.nanoTime();
        if (now < end) {
            outcome.ended(answered, now - start);
        }
    }

    /** Clients of a server without work left from earlier clients. */
    private Clients clients() throws IOException, InterruptedException {
        try (HttpConnection connection = new HttpConnection(server.port())) {
            byte[] request = SampleServer.request("GET", "/actuator/metrics/iree.requests.active", "", new byte[0]);
            while (!new String(connection.exchange(request), StandardCharsets.UTF_8).contains("\"value\":0.0")) {
                LockSupport.parkNanos(10_000_000);
            }
        }
        return protocol.new Clients(protocol == OverloadProtocol.GRPC ? server.grpcPort() : server.port(), steps);
    }
}
