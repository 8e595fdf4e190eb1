package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.frontier.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The line under load: always in movement. */
class LineLoadTest extends MemoryLine {
    @Test
    void whileARequestFitsSomethingProgresses() {
        for (int seed = 0; seed < 300; seed++) {
            randomLoad(seed);
        }
    }

    /** Consumers that take a piece, perhaps a second, and then release both; no consumer asks for more than exists. */
    private void randomLoad(int seed) {
        Random random = new Random(seed);
        FakeSlabs own = new FakeSlabs();
        int units = 20;
        PoolSet set = PoolSet.builder(own, tracker)
                .budget(units * 64)
                .delayed(nanos -> look -> {}) // all on this thread
                .pool(PoolOptions.passThrough("blocks")
                        .withRetained(random.nextInt(20) * 64L)
                        .withSizes(0, 64))
                .pool(PoolOptions.tlsf("t", 64, 4 * 64).withSizes(0, 12 * 64))
                .pool(PoolOptions.passThrough("large").withRetained(random.nextInt(20) * 64))
                .build();
        List<Reservation> held = new ArrayList<>();
        AtomicInteger ended = new AtomicInteger();
        int asked = 100;
        int submitted = 0;
        while (ended.get() < asked) {
            if (submitted < asked && random.nextBoolean()) {
                int consumer = submitted++;
                set.reserve(
                        ReservationRequest.of(64L * (1 + random.nextInt(random.nextInt(units) + 1)))
                                .withConsumer("c" + consumer),
                        (reservation, failure) -> {
                            assertThat(reservation).isNotNull();
                            if (random.nextBoolean()) {
                                reservation.announceRelease();
                            }
                            held.add(reservation);
                            ended.incrementAndGet();
                        });
            } else if (!held.isEmpty()) {
                held.remove(random.nextInt(held.size())).release(Frontier.EMPTY);
            } else {
                assertThat(set.statistics().waiting())
                        .as("nothing is held and requests wait, seed %d", seed)
                        .isZero();
            }
        }
        held.forEach(each -> each.release(Frontier.EMPTY));
        set.trim();
        assertThat(own.bytesOut).isZero();
    }

    // POOL-1: bytes belong to a single reservation at a time.
    // POOL-2: a request in line is granted or withdrawn, exactly once.
    // POOL-3: a request that joins the line during a release does not miss it.
    @Test
    void everyRequestOfManyThreadsEndsOnce() throws Exception {
        PoolSet set = PoolSet.builder(slabs, tracker)
                .budget(8 * 64)
                .delayed(nanos -> look -> {}) // since the grant would come on a thread not joined here
                .pool(PoolOptions.tlsf("t", 64, 8 * 64))
                .build();
        AtomicInteger owners = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger takenBack = new AtomicInteger();
        int rounds = 5000;
        CyclicBarrier start = new CyclicBarrier(4);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Random random = new Random(t);
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                for (int i = 0; i < rounds; i++) {
                    long size = 64L * (1 + random.nextInt(8));
                    Cancellation cancellation = set.reserve(ReservationRequest.of(size), (reservation, failure) -> {
                        granted.incrementAndGet();
                        if (reservation == null || owners.addAndGet((int) size) > 8 * 64) {
                            wrong.incrementAndGet();
                            return;
                        }
                        owners.addAndGet(-(int) size);
                        reservation.release(Frontier.EMPTY);
                    });
                    if (random.nextInt(4) == 0 && cancellation.cancel()) {
                        takenBack.incrementAndGet();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).hasValue(0);
        assertThat(granted.get() + takenBack.get()).isEqualTo(4 * rounds);
        assertThat(set.statistics().bytesLive()).isZero();
        assertThat(set.statistics().waiting()).isZero();
    }
}
