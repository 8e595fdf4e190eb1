package io.github.iree4j.async.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The guarantees of a proactor, with any source.
 *
 * <p>PROACTOR-1, PROACTOR-2 and PROACTOR-3 with threads; the stress tests cover the interleavings.
 */
@Timeout(300)
class ProactorTest {
    private final StepSource source = new StepSource();
    private final AtomicLong clock =
            new AtomicLong(Long.MAX_VALUE - 5); // overflows soon, as a clock with any origin may
    private final Proactor proactor = Proactor.create("test", source, clock::get);
    private final List<String> events = new ArrayList<>();

    @AfterEach
    void close() {
        source.underWay.forEach(source::finish);
        proactor.close();
    }

    private Completion note(String what) {
        return (result, failure) -> events.add(what + " " + (failure == null ? result : failure.code()));
    }

    @Test
    void nothingHappensOutsideOfPoll() {
        proactor.execute(() -> events.add("message"));
        proactor.after(Duration.ZERO, note("timer"));
        source.finish(source.begin(7, note("operation")));
        assertThat(events).isEmpty();
        assertThat(proactor.poll()).isEqualTo(3);
        assertThat(events).containsExactly("message", "timer 0", "operation 7");
        assertThat(proactor.poll()).isZero();
    }

    @Test
    void timersBecomeDueInTheOrderOfTheirTimes() {
        proactor.after(Duration.ofNanos(20), note("b"));
        proactor.after(Duration.ofNanos(10), note("a"));
        proactor.after(Duration.ofNanos(20), note("c"));
        proactor.after(Duration.ofSeconds(-1), note("past"));
        proactor.poll();
        assertThat(events).containsExactly("past 0");
        clock.addAndGet(19);
        proactor.poll();
        assertThat(events).containsExactly("past 0", "a 0");
        clock.addAndGet(1);
        proactor.poll();
        assertThat(events).containsExactly("past 0", "a 0", "b 0", "c 0");
    }

    @Test
    void theOwnerSleepsUntilTheFirstTimer() {
        proactor.after(Duration.ofNanos(70), note("timer"));
        proactor.poll(Duration.ofNanos(30));
        proactor.poll(Duration.ofNanos(500));
        proactor.poll(Duration.ofNanos(-1));
        assertThat(source.awaited).containsExactly(30L, 70L, 70L);
        clock.addAndGet(70);
        proactor.poll(Duration.ofNanos(-1));
        assertThat(source.awaited).as("something was due").hasSize(3);
        proactor.poll(Duration.ofSeconds(Long.MAX_VALUE));
        assertThat(source.awaited.getLast())
                .isGreaterThan(Duration.ofDays(36500).toNanos());
    }

    @Test
    void aCancelledTimerIsNeverCalled() {
        Cancellation timer = proactor.after(Duration.ofNanos(1), note("timer"));
        assertThat(timer.cancel()).isTrue();
        assertThat(timer.cancel()).isFalse();
        clock.addAndGet(1);
        assertThat(proactor.poll()).isZero();
        Cancellation second = proactor.after(Duration.ZERO, note("second"));
        proactor.poll();
        assertThat(second.cancel()).isFalse();
        assertThat(events).containsExactly("second 0");
    }

