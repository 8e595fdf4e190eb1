package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A timeline's history of signals and promises. */
class SemaphoreHistoryTest {
    private static final long A = axis(1);
    private static final long B = axis(2);

    private final TimelineSemaphore semaphore = TimelineSemaphore.create(0);
    private final SignalRecord found = new SignalRecord();

    private static long axis(long ordinal) {
        return Axis.of(1, 0, CausalDomain.QUEUE, ordinal);
    }

    private static Frontier after(Frontier dependency, long axis, long epoch) {
        MutableFrontier frontier = new MutableFrontier();
        frontier.merge(dependency);
        return frontier.produce(axis, epoch, CompletedEpochs.NONE);
    }

    @Test
    void nothingIsKnownOfAnUnpromisedValue() {
        assertThat(semaphore.lookup(1, found)).isFalse();
        assertThat(semaphore.frontierAt(1)).isNull();
        assertThat(semaphore.isTainted(1)).isFalse();
    }

    @Test
    void theInitialValueDependsOnNothing() {
        TimelineSemaphore started = TimelineSemaphore.create(7);
        assertThat(started.frontierAt(0)).isSameAs(Frontier.EMPTY);
        assertThat(started.frontierAt(7)).isSameAs(Frontier.EMPTY);
        started.signal(8, Frontier.producedBy(A, 1));
        assertThat(started.frontierAt(7)).isSameAs(Frontier.EMPTY);
        assertThat(started.frontierAt(8)).isEqualTo(Frontier.producedBy(A, 1));
    }

    @Test
    void aLateWaiterInheritsTheEarliestSignalNotTheLatest() {
        Frontier step1 = Frontier.producedBy(A, 1);
        Frontier step2 = after(step1, A, 2);
        Frontier step3 = after(Frontier.producedBy(B, 9), A, 3);
        semaphore.signal(1, step1);
        semaphore.signal(2, step2);
        semaphore.signal(3, step3);
        assertThat(semaphore.lookup(1, found)).isTrue();
        assertThat(found.value()).isEqualTo(1);
        assertThat(found.isReached()).isTrue();
        assertThat(found.isTainted()).isFalse();
        assertThat(found.frontier()).isSameAs(step1);
        assertThat(found.producerAxis()).isEqualTo(A);
        assertThat(found.producerEpoch()).isEqualTo(1);
        assertThat(semaphore.frontierAt(3)).isSameAs(step3);
    }

    @Test
    void aValueBetweenTwoSignalsInheritsTheUpperSignal() {
        semaphore.signal(2, Frontier.producedBy(A, 1));
        semaphore.signal(6, Frontier.producedBy(A, 2));
        assertThat(semaphore.lookup(4, found)).isTrue();
        assertThat(found.value()).isEqualTo(6);
        assertThat(found.producerEpoch()).isEqualTo(2);
    }

