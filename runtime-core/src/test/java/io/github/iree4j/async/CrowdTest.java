package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A crowd of waiters for the same value is not called by the signalling thread. */
class CrowdTest {
    private final List<Runnable> handedOver = new ArrayList<>();
    private final List<Runnable> handedToAnother = new ArrayList<>();
    private final List<String> called = new ArrayList<>();

    private final class Operation implements CrowdTimepoint {
        private final String name;
        private final Executor executor;
        private final Runnable then;

        Operation(String name, Executor executor) {
            this(name, executor, () -> {});
        }

        Operation(String name, Executor executor, Runnable then) {
            this.name = name;
            this.executor = executor;
            this.then = then;
        }

        @Override
        public Executor crowdExecutor() {
            return executor;
        }

        @Override
        public void reached(long value, @Nullable IreeException failure) {
            called.add(name + (failure == null ? "" : " " + failure.code()));
            then.run();
        }
    }

    private void run(List<Runnable> tasks) {
        List<Runnable> all = List.copyOf(tasks);
        tasks.clear();
        all.forEach(Runnable::run);
    }

    @Test
    void aFewAreCalledByTheSignallingThread() {
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 16; i++) {
                gate.whenReached(1, new Operation("op" + i, handedOver::add));
            }
            gate.signal(1);
            assertThat(called).hasSize(16);
            assertThat(handedOver).isEmpty();
        }
    }

    @Test
    void aCrowdIsHandedOverInOrderAndOthersAreCalledAtOnce() {
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 1000; i++) {
                boolean another = i % 10 == 3;
                gate.whenReached(1, new Operation("op" + i, another ? handedToAnother::add : handedOver::add));
                if (i == 500) {
                    gate.whenReached(1, (value, failure) -> called.add("user"));
                }
            }
            // Method references are new objects each time: a separate executor for each operation is the worst case.
            gate.signal(1);
            assertThat(called).containsExactly("user");
            while (!handedOver.isEmpty() || !handedToAnother.isEmpty()) {
                run(handedOver);
                run(handedToAnother);
            }
            assertThat(called).hasSize(1001).doesNotHaveDuplicates();
        }
    }

    @Test
    void waitersOfAnExecutorAreASingleTaskInOrderOfRegistration() {
        Executor here = handedOver::add;
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                gate.whenReached(1, new Operation("op" + i, here));
                expected.add("op" + i);
            }
            gate.signal(1);
            assertThat(handedOver).hasSize(1);
            assertThat(called).isEmpty();
            run(handedOver);
            assertThat(called).isEqualTo(expected);
        }
    }

    /** Operations without work, each behind the previous operation. */
    @Test
    void aChainIsHandedOverOnceAFewAreCalled() {
        Executor here = handedOver::add;
        List<String> expected = new ArrayList<>();
        try (TimelineSemaphore chain = TimelineSemaphore.create(0)) {
            for (int i = 1; i <= 1000; i++) {
                long next = i + 1;
                chain.whenReached(i, new Operation("op" + i, here, () -> chain.signal(next)));
                expected.add("op" + i);
            }
            chain.signal(1);
            assertThat(called).hasSize(16);
            assertThat(handedOver).hasSize(1);
            run(handedOver);
            assertThat(handedOver).isEmpty(); // the other thread resumes all
            assertThat(called).isEqualTo(expected);
        }
    }

    @Test
    void theWaitersOfAllPointsOfAFenceAreACrowd() {
        Executor here = handedOver::add;
        List<TimelineSemaphore> points = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            TimelineSemaphore point = TimelineSemaphore.create(0);
            point.whenReached(1, new Operation("first", here));
            point.whenReached(1, new Operation("second", here));
            points.add(point);
        }
        for (int round = 0; round < 2; round++) { // work resumed by a signal does not count for the next
            int from = 50 * round;
            boolean held = HeldCallbacks.begin();
            points.subList(from, from + 50).forEach(each -> each.signal(1));
            HeldCallbacks.end(held);
            assertThat(called).hasSize(16);
            run(handedOver);
            assertThat(called).hasSize(100);
            called.clear();
        }
        points.forEach(TimelineSemaphore::close);
    }

    @Test
    void eachWaiterIsCalledOnItsOwnExecutor() {
        Executor here = handedOver::add;
        Executor there = handedToAnother::add;
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 20; i++) {
                gate.whenReached(1, new Operation(i % 2 == 0 ? "here" : "there", i % 2 == 0 ? here : there));
            }
            gate.signal(1);
            run(handedOver);
            assertThat(called).hasSize(10).containsOnly("here");
            called.clear();
            run(handedToAnother);
            assertThat(called).hasSize(10).containsOnly("there");
        }
    }

    @Test
    void aDueCrowdCannotBeCancelledAndLaterWaitersKeepWaiting() {
        Executor here = handedOver::add;
        List<Cancellation> registered = new ArrayList<>();
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 100; i++) {
                registered.add(gate.whenReached(1, new Operation("op" + i, here)));
            }
            assertThat(registered.get(50).cancel()).isTrue();
            gate.signal(1);
            assertThat(registered).noneMatch(Cancellation::cancel);
            gate.whenReached(2, new Operation("later", here));
            gate.whenReached(3, new Operation("latest", here)).cancel();
            run(handedOver);
            assertThat(called).hasSize(99).doesNotHaveDuplicates().doesNotContain("op50", "later");
            called.clear();
            gate.signal(3);
            assertThat(called).containsExactly("later");
            assertThat(registered).noneMatch(Cancellation::cancel);
        }
    }

    @Test
    void waitersForHigherValuesStay() {
        Executor here = handedOver::add;
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 100; i++) {
                gate.whenReached(1 + i % 2, new Operation("for " + (1 + i % 2), here));
            }
            gate.signal(1);
            run(handedOver);
            assertThat(called).hasSize(50).containsOnly("for 1");
            called.clear();
            gate.signal(2);
            run(handedOver);
            assertThat(called).hasSize(50).containsOnly("for 2");
        }
    }

    @Test
    void promiseWaitersAreDeliveredWithTheCrowd() {
        Executor here = handedOver::add;
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 100; i++) {
                gate.whenReached(1, new Operation("value", here));
            }
            gate.whenPromised(1, new Operation("promise", here));
            gate.signal(1);
            run(handedOver);
            assertThat(called).hasSize(101).contains("promise");
        }
    }

    @Test
    void cancelledWaitersDoNotCountTowardsACrowd() {
        Executor here = handedOver::add;
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            List<Cancellation> registered = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                registered.add(gate.whenReached(1, new Operation("op" + i, here)));
            }
            registered.subList(0, 30).forEach(each -> assertThat(each.cancel()).isTrue());
            gate.signal(1);
            assertThat(handedOver).isEmpty();
            assertThat(called).hasSize(10);
        }
    }

    @Test
    void aFailureReachesTheCrowdToo() {
        Executor here = handedOver::add;
        try (TimelineSemaphore gate = TimelineSemaphore.create(0)) {
            for (int i = 0; i < 20; i++) {
                gate.whenReached(1, new Operation("op" + i, here));
            }
            Cancellation cancelled = gate.whenReached(1, new Operation("cancelled", here));
            assertThat(cancelled.cancel()).isTrue();
            gate.fail(IreeException.of(StatusCode.ABORTED, "on purpose"));
            run(handedOver);
            assertThat(called).hasSize(20).allMatch(each -> each.endsWith("ABORTED"));
        }
    }
}
