package io.github.iree4j.sample.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A client that asks for a picture and for the service's health all the time, while others misbehave. */
final class Bystander {
    private static final byte[] HEALTH = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final byte[] PICTURE = HostileClients.json("/v2/models/digits/infer", HostileClients.PICTURE);

    private final HostileClients clients;
    private final List<Long> health = Collections.synchronizedList(new ArrayList<>());
    private final List<Long> pictures = Collections.synchronizedList(new ArrayList<>());
    private final List<Integer> statuses = Collections.synchronizedList(new ArrayList<>());
    private final List<Thread> threads;
    private volatile boolean over;

    Bystander(int port) {
        clients = new HostileClients(port);
        threads = List.of(
                Thread.ofPlatform().start(() -> run(HEALTH, health)),
                Thread.ofPlatform().start(() -> run(PICTURE, pictures)));
    }

    private void run(byte[] request, List<Long> times) {
        while (!over) {
            long begun = System.nanoTime();
            int status;
            try {
                status = clients.exchange(request);
            } catch (IOException e) {
                status = -1;
            }
            times.add(System.nanoTime() - begun);
            statuses.add(status);
        }
    }

    /** Status of each response. */
    List<Integer> statuses() {
        return statuses;
    }

    static double p99(List<Long> times) {
        List<Long> sorted = new ArrayList<>(times);
        Collections.sort(sorted);
        return sorted.isEmpty() ? Double.NaN : sorted.get((int) Math.ceil(0.99 * (sorted.size() - 1))) / 1e9;
    }

    double health() {
        return p99(health);
    }

    double pictures() {
        return p99(pictures);
    }

    long refused() {
        return statuses.stream().filter(status -> status != 200).count();
    }

    /** Returns when its last requests are answered. */
    void stop() throws InterruptedException {
        over = true;
        for (Thread each : threads) {
            each.join();
        }
    }

    @Override
    public String toString() {
        return "health %d, p99 %.3f s; pictures %d, p99 %.3f s; %d not answered with 200"
                .formatted(health.size(), health(), pictures.size(), pictures(), refused());
    }
}
