package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** DEADLOCK-1: the times of looks at the line, and the guarantee of a next look. */
class DeadlockLooksTest extends DeadlockLine {
    @Test
    void theNumberOfLooksDueWhileRequestsWaitIsBounded() {
        PoolSet set = halves().patience(1000 * LONG).build();
        holding(set, "a");
        holding(set, "b");
        askFor(set, new MemoryHolder("c", new OperationsUnderWay()), "c");
        pass(LONG);
        assertThat(failed).isEmpty();
        assertThat(looks).hasSizeLessThan(3);
    }

    @Test
    void aLostLookIsScheduledAgain() {
        AtomicBoolean refuses = new AtomicBoolean(true);
        Deadlock deadlock = deadlock(halves().delayed(nanos -> action -> {
            if (refuses.get()) {
                throw new RejectedExecutionException("on purpose");
            }
            after(nanos).execute(action);
        }));
        refuses.set(false);
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).as("no look").isEmpty();
        deadlock.set().idle(); // anything that serves the line
        pass(3 * DeadlockDetector.CONFIRM_NANOS);
        assertThat(failed).containsOnlyKeys("more for b");
    }

    /** The call is the only call of its consumer; then only the host could release memory for the consumer. */
    @Test
    void theHopeGivenByACallEndsWithTheCall() {
        PoolSet set = limited(0);
        ReservationRequest limited = ReservationRequest.of(HALF).withConsumer("limited");
        Reservation kept = set.tryReserve(limited.asPersistent());
        assertThat(kept).isNotNull();
        askAs(set, new MemoryHolder("call", new OperationsUnderWay()), "of the call", "limited");
        ask(set, "limited", 2 * HALF);
        pass(LONG);
        assertThat(failed).isEmpty();
        release("of the call");
        pass(LONG);
        assertThat(failed).containsOnlyKeys("limited");
    }

    private PoolSet limited(long hostPatience) {
        return builder(4 * HALF)
                .pool(PoolOptions.tlsf("t", 64, 4 * HALF))
                .quota("limited", 2 * HALF)
                .delayed(this::after)
                .hostPatience(hostPatience)
                .build();
    }

    private void holdAfterTheEnd(PoolSet set, String consumer) {
        MemoryHolder call = new MemoryHolder("ended", new OperationsUnderWay());
        askAs(set, call, "of the ended call", consumer);
        call.end();
    }

    @Test
    void aQuotaWaitsForMemoryHeldByAnEndedCallOfItsConsumer() {
        PoolSet set = limited(LONG);
        holdAfterTheEnd(set, "limited");
        ask(set, "limited", 2 * HALF);
        pass(LONG / 2);
        assertThat(failed).isEmpty();
        pass(LONG);
        assertThat(failed).containsOnlyKeys("limited");
    }

    @Test
    void aQuotaDoesNotWaitForMemoryHeldByEndedCallsOfOthers() {
        PoolSet set = limited(LONG);
        MemoryHolder program = new MemoryHolder("program", new OperationsUnderWay());
        askAs(set, program, "of the program", "limited");
        program.keep();
        holdAfterTheEnd(set, "free");
        ask(set, "limited", 2 * HALF);
        pass(LONG / 2);
        assertThat(failed).containsOnlyKeys("limited");
    }

    @Test
    void aCallBeginsAndEndsAWaitWithoutTheLock() throws Exception {
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        AtomicBoolean stops = new AtomicBoolean();
        PoolSet set = halves().clock(() -> {
                    if (stops.get()) {
                        locked.countDown();
                        await(done);
                    }
                    return clock.get();
                })
                .build();
        MemoryHolder a = holding(set, "a");
        MemoryHolder inner = holding(set, "inner");
        askFor(set, inner, "more");
        stops.set(true);
        Thread other = Thread.ofPlatform().daemon().start(set::statistics); // looks at the clock under the lock
        locked.await();
        CompletableFuture<Void> step = CompletableFuture.runAsync(() -> {
            MemoryHolder before = a.enter();
            a.goesOn(a.awaits(inner));
            a.leave(before);
        });
        try {
            assertThat(step).succeedsWithin(Duration.ofSeconds(30));
        } finally {
            done.countDown();
            other.join();
        }
        assertThat(a.isSuspended()).isTrue();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test // DEADLOCK-1
    void whileARequestIsInLineAndNothingIsUnderWayALookIsDue() {
        Random random = new Random(Effort.seed(DeadlockLooksTest.class, "looks", 50));
        for (int round = 0; round < Effort.rounds(50); round++) {
            looks.clear();
            got.clear();
            busy = false;
            PoolSetBuilder some =
                    builder(3 * HALF).pool(FakeSlabs.pieces("f", HALF)).delayed(this::after);
            if (random.nextBoolean()) {
                some.patience(LONG);
            }
            if (random.nextBoolean()) {
                some.hostPatience(random.nextInt(2) * LONG);
            }
            PoolSet set = some.build();
            List<MemoryHolder> calls = new ArrayList<>();
            for (int step = 0; step < 60; step++) {
                String name = "%d of %d".formatted(step, round);
                switch (random.nextInt(8)) {
                    case 0 -> ask(set, name, HALF);
                    case 1, 2 -> {
                        MemoryHolder call = new MemoryHolder(name, new OperationsUnderWay());
                        calls.add(call);
                        askFor(set, call, name);
                    }
                    case 3 -> got.keySet().stream().sorted().findFirst().ifPresent(this::release);
                    case 4 ->
                        calls.stream().skip(random.nextInt(4)).findFirst().ifPresent(call -> {
                            calls.remove(call);
                            if (random.nextBoolean()) {
                                call.end();
                            } else {
                                call.keep();
                            }
                        });
                    case 5 -> busy = true;
                    case 6 -> {
                        busy = false;
                        set.idle();
                    }
                    default -> pass(random.nextInt(3) * DeadlockDetector.CONFIRM_NANOS / 2);
                }
                if (!busy && set.statistics().waiting() > 0) {
                    long soon = clock.get() + DeadlockDetector.CONFIRM_NANOS;
                    assertThat(looks).as(name).anyMatch(look -> look.at() <= soon);
                }
            }
            set.close();
        }
    }
}
