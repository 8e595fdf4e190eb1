package io.github.iree4j.generation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Clients that come and go at random times, and share a cache for a few of them. */
final class GenerationClients {
    private static final long SEED = 42;
    private static final int CLIENTS = 200;
    private static final int BUDGET = 20; // clients whose requests fit into the cache, on average

    private GenerationClients() {}

    /** A client: when to come, what to ask, and after how many tokens to go; -1 for a client that stays. */
    private record Client(long arrival, GenerationRequest request, int leaveAfter) {}

    static void print(BareLoop loop, double scale) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(SEED);
        List<Client> clients = new ArrayList<>();
        long arrival = 0;
        long pages = 0;
        for (int i = 0; i < CLIENTS; i++) {
            arrival += (long) (-Math.log(1 - random.nextDouble()) * 5e9 * scale / CLIENTS);
            int prompt = random.nextInt(16, 257);
            int most = random.nextInt(16, 129);
            pages += loop.shapes().pagesFor(prompt + most);
            clients.add(new Client(
                    arrival,
                    GenerationRequest.of(most, loop.randomTokens(random, prompt)),
                    i % 3 == 0 ? random.nextInt(1, most / 2 + 1) : -1));
        }
        int budget = (int) (BUDGET * pages / CLIENTS);
        System.out.printf(
                "%n%d clients arrive within %.1f s, a third leave in the middle; %d pages, for %d of them%n",
                CLIENTS, arrival / 1e9, budget, BUDGET);
        System.out.println(
                "| pages on the host | requests/s | tokens/s | first token p50, p99, ms | preemptions | ended, left, failed | pages not free at the end |");
        System.out.println("|---|---|---|---|---|---|---|");
        for (int host : new int[] {0, budget}) {
            GeneratorOptions options =
                    loop.options().pages(budget + 1).hostPages(host).build();
            try (Generator generator = Generator.create(loop.program(), options)) {
                serve(generator, clients.subList(0, CLIENTS / 8)); // warms up
                System.out.printf("| %d %s%n", host, serve(generator, clients));
            }
        }
    }

    /** The figures of a run. */
    private static final class Count {
        private final List<Long> firsts = new ArrayList<>(); // guarded by this, as the others
        private int ended;
        private int left;
        private int failed;
        private double seconds;
        private long tokens;
        private long preemptions;
        private int missing;

        synchronized void add(Generation generation, boolean cancelled, int received) {
            generation.timeToFirstToken().map(Duration::toNanos).ifPresent(firsts::add);
            boolean all = received == generation.request().maximumTokens();
            ended += all ? 1 : 0;
            left += cancelled ? 1 : 0;
            failed += all || cancelled ? 0 : 1;
        }

        @Override
        public synchronized String toString() {
            return "| %.1f | %.0f | %.0f, %.0f | %d | %d, %d, %d | %d |"
                    .formatted(
                            (ended + left) / seconds,
                            tokens / seconds,
                            TokenTimes.quantile(firsts, 0.5) / 1e6,
                            TokenTimes.quantile(firsts, 0.99) / 1e6,
                            preemptions,
                            ended,
                            left,
                            failed,
                            missing);
        }
    }

    private static Count serve(Generator generator, List<Client> clients) throws InterruptedException {
        Count count = new Count();
        GeneratorStatistics before = generator.statistics();
        List<Thread> threads = new ArrayList<>();
        long start = System.nanoTime();
        for (Client each : clients) {
            threads.add(Thread.startVirtualThread(() -> {
                try {
                    TimeUnit.NANOSECONDS.sleep(start + each.arrival - System.nanoTime());
                    be(each, generator, count);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        for (Thread each : threads) {
            each.join();
        }
        count.seconds = (System.nanoTime() - start) / 1e9;
        for (int i = 0; i < 1000 && !generator.snapshot().await().sequences().isEmpty(); i++) {
            Thread.onSpinWait(); // cancelled sequences go before the next step
        }
        GeneratorStatistics after = generator.statistics();
        count.tokens = after.generatedTokens() - before.generatedTokens();
        count.preemptions = after.preemptions() - before.preemptions();
        count.missing = after.pages() - after.freePages() - after.keptPages();
        return count;
    }

    private static void be(Client client, Generator generator, Count count) throws InterruptedException {
        Generation generation = generator.submit(client.request);
        int received = 0;
        boolean cancelled = false;
        try {
            while (generation.next().isPresent()) {
                received++;
                if (received == client.leaveAfter) {
                    generation.cancel();
                    cancelled = true;
                    break;
                }
            }
        } catch (RuntimeException e) {
            System.out.println("a request failed: " + e);
        }
        count.add(generation, cancelled, received);
    }
}
