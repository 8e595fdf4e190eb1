package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** FUTURE-1: the end of a call is run once, by a thread in a wait for the future or by a separate thread. */
@Timeout(600)
class CallFutureTest {
    private final AtomicInteger ends = new AtomicInteger();
    private final AtomicReference<Thread> endedOn = new AtomicReference<>();

    private Runnable endOf(CallFuture<Object> future, Object results) {
        return () -> {
            ends.incrementAndGet();
            endedOn.set(Thread.currentThread());
            if (future.claim()) {
                future.deliver(results);
            }
        };
    }

    private static CallFuture<Object> future() {
        return new CallFuture<>("f", new MemoryHolder("test", new OperationsUnderWay()), () -> {});
    }

    private static Object results() {
        return new Object();
    }

    private static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aWaitingThreadRunsTheEnd() throws Exception {
        CallFuture<Object> future = future();
        Object results = results();
        Thread waiting =
                Thread.ofPlatform().start(() -> assertThat(future.join()).isSameAs(results));
        awaitWaiting(waiting);
        future.conclude("end", endOf(future, results));
        waiting.join();
        assertThat(endedOn).hasValue(waiting);
        assertThat(ends).hasValue(1);
    }

    @Test
    void aVirtualThreadRunsTheEndWithoutAWaiter() throws Exception {
        CallFuture<Object> future = future();
        future.conclude("end", endOf(future, results()));
        future.get();
        assertThat(endedOn.get().isVirtual()).isTrue();
    }

    @Test
    void abandoningTheCallWakesItsWaiters() throws Exception {
        CallFuture<Object> future = future();
        Thread waiting = Thread.ofPlatform()
                .start(() ->
                        assertThatExceptionOfType(CancellationException.class).isThrownBy(future::join));
        awaitWaiting(waiting);
        assertThat(future.cancel(true)).isTrue();
        waiting.join();
        assertThat(future.claim()).as("too late for the call's outcome").isFalse();
    }

    @Test
    void aClaimedOutcomeIsNotGivenUp() throws Exception {
        CallFuture<Object> future = future();
        assertThat(future.claim()).isTrue();
        assertThat(future.cancel(true)).isFalse();
        assertThat(future.completeExceptionally(new IllegalStateException())).isFalse();
        Object results = results();
        assertThat(future.deliver(results)).isTrue();
        assertThat(future.get()).isSameAs(results);
    }

    @Test
    void waitingEndsWithTimeAndInterrupts() throws Exception {
        CallFuture<Object> future = future();
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> future.get(1, TimeUnit.MILLISECONDS));
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(future::get);
        // join does not return on an interrupt, and leaves the thread interrupted.
        Thread waiting = Thread.ofPlatform().start(() -> {
            Thread.currentThread().interrupt();
            assertThat(future.join()).isNotNull();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            ends.incrementAndGet();
        });
        awaitWaiting(waiting);
        future.conclude("end", endOf(future, results()));
        waiting.join();
        assertThat(ends).hasValue(2);
    }

    @Test
    void endsAreRunOnceWhicheverThreadsWaitAndLeave() throws Exception {
        long seed = Effort.seed(20261120);
        int rounds = Effort.rounds(20_000);
        List<CallFuture<Object>> futures =
                Stream.generate(CallFutureTest::future).limit(rounds).toList();
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        Phaser round = new Phaser(3);
        Thread[] waiting = new Thread[2];
        for (int t = 0; t < waiting.length; t++) {
            Random random = new Random(seed + t);
            waiting[t] = Thread.ofPlatform().start(() -> {
                for (CallFuture<Object> future : futures) {
                    round.arriveAndAwaitAdvance();
                    try {
                        switch (random.nextInt(4)) {
                            case 0 -> future.join();
                            case 1 -> future.get(random.nextInt(20_000), TimeUnit.NANOSECONDS);
                            case 2 -> {
                                Thread.currentThread().interrupt();
                                future.get();
                            }
                            default -> future.cancel(true);
                        }
                    } catch (CancellationException | TimeoutException | InterruptedException e) {
                        Thread.interrupted();
                    } catch (ExecutionException | CompletionException | Error e) {
                        wrong.set(e);
                    }
                    Thread.interrupted();
                }
            });
        }
        Random random = new Random(seed - 1);
        for (CallFuture<Object> future : futures) {
            round.arriveAndAwaitAdvance();
            for (int spins = random.nextInt(200); spins > 0; spins--) {
                Thread.onSpinWait();
            }
            future.conclude("end", endOf(future, results()));
        }
        for (Thread thread : waiting) {
            thread.join();
        }
        for (CallFuture<Object> future : futures) {
            while (!future.isDone()) {
                Thread.onSpinWait();
            }
        }
        while (ends.get() < rounds) {
            Thread.onSpinWait();
        }
        assertThat(ends.get()).as("seed %d", seed).isEqualTo(rounds);
        assertThat(wrong.get()).as("seed %d", seed).isNull();
    }
}