    @Test
    void timersOfAnyOrderAreCalledInTheirsWhicheverAreCancelled() {
        long seed = Effort.seed(20261125);
        Random random = new Random(seed);
        List<Integer> called = new ArrayList<>();
        TreeMap<Integer, List<Integer>> expected = new TreeMap<>();
        List<Runnable> cancellations = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            int number = i;
            int due = random.nextInt(100);
            Cancellation timer = proactor.after(Duration.ofNanos(due), (_, _) -> called.add(number));
            expected.computeIfAbsent(due, _ -> new ArrayList<>()).add(number);
            if (random.nextInt(3) == 0) {
                cancellations.add(() -> {
                    assertThat(timer.cancel()).isTrue();
                    expected.get(due).remove((Integer) number);
                });
            }
        }
        Collections.shuffle(cancellations, random);
        cancellations.forEach(Runnable::run);
        for (int step = 0; step < 100; step += 5) {
            clock.addAndGet(5);
            proactor.poll();
        }
        assertThat(called)
                .as("seed %d", seed)
                .isEqualTo(expected.values().stream().flatMap(List::stream).toList());
    }

    @Test
    void aTimerAddingATimerDoesNotKeepTheOwnerBusyForever() {
        AtomicInteger count = new AtomicInteger();
        Completion[] again = new Completion[1];
        again[0] = (_, failure) -> {
            clock.incrementAndGet();
            if (failure == null && count.incrementAndGet() < 1000) {
                proactor.after(Duration.ZERO, again[0]);
            }
        };
        proactor.after(Duration.ZERO, again[0]);
        proactor.poll();
        assertThat(count).hasValue(1);
    }

    @Test
    void aFloodOfMessagesDoesNotStarveOthers() {
        Runnable[] again = new Runnable[1];
        again[0] = () -> {
            if (!proactor.isClosed() && proactor.failure() == null) {
                proactor.execute(again[0]);
            }
        };
        proactor.execute(again[0]);
        proactor.after(Duration.ZERO, note("timer"));
        source.finish(source.begin(1, note("operation")));
        proactor.poll();
        assertThat(events).containsExactly("timer 0", "operation 1");
    }

    @Test
    void throwingCallbacksDoNotAffectOthers() {
        proactor.execute(() -> {
            throw new IllegalStateException("thrown on purpose");
        });
        proactor.after(Duration.ZERO, (_, _) -> {
            throw new AssertionError("thrown on purpose");
        });
        proactor.execute(() -> events.add("message"));
        assertThat(proactor.poll()).isEqualTo(3);
        assertThat(events).containsExactly("message");
        assertThat(proactor.failure()).isNull();
    }

    @Test
    void messagesGoToAnotherProactorAndBack() {
        try (Proactor other = Proactor.create("other", new StepSource(), clock::get)) {
            proactor.execute(() -> other.execute(() -> {
                events.add("there");
                proactor.execute(() -> events.add("back"));
            }));
            assertThat(other.poll()).isZero();
            proactor.poll();
            assertThat(events).isEmpty();
            other.poll();
            proactor.poll();
            assertThat(events).containsExactly("there", "back");
        }
    }

    @Test
    void aWakeEndsTheNextSleep() {
        proactor.wake();
        proactor.poll(Duration.ofSeconds(1));
        assertThat(source.awaited).isEmpty();
        proactor.poll(Duration.ofSeconds(1));
        assertThat(source.awaited).hasSize(1);
    }

    @Test
    void aCallbackMustNotPoll() {
        List<StatusCode> codes = new ArrayList<>();
        proactor.execute(() -> {
            try {
                proactor.poll();
            } catch (IreeException e) {
                codes.add(e.code());
            }
        });
        proactor.poll();
        assertThat(codes).containsExactly(StatusCode.FAILED_PRECONDITION);
        try (Proactor started = Proactor.start("started", new ParkingSource())) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(started::poll)
                    .withMessageContaining("proactor 'started' has an owner thread");
        }
    }

    @Test
    void closingEndsEverythingOnce() {
        source.begin(1, note("operation"));
        proactor.after(Duration.ofDays(1), note("timer"));
        proactor.execute(() -> events.add("message"));
        proactor.close();
        proactor.close();
        assertThat(events).containsExactlyInAnyOrder("message", "operation CANCELLED", "timer CANCELLED");
        assertThat(source.calls).containsExactly("stop CANCELLED", "close");
        assertThat(proactor.isClosed()).isTrue();
        assertThat(proactor.poll()).isZero();
        proactor.wake();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> proactor.execute(() -> {}))
                .withMessageContaining("proactor 'test' is closed")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> proactor.after(Duration.ZERO, note("late")));
    }

    @Test
    void theSourceIsOpenUntilItsOperationsHaveEnded() {
        source.slowToStop = true;
        StepSource.Operation operation = source.begin(5, note("operation"));
        proactor.shutdown();
        proactor.poll();
        assertThat(source.calls).containsExactly("stop CANCELLED");
        assertThat(proactor.isClosed()).isFalse();
        source.finish(operation);
        proactor.poll();
        assertThat(events).as("over before the cancellation").containsExactly("operation 5");
        assertThat(source.calls).containsExactly("stop CANCELLED", "close");
        assertThat(proactor.isClosed()).isTrue();
    }

    @Test
    void aCallbackMayCloseTheProactor() {
        proactor.execute(() -> {
            proactor.close();
            events.add("still running " + proactor.isClosed());
        });
        proactor.after(Duration.ofSeconds(1), note("timer"));
        while (!proactor.isClosed()) {
            proactor.poll();
        }
        assertThat(events).containsExactly("still running false", "timer CANCELLED");
    }

    @Test
    void aLostSourceFailsEverything() {
        source.broken = IreeException.of(StatusCode.ABORTED, "device is gone");
        source.begin(1, note("operation"));
        proactor.after(Duration.ofDays(1), note("timer"));
        while (!proactor.isClosed()) {
            proactor.poll(Duration.ofSeconds(1));
        }
        assertThat(events).containsExactlyInAnyOrder("operation ABORTED", "timer ABORTED");
        assertThat(source.calls).containsExactly("stop ABORTED", "close");
        assertThat(proactor.failure()).isSameAs(source.broken);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> proactor.execute(() -> {}))
                .withMessageContaining("device is gone")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.ABORTED));
    }

    @Test
    void aSourceFailingToStopIsNotCalledAgain() {
        source.broken = new IllegalStateException("broken for good");
        source.slowToStop = true;
        source.begin(1, note("operation"));
        for (int i = 0; i < 3; i++) {
            proactor.poll(Duration.ofSeconds(1));
        }
        assertThat(proactor.isClosed()).isTrue();
        assertThat(source.calls).containsExactly("stop INTERNAL", "close");
    }

    @Test
    void anOwnerThreadRunsEverything() throws Exception {
        source.sleeps = true;
        CountDownLatch heard = new CountDownLatch(3);
        try (Proactor started = Proactor.start("iree4j-test-owner", source)) {
            started.execute(() -> {
                assertThat(Thread.currentThread().isDaemon()).isTrue();
                assertThat(Thread.currentThread().getName()).isEqualTo("iree4j-test-owner");
                heard.countDown();
            });
            started.after(Duration.ofMillis(1), (_, _) -> heard.countDown());
            source.finish(source.begin(1, (_, _) -> heard.countDown()));
            started.wake();
            assertThat(heard.await(30, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(source.calls).containsExactly("stop CANCELLED", "close");
    }

    @Test
    void anIdleOwnerThreadEndsAndIsRestarted() throws Exception {
        try (Proactor started = Proactor.start("iree4j-test-idle", new ParkingSource(), Duration.ofNanos(1))) {
            for (int i = 0; i < 100; i++) {
                CountDownLatch ran = new CountDownLatch(1);
                Thread[] owner = new Thread[1];
                started.execute(() -> {
                    owner[0] = Thread.currentThread();
                    ran.countDown();
                });
                assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
                if (i % 10 == 0) {
                    owner[0].join(); // nothing to do: it ends
                }
            }
        }
    }

    @Test
    void anOwnerThreadStaysForPendingOperations() throws Exception {
        source.sleeps = true;
        try (Proactor started = Proactor.start("iree4j-test-busy", source, Duration.ofMillis(1))) {
            CountDownLatch ended = new CountDownLatch(1);
            Thread[] owners = new Thread[2];
            CountDownLatch begun = new CountDownLatch(1);
            StepSource.Operation operation = source.begin(1, (_, _) -> {
                owners[1] = Thread.currentThread();
                ended.countDown();
            });
            started.execute(() -> {
                owners[0] = Thread.currentThread();
                begun.countDown();
            });
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            owners[0].join(20); // would be over by then
            source.finish(operation);
            started.wake();
            assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(owners[1]).isSameAs(owners[0]);
        }
    }

    @Test
    void messagesOfManyThreadsAreRunWhileTheOwnerComesAndGoes() throws Exception {
        int count = 20_000;
        AtomicInteger ran = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(2 * count);
        try (Proactor started = Proactor.start("iree4j-test-race", new ParkingSource(), Duration.ZERO)) {
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < count; i++) {
                        if (i % 3 == 0) {
                            started.after(Duration.ofNanos(i % 7), (_, _) -> all.countDown());
                        } else {
                            started.execute(() -> {
                                ran.incrementAndGet();
                                all.countDown();
                            });
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void messagesAcceptedDuringCloseAreRun() throws Exception {
        for (int i = 0; i < 200; i++) {
            Proactor started = Proactor.start("iree4j-test-close", new ParkingSource(), Duration.ZERO);
            AtomicInteger ended = new AtomicInteger();
            int[] accepted = new int[1];
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    for (; ; accepted[0]++) {
                        if (accepted[0] % 2 == 0) {
                            started.execute(ended::incrementAndGet);
                        } else {
                            started.after(Duration.ofDays(1), (_, failure) -> {
                                assertThat(failure).isNotNull();
                                ended.incrementAndGet();
                            });
                        }
                    }
                } catch (IreeException closed) {
                    // as expected
                }
            });
            started.close();
            other.join();
            assertThat(ended).hasValue(accepted[0]);
        }
    }
}
