package io.github.iree4j.load;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * How many requests per second does a service answer with iree4j, and how many with ONNX Runtime in a bare controller?
 *
 * <p>The application of {@code benchmarks/onnxruntime} has a perceptron 64-128-10 behind two controllers that differ by
 * the runtime, and behind the Open Inference Protocol. Clients send the next request after the answer; the three take
 * turns. The server has the first processor, and the clients have the others.
 *
 * <p>Run after {@code ./mvnw -q package -DskipTests -Ponnxruntime -pl benchmarks,benchmarks/onnxruntime -am} and
 * {@code python benchmarks/onnxruntime/make.py FOLDER}; prints rows of a Markdown table:
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.load.ServingPeer \
 *     benchmarks/onnxruntime/target/onnxruntime.jar FOLDER [SECONDS]
 * }</pre>
 */
public final class ServingPeer {
    private static final int[] CLIENTS = {1, 4, 16};
    private static final int WARM = 4;
    private static final int ROUNDS = 9;
    private static final String PEER = "/onnxruntime";

    private ServingPeer() {}

    /**
     * Measures.
     *
     * @param arguments the application's jar, the folder with the model, and the seconds of each turn, 3 by default
     * @throws Exception when the application does not start
     */
    public static void main(String[] arguments) throws Exception {
        double seconds = arguments.length > 2 ? Double.parseDouble(arguments[2]) : 3;
        String numbers = Arrays.toString(numbers());
        Map<String, byte[]> requests = new LinkedHashMap<>();
        requests.put(PEER, json(PEER, "{\"data\":%s}".formatted(numbers)));
        requests.put("/iree", json("/iree", "{\"data\":%s}".formatted(numbers)));
        requests.put(
                "/v2",
                json(
                        "/v2/models/mlp/infer",
                        "{\"inputs\":[{\"name\":\"input0\",\"shape\":[1,64],\"datatype\":\"FP32\",\"data\":%s}]}"
                                .formatted(numbers)));
        try (SampleServer server = SampleServer.onItsOwnProcessor(
                Path.of(arguments[0]),
                List.of(
                        "--iree.modules.mlp.location=file:" + Path.of(arguments[1], "mlp.vmfb"),
                        "--peer.onnx=" + Path.of(arguments[1], "mlp.onnx"),
                        "--iree.serving.enabled=true"))) {
            System.out.println("| clients | answered by | answers/s | of ONNX Runtime's, median (lowest to highest) |");
            System.out.println("|---|---|---|---|");
            for (int clients : CLIENTS) {
                measure(server.port(), requests, clients, seconds);
            }
        }
    }

    private static float[] numbers() {
        float[] numbers = new float[64];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) Math.sin(i);
        }
        return numbers;
    }

    private static byte[] json(String path, String body) {
        return SampleServer.request(
                "POST", path, "Content-Type: application/json\r\n", body.getBytes(StandardCharsets.US_ASCII));
    }

    private static void measure(int port, Map<String, byte[]> requests, int clients, double seconds)
            throws IOException, InterruptedException {
        Map<String, Rates> all = new LinkedHashMap<>();
        for (int i = -WARM; i < ROUNDS; i++) {
            double peer = 0;
            for (Map.Entry<String, byte[]> each : requests.entrySet()) {
                double rate = rate(port, each.getValue(), clients, seconds);
                peer = each.getKey().equals(PEER) ? rate : peer;
                if (i >= 0) {
                    all.computeIfAbsent(each.getKey(), _ -> new Rates(new ArrayList<>(), new ArrayList<>()))
                            .add(rate, peer);
                }
            }
        }
        all.forEach((path, rates) -> System.out.println("| %d | `%s` | %s |".formatted(clients, path, rates)));
    }

    /** Answers per second in each round, and their ratios to the peer's in the same round. */
    private record Rates(List<Double> rates, List<Double> ratios) {
        void add(double rate, double peer) {
            rates.add(rate);
            ratios.add(rate / peer);
        }

        @Override
        public String toString() {
            rates.sort(null);
            ratios.sort(null);
            return "%.0f | %.2f (%.2f to %.2f)"
                    .formatted(rates.get(ROUNDS / 2), ratios.get(ROUNDS / 2), ratios.getFirst(), ratios.getLast());
        }
    }

    private static double rate(int port, byte[] request, int clients, double seconds)
            throws IOException, InterruptedException {
        LongAdder answers = new LongAdder();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        List<HttpConnection> connections = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            HttpConnection connection = new HttpConnection(port);
            connections.add(connection);
            threads.add(Thread.startVirtualThread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        connection.exchange(request);
                        answers.increment();
                    }
                } catch (IOException e) {
                    failure.compareAndSet(null, e);
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
        for (HttpConnection each : connections) {
            each.close();
        }
        IOException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
        return answers.sum() / seconds;
    }
}