    @Test
    void anOldValueOutsideTheHistoryInheritsTheOldestKept() {
        TimelineSemaphore small = TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withHistoryCapacity(3));
        for (int i = 1; i <= 10; i++) {
            small.signal(i, Frontier.producedBy(A, i));
        }
        for (int i = 1; i <= 8; i++) {
            assertThat(small.frontierAt(i)).isEqualTo(Frontier.producedBy(A, 8));
        }
        assertThat(small.frontierAt(9)).isEqualTo(Frontier.producedBy(A, 9));
        assertThat(small.frontierAt(10)).isEqualTo(Frontier.producedBy(A, 10));
    }

    @Test
    void sixteenSignalsAreKeptByDefault() {
        for (int i = 1; i <= 40; i++) {
            semaphore.signal(i, Frontier.producedBy(A, i));
        }
        assertThat(semaphore.frontierAt(1)).isEqualTo(Frontier.producedBy(A, 25));
        assertThat(semaphore.frontierAt(26)).isEqualTo(Frontier.producedBy(A, 26));
    }

    @Test
    void emptySignalsDoNotEvictOthers() {
        semaphore.signal(1, Frontier.producedBy(A, 1));
        for (int i = 2; i <= 100; i++) {
            semaphore.signal(i);
        }
        assertThat(semaphore.frontierAt(1)).isEqualTo(Frontier.producedBy(A, 1));
        assertThat(semaphore.frontierAt(2)).isSameAs(Frontier.EMPTY);
        assertThat(semaphore.frontierAt(100)).isSameAs(Frontier.EMPTY);
    }

    @Test
    void aPromiseIsKnownBeforeItIsKept() {
        Frontier frontier = Frontier.producedBy(A, 1);
        assertThat(semaphore.promise(3, frontier)).isTrue();
        assertThat(semaphore.lookup(2, found)).isTrue();
        assertThat(found.value()).isEqualTo(3);
        assertThat(found.isReached()).isFalse();
        assertThat(found.frontier()).isSameAs(frontier);
        assertThat(semaphore.isReached(2)).isFalse();
        assertThat(semaphore.lookup(4, found)).isFalse();
        semaphore.signal(3, frontier);
        assertThat(semaphore.lookup(2, found)).isTrue();
        assertThat(found.isReached()).isTrue();
        assertThat(found.frontier()).isSameAs(frontier);
    }

    @Test
    void promisesMayBeMadeInAnyOrder() {
        for (int value : new int[] {5, 1, 4, 2, 3}) {
            assertThat(semaphore.promise(value, Frontier.producedBy(A, value))).isTrue();
        }
        for (int value = 1; value <= 5; value++) {
            assertThat(semaphore.frontierAt(value)).isEqualTo(Frontier.producedBy(A, value));
        }
    }

    @Test
    void promisesOutliveAnyNumberOfSignals() {
        Frontier last = Frontier.producedBy(B, 1);
        semaphore.promise(1_000, last);
        for (int i = 1; i < 1_000; i++) {
            semaphore.promise(i, Frontier.producedBy(A, i));
        }
        for (int i = 1; i < 1_000; i++) {
            semaphore.signal(i, Frontier.producedBy(A, i));
            assertThat(semaphore.frontierAt(i + 1)).isEqualTo(i == 999 ? last : Frontier.producedBy(A, i + 1));
        }
        semaphore.signal(1_000, last);
        assertThat(semaphore.frontierAt(1_000)).isSameAs(last);
    }

    @Test
    void theFirstOfTwoPromisesOfAValueStays() {
        semaphore.promise(1, Frontier.producedBy(A, 1));
        assertThat(semaphore.promise(1, Frontier.producedBy(B, 1))).isFalse();
        assertThat(semaphore.frontierAt(1)).isEqualTo(Frontier.producedBy(A, 1));
    }

    @Test
    void aReachedValueAndAFailedTimelineTakeNoPromise() {
        semaphore.signal(4);
        assertThat(semaphore.promise(4, Frontier.producedBy(A, 1))).isFalse();
        assertThat(semaphore.promise(2, Frontier.producedBy(A, 1))).isFalse();
        semaphore.fail(IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        assertThat(semaphore.promise(9, Frontier.producedBy(A, 1))).isFalse();
    }

    @Test
    void aPromiseNamesItsOperation() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> semaphore.promise(1, Frontier.of(A, 1)))
                .withMessageContaining("no operation produced");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> semaphore.promise(Long.MAX_VALUE, Frontier.producedBy(A, 1)))
                .withMessageContaining("largest");
    }

    @Test
    void aHostSignalDoesNotKeepAnOperationsPromise() {
        semaphore.promise(1, Frontier.producedBy(A, 1));
        semaphore.signal(1);
        assertThat(semaphore.frontierAt(1))
                .as("the operation of the promise may not have run")
                .isSameAs(Frontier.EMPTY);
    }

    @Test
    void aPassedPromiseIsForgottenUnlessTheSignalProvesIt() {
        semaphore.promise(1, Frontier.producedBy(A, 1));
        semaphore.promise(2, Frontier.producedBy(B, 1));
        Frontier third = after(Frontier.producedBy(B, 1), B, 2);
        semaphore.signal(3, third); // (B, 1) has run, (A, 1) may not have
        assertThat(semaphore.frontierAt(1)).isEqualTo(Frontier.producedBy(B, 1));
        assertThat(semaphore.frontierAt(2)).isEqualTo(Frontier.producedBy(B, 1));
        assertThat(semaphore.frontierAt(3)).isSameAs(third);
    }

    @Test
    void externalSignalsTaintUntilTheNextInternalSignal() {
        Frontier ours = Frontier.producedBy(A, 1);
        semaphore.signal(1, ours);
        semaphore.signalExternal(3);
        assertThat(semaphore.value()).isEqualTo(3);
        assertThat(semaphore.isTainted(1)).isFalse();
        assertThat(semaphore.isTainted(2)).isTrue();
        assertThat(semaphore.isTainted(3)).isTrue();
        assertThat(semaphore.isTainted(4)).as("not reached").isFalse();
        assertThat(semaphore.frontierAt(1)).isSameAs(ours);
        assertThat(semaphore.lookup(2, found)).isTrue();
        assertThat(found.isTainted()).isTrue();
        assertThat(found.isReached()).isTrue();
        assertThat(found.frontier().isTainted()).isTrue();
        assertThat(found.frontier().hasProducer()).isFalse();

        Frontier next = after(ours, A, 2);
        semaphore.signal(4, next);
        assertThat(semaphore.isTainted(3)).isFalse();
        assertThat(semaphore.frontierAt(1)).isSameAs(ours);
        assertThat(semaphore.frontierAt(2)).as("true, though less tight").isSameAs(next);
    }

    @Test
    void aSignalWithUnknownFrontierIsExternal() {
        semaphore.signal(1, Frontier.UNKNOWN);
        assertThat(semaphore.isTainted(1)).isTrue();
        Frontier evicted = Frontier.producedBy(A, 1).tainted();
        semaphore.signal(2, evicted);
        assertThat(semaphore.isTainted(2))
                .as("lost entries, but a known producer")
                .isFalse();
        assertThat(semaphore.frontierAt(2)).isSameAs(evicted);
    }

    @Test
    void taintComesAndGoesForever() {
        long value = 0;
        for (int round = 1; round <= 100_000; round++) {
            semaphore.signalExternal(++value);
            assertThat(semaphore.isTainted(value)).isTrue();
            Frontier ours = Frontier.producedBy(A, round);
            semaphore.signal(++value, ours);
            assertThat(semaphore.isTainted(value - 1)).isFalse();
            assertThat(semaphore.frontierAt(value)).isSameAs(ours);
        }
    }

    @Test
    void valuesCanBeTaintedAfterwards() {
        semaphore.signal(1, Frontier.producedBy(A, 1));
        semaphore.signal(2, Frontier.producedBy(A, 2));
        semaphore.signal(3, Frontier.producedBy(A, 3));
        semaphore.taintAbove(2);
        assertThat(semaphore.isTainted(2)).isFalse();
        assertThat(semaphore.isTainted(3)).isTrue();
        semaphore.signal(4, Frontier.producedBy(A, 4));
        assertThat(semaphore.isTainted(3)).isFalse();
        assertThat(semaphore.frontierAt(3)).isEqualTo(Frontier.producedBy(A, 4));
        semaphore.taintAbove(0);
        assertThat(semaphore.isTainted(1)).isTrue();
    }

    @Test
    void futureValuesAreNotTainted() {
        semaphore.signal(3, Frontier.producedBy(A, 3));
        semaphore.taintAbove(9);
        assertThat(semaphore.isTainted(3)).isFalse();
        semaphore.signal(10, Frontier.producedBy(A, 10));
        assertThat(semaphore.isTainted(10)).isFalse();
        assertThat(semaphore.frontierAt(3)).isEqualTo(Frontier.producedBy(A, 3));
    }

    @Test
    void anImportedTimelineMayBeTaintedFromItsStart() {
        TimelineSemaphore imported = TimelineSemaphore.create(5);
        imported.taintAbove(2);
        assertThat(imported.isTainted(5)).isTrue();
        assertThat(imported.isTainted(2)).isFalse();
        imported.signal(6, Frontier.producedBy(A, 1));
        assertThat(imported.isTainted(5)).isFalse();
    }

    @Test
    void externalPromisesAreRecorded() {
        Object event = new Object();
        assertThat(semaphore.promiseExternal(2, event)).isTrue();
        assertThat(semaphore.lookup(1, found)).isTrue();
        assertThat(found.isReached()).isFalse();
        assertThat(found.isTainted()).isTrue();
        assertThat(found.primitive()).isSameAs(event);
        assertThat(found.producerAxis()).isEqualTo(Axis.NONE);
        assertThat(semaphore.isTainted(2)).as("not reached").isFalse();
        semaphore.signalExternal(2);
        assertThat(semaphore.lookup(1, found)).isTrue();
        assertThat(found.primitive()).isNull();
        assertThat(found.isTainted()).isTrue();
    }

    @Test
    void aPromiseWaiterIsCalledByThePromise() {
        List<String> calls = new ArrayList<>();
        semaphore.whenPromised(2, (value, failure) -> calls.add("2 knows " + value));
        semaphore.whenPromised(5, (value, failure) -> calls.add("5 knows " + value));
        semaphore.promise(1, Frontier.producedBy(A, 1));
        assertThat(calls).isEmpty();
        semaphore.promise(3, Frontier.producedBy(A, 3));
        assertThat(calls).containsExactly("2 knows 3");
        semaphore.whenPromised(3, (value, failure) -> calls.add("late"));
        assertThat(calls).containsExactly("2 knows 3", "late");
        semaphore.signal(6);
        assertThat(calls).containsExactly("2 knows 3", "late", "5 knows 6");
    }

    @Test
    void aPromiseOfALowerValueIsNotEnough() {
        List<String> calls = new ArrayList<>();
        semaphore.promise(3, Frontier.producedBy(A, 3));
        semaphore.whenPromised(4, (value, failure) -> calls.add("4 knows " + value));
        assertThat(calls).isEmpty();
        semaphore.promise(5, Frontier.producedBy(A, 5));
        assertThat(calls).containsExactly("4 knows 5");
    }

    @Test
    void aSignalWithoutPromiseCallsBothKindsOfWaiters() {
        List<String> calls = new ArrayList<>();
        semaphore.whenPromised(1, (value, failure) -> calls.add("promised"));
        semaphore.whenReached(1, (value, failure) -> calls.add("reached"));
        semaphore.signal(1);
        assertThat(calls).containsExactly("reached", "promised");
        assertThat(semaphore.isAwaited()).isFalse();
    }

    @Test
    void theLastTaintWindowsAreRememberedWithAllTheirValues() {
        for (int i = 1; i <= TaintWindow.REMEMBERED + 5; i++) {
            semaphore.signalExternal(3L * i);
            semaphore.signalExternal(3L * i + 1);
            semaphore.signal(3L * i + 2);
        }
        assertThat(TaintWindow.recent()).hasSize(TaintWindow.REMEMBERED);
        TaintWindow last = TaintWindow.recent().getLast();
        assertThat(last.semaphore()).isEqualTo(semaphore.id());
        assertThat(last.reached()).isEqualTo(3L * (TaintWindow.REMEMBERED + 5) + 1);
        assertThat(last.recovered()).isNotNull();
    }

    @Test
    void aPromiseWaiterHearsOfFailureAndClosing() {
        List<String> calls = new ArrayList<>();
        semaphore.whenPromised(1, (value, failure) -> calls.add(failure == null ? "null" : failure.getMessage()));
        Cancellation cancelled = semaphore.whenPromised(1, (value, failure) -> calls.add("cancelled"));
        assertThat(cancelled.cancel()).isTrue();
        assertThat(cancelled.cancel()).isFalse();
        semaphore.fail(IreeException.of(StatusCode.DATA_LOSS, "lost on purpose"));
        assertThat(calls).containsExactly("lost on purpose");
        TimelineSemaphore closed = TimelineSemaphore.create(0);
        closed.whenPromised(4, (value, failure) -> calls.add(failure == null ? "null" : failure.getMessage()));
        closed.close();
        assertThat(calls).hasSize(2);
        assertThat(calls.getLast()).contains("closed before it reached 4");
    }

    @Test
    void withdrawingAPromiseLeavesTheOthers() {
        Object event = new Object();
        semaphore.promise(1, Frontier.producedBy(A, 1));
        semaphore.promiseExternal(2, event);
        semaphore.promise(3, Frontier.producedBy(A, 3));
        semaphore.withdrawPromise(2, new Object());
        assertThat(semaphore.lookup(2, found)).isTrue();
        assertThat(found.primitive()).isSameAs(event);
        semaphore.withdrawPromise(2, event);
        assertThat(semaphore.frontierAt(2)).isEqualTo(Frontier.producedBy(A, 3));
        assertThat(semaphore.frontierAt(1)).isEqualTo(Frontier.producedBy(A, 1));
    }

    /**
     * Signals between a waiter's first check of the value and its registration; {@code crowdExecutor()} is called at
     * this point.
     */
    @Test
    void aValueReachedWhileAWaiterRegistersCallsTheWaiter() {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            List<Long> called = new ArrayList<>();
            timeline.whenReached(1, new CrowdTimepoint() {
                @Override
                public @Nullable Executor crowdExecutor() {
                    timeline.signal(1);
                    return null;
                }

                @Override
                public void reached(long value, @Nullable IreeException failure) {
                    called.add(value);
                }
            });
            assertThat(called).containsExactly(1L);
        }
    }
}
