package io.github.iree4j.sample.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A client that asks for a picture and for the service's health all the time, while others misbehave. */
final class Bystander {
    private static final byte[] HEALTH = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final byte[] PICTURE = HostileClients.json("/v2/models/digits/infer", HostileClients.PICTURE);

    private final HostileClients clients;
    private final Requests health = new Requests();
    private final Requests pictures = new Requests();
    private final List<Thread> threads;
    private volatile boolean over;

    Bystander(int port) {
        clients = new HostileClients(port);
        threads = List.of(
                Thread.ofPlatform().start(() -> run(HEALTH, health)),
                Thread.ofPlatform().start(() -> run(PICTURE, pictures)));
    }

    /** The requests of a kind. */
    private static final class Requests {
        private final List<Long> times = Collections.synchronizedList(new ArrayList<>());
        private final AtomicInteger answered = new AtomicInteger(); // with 200

        double served() {
            return (double) answered.get() / times.size();
        }
    }

    private void run(byte[] request, Requests requests) {
        while (!over) {
            long begun = System.nanoTime();
            int status;
            try {
                status = clients.exchange(request);
            } catch (IOException e) {
                status = -1;
            }
            requests.times.add(System.nanoTime() - begun);
            if (status == 200) {
                requests.answered.incrementAndGet();
            }
        }
    }

    static double p99(List<Long> times) {
        List<Long> sorted = new ArrayList<>(times);
        Collections.sort(sorted);
        return sorted.isEmpty() ? Double.NaN : sorted.get((int) Math.ceil(0.99 * (sorted.size() - 1))) / 1e9;
    }

    double health() {
        return p99(health.times);
    }

    double pictures() {
        return p99(pictures.times);
    }

    /** The share of health checks answered with 200. */
    double healthServed() {
        return health.served();
    }

    /** The share of pictures answered with 200. */
    double picturesServed() {
        return pictures.served();
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
        return "health %d, p99 %.3f s, %.3f served; pictures %d, p99 %.3f s, %.3f served"
                .formatted(
                        health.times.size(),
                        health(),
                        healthServed(),
                        pictures.times.size(),
                        pictures(),
                        picturesServed());
    }
}
