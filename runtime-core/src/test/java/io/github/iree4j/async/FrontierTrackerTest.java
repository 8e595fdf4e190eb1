package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.github.iree4j.Effort;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FrontierTrackerTest {
    private final AxisAllocator allocator = AxisAllocator.create(7, 1);
    private final long first = allocator.allocate(CausalDomain.QUEUE);
    private final long second = allocator.allocate(CausalDomain.QUEUE);
    private final long third = allocator.allocate(CausalDomain.HOST);
    private final FrontierTracker tracker = FrontierTracker.create();

    /** The outcomes received by callbacks: "reached", or the code of the failure. */
    private static final class Log implements Consumer<@Nullable IreeException> {
        final List<String> calls = new ArrayList<>();

        @Override
        public void accept(@Nullable IreeException failure) {
            calls.add(failure == null ? "reached" : failure.code() + ": " + failure.getMessage());
        }
    }

    private final Log log = new Log();

    @BeforeEach
    void register() {
        tracker.register(first);
        tracker.register(second);
        tracker.register(third);
    }

    @AfterEach
    void close() {
        tracker.close();
    }

    private static Frontier frontier(long... axesAndEpochs) {
        Frontier frontier = Frontier.EMPTY;
        for (int i = 0; i < axesAndEpochs.length; i += 2) {
            frontier = frontier.insertOrRaise(axesAndEpochs[i], axesAndEpochs[i + 1]);
        }
        return frontier;
    }

    private static Frontier produced(long axis, long epoch, Frontier waits) {
        MutableFrontier gathered = new MutableFrontier();
        gathered.merge(waits);
        return gathered.produce(axis, epoch, CompletedEpochs.NONE);
    }

    @Test
    void completedIsTheGreatestEpochWhateverTheOrderOfReports() {
        assertThat(tracker.completed(first)).isZero();
        tracker.advance(first, 5);
        tracker.advance(first, 3);
        assertThat(tracker.completed(first)).isEqualTo(5);
        tracker.advance(first, 5);
        assertThat(tracker.completed(first)).isEqualTo(5);
        assertThat(tracker.completed(second)).isZero();
        tracker.advance(first, Long.MAX_VALUE);
        assertThat(tracker.completed(first)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void unknownAxisHasCompletedNothingAndCannotBeUsed() {
        long unknown = allocator.allocate(CausalDomain.COLLECTIVE);
        assertThat(tracker.completed(unknown)).isZero();
        for (Runnable use : List.<Runnable>of(
                () -> tracker.advance(unknown, 1),
                () -> tracker.whenCompleted(frontier(first, 1, unknown, 1), log),
                () -> tracker.retire(unknown),
                () -> tracker.fail(unknown, IreeException.of(StatusCode.ABORTED, "gone")))) {
            assertThatThrownBy(use::run)
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                    .hasMessageContaining("collective:0@m1.s7");
        }
        assertThat(log.calls).isEmpty();
    }

    @Test
    void axisHasASingleOwner() {
        assertThatThrownBy(() -> tracker.register(first))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.ALREADY_EXISTS))
                .hasMessageContaining("queue:0@m1.s7");
        assertThatThrownBy(() -> tracker.register(Axis.NONE))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void completedFrontierCallsBackAtOnce() {
        tracker.whenCompleted(Frontier.EMPTY, log);
        tracker.advance(first, 2);
        assertThat(tracker.whenCompleted(frontier(first, 2), log).cancel()).isFalse();
        assertThat(log.calls).containsExactly("reached", "reached");
    }

    @Test
    void waiterIsCalledWhenTheLastOfItsEpochsArrives() {
        tracker.whenCompleted(frontier(first, 2, second, 3, third, 1), log);
        tracker.advance(third, 9);
        tracker.advance(second, 3);
        tracker.advance(first, 1);
        assertThat(log.calls).isEmpty();
        tracker.advance(first, 2);
        assertThat(log.calls).containsExactly("reached");
        tracker.advance(first, 3);
        assertThat(log.calls).hasSize(1);
    }

    @Test
    void waitersOfAnAxisAreCalledInOrderOfTheirEpochs() {
        List<Integer> order = new ArrayList<>();
        for (int epoch : new int[] {3, 1, 2, 3, 1}) {
            tracker.whenCompleted(frontier(first, epoch), failure -> order.add(epoch));
        }
        tracker.advance(first, 2);
        assertThat(order).containsExactly(1, 1, 2);
        tracker.advance(first, 10);
        assertThat(order).containsExactly(1, 1, 2, 3, 3);
    }

    @Test
    void cancelledWaiterIsNotCalledAndTheOthersAre() {
        Cancellation cancelled = tracker.whenCompleted(frontier(first, 1), failure -> log.calls.add("cancelled one"));
        Cancellation kept = tracker.whenCompleted(frontier(first, 1), log);
        assertThat(cancelled.cancel()).isTrue();
        assertThat(cancelled.cancel()).isFalse();
        tracker.advance(first, 1);
        assertThat(kept.cancel()).isFalse();
        assertThat(log.calls).containsExactly("reached");
    }

    @Test
    void waiterCanBeCancelledAfterAMoveToAnotherAxis() {
        Cancellation wait = tracker.whenCompleted(frontier(first, 1, second, 1), log);
        tracker.advance(first, 1);
        assertThat(wait.cancel()).isTrue();
        tracker.advance(second, 1);
        assertThat(log.calls).isEmpty();
    }

    @Test
    void producersEpochAloneDecides() {
        Frontier produced = produced(second, 4, frontier(first, 2));
        tracker.whenCompleted(produced.tainted(), log);
        tracker.advance(first, 2);
        assertThat(log.calls).isEmpty();
        tracker.advance(second, 4);
        assertThat(log.calls).containsExactly("reached");
    }

    @Test
    void producersEpochStandsForUnreportedAxes() {
        Frontier produced = produced(second, 4, frontier(first, 2));
        tracker.whenCompleted(produced, log);
        tracker.advance(second, 4);
        assertThat(log.calls).containsExactly("reached");
    }

    @Test
    void failureOfAnAxisReachesWaitersLinkedToAnother() {
        tracker.advance(first, 1);
        tracker.whenCompleted(frontier(first, 1, second, 5), log);
        tracker.fail(first, IreeException.of(StatusCode.ABORTED, "device is lost"));
        assertThat(log.calls).containsExactly("ABORTED: device is lost");
    }

    @Test
    void closingFindsTheRemainingWaitersAfterOthersLeft() {
        Log last = new Log();
        Log middle = new Log();
        tracker.whenCompleted(frontier(first, 1), log);
        tracker.whenCompleted(frontier(second, 1), middle);
        tracker.whenCompleted(frontier(third, 1), last);
        tracker.advance(second, 1); // between the others
        assertThat(middle.calls).containsExactly("reached");
        tracker.whenCompleted(frontier(second, 2), middle);
        tracker.advance(second, 2); // the latest
        tracker.close();
        assertThat(log.calls).singleElement().asString().startsWith("CANCELLED");
        assertThat(last.calls).singleElement().asString().startsWith("CANCELLED");
        assertThat(middle.calls).containsExactly("reached", "reached");
    }

    @Test
    void taintWithoutProducerCannotBeWaitedFor() {
        for (Frontier tainted : List.of(Frontier.UNKNOWN, frontier(first, 1).tainted())) {
            tracker.advance(first, 1);
            assertThatThrownBy(() -> tracker.whenCompleted(tainted, log))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        }
        assertThat(log.calls).isEmpty();
    }

    @Test
    void failedAxisFailsOnlyItsFrontiers() {
        Log others = new Log();
        tracker.whenCompleted(frontier(first, 1, second, 1), log);
        tracker.whenCompleted(frontier(first, 1), others);
        tracker.fail(second, IreeException.of(StatusCode.ABORTED, "device 'a' is lost"));
        tracker.fail(second, IreeException.of(StatusCode.INTERNAL, "too late"));
        assertThat(log.calls).containsExactly("ABORTED: device 'a' is lost");
        assertThat(others.calls).isEmpty();
        assertThat(tracker.failure(second)).hasMessage("device 'a' is lost");
        tracker.advance(first, 1);
        assertThat(others.calls).containsExactly("reached");
    }

    @Test
    void waitForAFailedAxisFailsEvenAfterItsEpochWasReached() {
        tracker.advance(first, 5);
        tracker.fail(first, IreeException.of(StatusCode.ABORTED, "device is lost"));
        tracker.whenCompleted(frontier(first, 5), log);
        assertThat(log.calls).containsExactly("ABORTED: device is lost");
        assertThat(tracker.completed(first)).as("an earlier retirement stays").isEqualTo(5);
    }

    @Test
    void retiringAnAxisCostsTheSameHoweverManyExist() {
        // A minute and a half if each retirement scans all earlier axes; a build's processor may be busy.
        Duration limit = Duration.ofSeconds(Effort.isBrief() ? 300 : 20);
        assertTimeoutPreemptively(limit, FrontierTrackerTest::retireMany);
    }

    private static void retireMany() {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        int count = 100_000;
        for (int attempt = 0; attempt < 2; attempt++) { // the first warms up
            try (FrontierTracker tracker = FrontierTracker.create()) {
                AxisAllocator axes = AxisAllocator.create(3, 0);
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < count; i++) {
                    long axis = axes.allocate(CausalDomain.COLLECTIVE);
                    tracker.register(axis);
                    tracker.advance(axis, 1);
                    tracker.retire(axis);
                }
                long each = (threads.getCurrentThreadAllocatedBytes() - before) / count;
                assertThat(each)
                        .as("bytes allocated per axis; an exception with a stack takes 2,500")
                        .isLessThan(attempt == 0 ? 1000 : 500);
            }
        }
    }

    @Test
    void retiredAxisKeepsItsProgressAndCancelsTheRest() {
        Log reached = new Log();
        tracker.advance(first, 5);
        tracker.whenCompleted(frontier(first, 6), log);
        tracker.whenCompleted(frontier(first, 5, second, 1), reached);
        tracker.retire(first);
        tracker.fail(first, IreeException.of(StatusCode.INTERNAL, "too late"));
        assertThat(log.calls)
                .hasSize(1)
                .allMatch(call -> call.startsWith("CANCELLED: axis 'queue:0@m1.s7' was retired"));
        tracker.whenCompleted(frontier(first, 5), log);
        tracker.whenCompleted(frontier(first, 7), log);
        assertThat(log.calls.subList(1, 3))
                .satisfiesExactly(
                        done -> assertThat(done).isEqualTo("reached"),
                        never -> assertThat(never).startsWith("CANCELLED"));
        assertThat(reached.calls).isEmpty();
        tracker.advance(second, 1);
        assertThat(reached.calls).containsExactly("reached");
        assertThat(tracker.failure(first)).isNull();
    }

    @Test
    void closingCancelsTheRemainingWaiters() {
        tracker.whenCompleted(frontier(first, 1, third, 1), log);
        tracker.whenCompleted(frontier(second, 1), log);
        tracker.close();
        tracker.close();
        assertThat(log.calls).hasSize(2).allMatch(call -> call.startsWith("CANCELLED: frontier tracker was closed"));
        tracker.advance(first, 3);
        assertThat(tracker.completed(first)).as("completions may be late").isEqualTo(3);
        for (Runnable use : List.<Runnable>of(
                () -> tracker.whenCompleted(Frontier.EMPTY, log),
                () -> tracker.register(allocator.allocate(CausalDomain.QUEUE)))) {
            assertThatThrownBy(use::run)
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        }
    }

    @Test
    void callbacksMayAdvanceAnyAxisToAnyDepth() {
        int depth = 100_000;
        AtomicInteger ran = new AtomicInteger();
        for (int i = 1; i <= depth; i++) {
            int next = i + 1;
            tracker.whenCompleted(frontier(i % 2 == 0 ? first : second, i), failure -> {
                ran.incrementAndGet();
                tracker.advance(next % 2 == 0 ? first : second, next);
            });
        }
        tracker.advance(second, 1);
        assertThat(ran).hasValue(depth);
    }

    @Test
    void callbackMayRegisterAxesAndWait() {
        long fourth = allocator.allocate(CausalDomain.COLLECTIVE);
        tracker.whenCompleted(frontier(first, 1), failure -> {
            tracker.register(fourth);
            tracker.whenCompleted(frontier(fourth, 1), log);
        });
        tracker.advance(first, 1);
        tracker.advance(fourth, 1);
        assertThat(log.calls).containsExactly("reached");
    }

    @Test
    void throwingCallbackDoesNotAffectOthers() {
        tracker.whenCompleted(frontier(first, 1), failure -> {
            throw new IllegalStateException("a bug in a callback");
        });
        tracker.whenCompleted(frontier(first, 1), log);
        tracker.advance(first, 1);
        assertThat(log.calls).containsExactly("reached");
    }

    /** TRACK-2, TRACK-3: many short races of registration, advance and cancellation. */
    @Test
    void everyWaiterIsCalledOrCancelledWhileThreadsRace() throws Exception {
        int rounds = 2_000;
        AtomicInteger called = new AtomicInteger();
        AtomicInteger cancelled = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(3);
        List<Thread> threads = List.of(
                Thread.ofPlatform().unstarted(() -> race(start, rounds, round -> tracker.advance(first, round))),
                Thread.ofPlatform().unstarted(() -> race(start, rounds, round -> tracker.advance(second, round))),
                Thread.ofPlatform()
                        .unstarted(() -> race(start, rounds, round -> {
                            Cancellation wait = tracker.whenCompleted(
                                    frontier(first, round, second, round), failure -> called.incrementAndGet());
                            if (round % 3 == 0 && wait.cancel()) {
                                cancelled.incrementAndGet();
                            }
                        })));
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(called.get() + cancelled.get()).isEqualTo(rounds);
    }

    private static void race(CyclicBarrier start, int rounds, Consumer<Integer> body) {
        for (int round = 1; round <= rounds; round++) {
            try {
                start.await();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            body.accept(round);
        }
    }

    /** TRACK-4: lookups proceed while the table grows. */
    @Test
    void axesCanBeRegisteredDuringLookups() throws Exception {
        int count = 20_000;
        Thread registrant = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < count; i++) {
                long axis = allocator.allocate(CausalDomain.QUEUE);
                tracker.register(axis);
                tracker.advance(axis, i + 1);
                tracker.advance(first, i + 1);
            }
        });
        long seen = 0;
        while (seen < count) {
            seen = tracker.completed(first);
            if (seen > 0) {
                long latest = Axis.of(7, 1, CausalDomain.QUEUE, 1 + seen);
                assertThat(tracker.completed(latest)).isEqualTo(seen);
            }
        }
        registrant.join();
    }
}
