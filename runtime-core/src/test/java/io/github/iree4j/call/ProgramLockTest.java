package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** PROGRAM-1, PROGRAM-2: the turn has one holder, and no place in line is forgotten. */
@Timeout(600)
class ProgramLockTest {
    private final ProgramLock lock = new ProgramLock();

    private static class Listener extends ProgramLock.Place {
        final CountDownLatch told = new CountDownLatch(1);

        @Override
        void granted() {
            told.countDown();
        }
    }

    @Test
    void placesGetTheTurnInTheOrderOfArrival() {
        Listener first = new Listener();
        Listener second = new Listener();
        Listener third = new Listener();
        lock.join(first);
        lock.join(second);
        lock.join(third);
        assertThat(first.isGiven()).isTrue();
        assertThat(second.isGiven()).isFalse();
        assertThat(lock.leave(second)).isTrue();
        lock.release();
        assertThat(third.isGiven()).isTrue();
        assertThat(lock.leave(third)).as("has the turn already").isFalse();
        lock.release();
        assertThat(second.isGiven()).isFalse();
    }

    @Test
    void aPlaceIsTakenAgainOnceItsTurnIsOver() {
        Listener again = new Listener();
        Listener other = new Listener();
        lock.join(again);
        lock.release();
        lock.join(other);
        lock.join(again);
        assertThat(again.isGiven()).as("another has the turn").isFalse();
        lock.release();
        assertThat(again.isGiven()).isTrue();
    }

    @Test
    void anInterruptedThreadLeavesTheLine() throws Exception {
        lock.take();
        Thread waiting = Thread.ofPlatform()
                .start(() ->
                        assertThatExceptionOfType(InterruptedException.class).isThrownBy(lock::take));
        while (waiting.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        Listener behind = new Listener();
        lock.join(behind);
        waiting.interrupt();
        waiting.join();
        lock.release();
        assertThat(behind.isGiven()).isTrue();
    }

    @Test
    void holderIsKnownToItselfOnly() throws Exception {
        lock.take();
        assertThat(lock.isRunBySelf()).isFalse();
        lock.run();
        assertThat(lock.isRunBySelf()).isTrue();
        Thread other =
                Thread.ofPlatform().start(() -> assertThat(lock.isRunBySelf()).isFalse());
        other.join();
        lock.pause();
        assertThat(lock.isRunBySelf()).isFalse();
        lock.release();
    }

    /**
     * Threads, some interrupted, and places, some abandoned: the turn has one holder, and all get the turn in the end.
     */
    @Test
    void everyWaiterGetsAnExclusiveTurn() throws Exception {
        long seed = Effort.seed(20261120);
        int parties = 4;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger turns = new AtomicInteger();
        int[] plain = {0}; // protected by the turn
        try (ExecutorService threads = Executors.newFixedThreadPool(parties)) {
            CyclicBarrier start = new CyclicBarrier(parties);
            List<Future<?>> all = new ArrayList<>();
            for (int p = 0; p < parties; p++) {
                Random random = new Random(seed + p);
                all.add(threads.submit(() -> {
                    start.await();
                    for (int i = 0; i < 3000; i++) {
                        boolean mine = true;
                        switch (random.nextInt(4)) {
                            case 0 -> lock.takeUninterruptibly();
                            case 1 -> {
                                if (random.nextBoolean()) {
                                    Thread.currentThread().interrupt();
                                }
                                try {
                                    lock.take();
                                } catch (InterruptedException e) {
                                    mine = false;
                                }
                                Thread.interrupted();
                            }
                            case 2 -> {
                                Listener place = new Listener();
                                lock.join(place);
                                place.told.await();
                                assertThat(place.isGiven()).isTrue();
                            }
                            default -> {
                                Listener place = new Listener();
                                lock.join(place);
                                mine = !lock.leave(place);
                            }
                        }
                        if (mine) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            plain[0]++;
                            turns.incrementAndGet();
                            inside.decrementAndGet();
                            lock.release();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        lock.take();
        assertThat(plain[0]).as("seed %d", seed).isEqualTo(turns.get());
    }
}
