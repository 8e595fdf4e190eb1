package io.github.iree4j.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * How many answers per second do clients of a service get when asking for more than the service can compute, and how
 * long do the answered requests take?
 *
 * <p>{@code fibonacci} of the fixtures over HTTP, a loop of the interpreter of some milliseconds, with small requests
 * and answers. First the capacity: 16 clients, each sending the next request after the answer. Then more such clients.
 * Then clients arriving at a rate, independently of earlier answers, up to four times the capacity; each is timed from
 * the planned arrival.
 *
 * <p>Run after {@code ./mvnw -q package -DskipTests -pl benchmarks,sample-app -am}; prints rows of a Markdown table,
 * and exits with status 1 when a row has less than {@value #BOUND} of the capacity's answers, or answers later than
 * line and computation allow:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.ServingOverload sample-app/target/iree4j-sample-app.jar \
 *     fixtures/modules/3.13.0/cpu/host_scalars.vmfb [SECONDS]
 * }</pre>
 */
public final class ServingOverload {
    private static final double BOUND = 0.9;
    private static final int SIXTEEN = 16;
    private static final int MANY = 4_000;
    private static final long LATE = 300_000_000; // nanoseconds
    private static final double LONGEST = 3; // seconds: 1 in line, the rest to compute 100 requests on few processors
    private static final String LOOP = "--iree.modules.loop.";

    private final SampleServer server;
    private final double seconds;
    private final byte[] request;
    private boolean holds = true;

    private ServingOverload(SampleServer server, double seconds, int steps) {
        this.server = server;
        this.seconds = seconds;
        this.request = SampleServer.request(
                "POST",
                "/v2/models/loop/infer",
                "",
                "{\"inputs\":[{\"name\":\"input0\",\"shape\":[],\"datatype\":\"INT32\",\"data\":[%d]}]}"
                        .formatted(steps)
                        .getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Measures.
     *
     * @param arguments the sample's jar, the module, and the seconds of each row, 10 by default
     * @throws Exception when the sample does not start
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2) {
            System.err.println("usage: ServingOverload SAMPLE.jar MODULE.vmfb [SECONDS] [PROPERTIES]");
            System.exit(2);
        }
        List<String> properties = new ArrayList<>(List.of(
                LOOP + "location=file:" + arguments[1],
                LOOP + "contexts=4",
                "--iree.serving.functions.loop=fibonacci",
                "--server.tomcat.accept-count=" + MANY));
        if (arguments.length > 3) {
            properties.addAll(Arrays.asList(arguments).subList(3, arguments.length));
        }
        boolean holds;
        try (SampleServer server = new SampleServer(Path.of(arguments[0]), properties.toArray(String[]::new))) {
            ServingOverload overload = new ServingOverload(
                    server, arguments.length > 2 ? Double.parseDouble(arguments[2]) : 10, 1_000_000);
            overload.measure();
            holds = overload.holds;
        }
        System.exit(holds ? 0 : 1);
    }

    private void measure() throws Exception {
        System.out.println(
                "| clients | answers/s | of the capacity | refused/s | after a wait | lost/s | median, ms | 99 of 100, ms |");
        System.out.println("|---|---|---|---|---|---|---|---|");
        for (int i = 0; i < 3; i++) {
            inTurn(SIXTEEN); // warms up, including waits and refusals
            inTurn(MANY / 10);
            atRate(MANY);
        }
        double capacity = inTurn(SIXTEEN).rate();
        print("16 in turn", inTurn(SIXTEEN), capacity);
        for (int clients : new int[] {64, 128, 400, 1_000}) {
            print(clients + " in turn", inTurn(clients), capacity);
        }
        for (double times : new double[] {0.8, 1, 2, 4}) {
            print("%.1f of the capacity".formatted(times), atRate(times * capacity), capacity);
        }
    }

    private void print(String clients, Outcome outcome, double capacity) {
        boolean isFull = !clients.startsWith("0.8");
        boolean within = outcome.percentile(0.99) < LONGEST * 1e9 && (!isFull || outcome.rate() >= BOUND * capacity);
        holds &= within;
        System.out.printf(
                "| %s | %.0f | %s%.2f%s | %.0f | %.0f | %.0f | %.1f | %.1f |%n",
                clients,
                outcome.rate(),
                within ? "" : "**",
                outcome.rate() / capacity,
                within ? "" : "**",
                outcome.refused / seconds,
                outcome.late / seconds,
                outcome.lost / seconds,
                outcome.percentile(0.5) / 1e6,
                outcome.percentile(0.99) / 1e6);
    }

    /** The results of requests. */
    private final class Outcome {
        private final List<Long> answers = new ArrayList<>();
        private long refused;
        private long late; // refused after a wait
        private long lost; // connections broken, or not made

        synchronized void answered(int status, long nanos) {
            if (status == 200) {
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
    private Outcome inTurn(int clients) throws InterruptedException {
        Outcome outcome = new Outcome();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            threads.add(Thread.startVirtualThread(() -> {
                while (System.nanoTime() < end) {
                    try (HttpConnection connection = new HttpConnection(server.port())) {
                        for (long start = System.nanoTime(); start < end; start = System.nanoTime()) {
                            int status = connection.status(request);
                            long now = System.nanoTime();
                            if (now < end) {
                                outcome.answered(status, now - start);
                            }
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
        return outcome;
    }

    /** Requests come at a rate, each on a free connection. */
    private Outcome atRate(double rate) throws InterruptedException {
        Outcome outcome = new Outcome();
        BlockingQueue<Long> due = new ArrayBlockingQueue<>(MANY);
        long begin = System.nanoTime();
        long end = begin + (long) (seconds * 1e9);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            threads.add(Thread.startVirtualThread(() -> client(due, outcome, end)));
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
        return outcome;
    }

    private void client(BlockingQueue<Long> due, Outcome outcome, long end) {
        while (System.nanoTime() < end) {
            try (HttpConnection connection = new HttpConnection(server.port())) {
                for (long start = due.take(); start < end; start = due.take()) {
                    int status = connection.status(request);
                    long now = System.nanoTime();
                    if (now < end) {
                        outcome.answered(status, now - start);
                    }
                }
            } catch (IOException e) {
                if (System.nanoTime() < end) {
                    outcome.lost();
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
