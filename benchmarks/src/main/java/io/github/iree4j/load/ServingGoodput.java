package io.github.iree4j.load;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * How many answers per second do clients of a service get if all requests together need more memory than the device
 * has? {@link Goodput} asks the same without a service.
 *
 * <p>The sample's {@code digits} over HTTP, with and without batches of two requests, against a budget of 34 MB. A
 * request has 20,000 pictures in binary, 5.12 MB; the call takes 5.92 MB more, and the answer 0.8 MB. A single client,
 * with the same server, is measured before and after each number of clients.
 *
 * <p>Run after {@code ./mvnw -q package -DskipTests -pl benchmarks,sample-app -am}; prints rows of a Markdown table,
 * and exits with status 1 when a row has less than {@value #BOUND} of a single client's rate, a request without an
 * answer of status 200, or a client without an answer:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.ServingGoodput sample-app/target/iree4j-sample-app.jar [SECONDS]
 * }</pre>
 */
public final class ServingGoodput {
    private static final double BOUND = 0.7;
    private static final int ROWS = 20_000;
    private static final int[] CLIENTS = {2, 3, 6, 12};
    private static final String DIGITS = "--iree.modules.digits.";

    private final double seconds;
    private final byte[] request = SampleServer.protocolRequest(ROWS);
    private boolean holds = true;

    private ServingGoodput(double seconds) {
        this.seconds = seconds;
    }

    /**
     * Measures.
     *
     * @param arguments the sample's jar, and the seconds of each row, 5 by default
     * @throws Exception when the sample does not start
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 1) {
            System.err.println("usage: ServingGoodput SAMPLE.jar [SECONDS]");
            System.exit(2);
        }
        ServingGoodput goodput = new ServingGoodput(arguments.length > 1 ? Double.parseDouble(arguments[1]) : 5);
        System.out.println(
                "| calls | clients | answers/s | of one client's | refused | slowest client of mean | longest wait, ms |");
        System.out.println("|---|---|---|---|---|---|---|");
        goodput.measure(Path.of(arguments[0]), "one by one");
        goodput.measure(
                Path.of(arguments[0]),
                "batched by two",
                DIGITS + "batching.enabled=true",
                DIGITS + "batching.max-size=" + 2 * ROWS,
                DIGITS + "batching.max-waiting=" + 100 * ROWS,
                DIGITS + "batching.max-in-flight=6");
        System.exit(goodput.holds ? 0 : 1);
    }

    private void measure(Path jar, String calls, String... properties) throws Exception {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("--iree.pools.local.budget=34MB");
        all.add("--iree.http.max-in-flight-size=200MB");
        all.add(DIGITS + "contexts=6");
        try (SampleServer server = new SampleServer(jar, all.toArray(String[]::new))) {
            load(server, 2); // warms up
            double before = rate(load(server, 1));
            for (int count : CLIENTS) {
                List<Client> clients = load(server, count);
                double after = rate(load(server, 1));
                double ratio = 2 * rate(clients) / (before + after);
                before = after;
                long refused = clients.stream().mapToLong(each -> each.refused).sum();
                long least =
                        clients.stream().mapToLong(each -> each.answers).min().orElse(0);
                boolean within = ratio >= BOUND && refused == 0 && least > 0;
                holds &= within;
                System.out.printf(
                        "| %s | %d | %.1f | %s%.2f%s | %d | %.2f | %.0f |%n",
                        calls,
                        count,
                        rate(clients),
                        within ? "" : "**",
                        ratio,
                        within ? "" : "**",
                        refused,
                        rate(clients) == 0 ? 0 : least * count / (rate(clients) * seconds),
                        clients.stream().mapToLong(each -> each.longest).max().orElse(0) / 1e6);
            }
        }
    }

    private double rate(List<Client> clients) {
        return clients.stream().mapToLong(each -> each.answers).sum() / seconds;
    }

    private List<Client> load(SampleServer server, int count) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(count)) {
            List<Future<Client>> running = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                running.add(threads.submit(new Client(server.port())));
            }
            List<Client> clients = new ArrayList<>();
            for (Future<Client> each : running) {
                clients.add(each.get());
            }
            return clients;
        }
    }

    /** Sends the request again and again. */
    private final class Client implements Callable<Client> {
        private final int port;
        private long answers;
        private long refused;
        private long longest;

        Client(int port) {
            this.port = port;
        }

        @Override
        public Client call() {
            long end = System.nanoTime() + (long) (seconds * 1e9);
            while (System.nanoTime() < end) {
                try (HttpConnection connection = new HttpConnection(port)) {
                    for (long start = System.nanoTime(); start < end; start = System.nanoTime()) {
                        connection.exchange(request);
                        long now = System.nanoTime();
                        longest = Math.max(longest, now - start);
                        answers += now < end ? 1 : 0;
                    }
                } catch (IOException e) {
                    refused++; // or broken off: a server may refuse a body unread
                }
            }
            return this;
        }
    }
}
