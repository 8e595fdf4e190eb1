package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Admitted calls are made one after the other, in the order of admission. */
@Timeout(60)
class HeldCallsTest {
    private static final MemoryHolder CALL = new MemoryHolder("m.f", new OperationsUnderWay());

    private final HeldCalls held = new HeldCalls("iree4j-test", true);
    private final List<Thread> makers = Collections.synchronizedList(new ArrayList<>());

    @Test
    void anImpossibleCallKeepsNoOtherFromBeingMade() throws Exception {
        CountDownLatch both = new CountDownLatch(1);
        CountDownLatch made = new CountDownLatch(2);
        held.make(
                null,
                _ -> {
                    await(both); // for the same thread to make the next call
                    throw new AssertionError("thrown on purpose");
                },
                CALL,
                false);
        make(made, false);
        both.countDown();
        make(made, true);
        assertThat(made.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aBriefCallIsMadeByTheAdmittingThreadOnceItsLocksAreReleased() {
        withLocks(() -> {
            make(new CountDownLatch(1), true);
            assertThat(makers).isEmpty();
        });
        assertThat(makers).containsExactly(Thread.currentThread());
    }

    @Test
    void anAdmittingThreadMakesASingleCallAndLeavesTheOthers() throws Exception {
        CountDownLatch made = new CountDownLatch(3);
        withLocks(() -> {
            for (int i = 0; i < 3; i++) {
                make(made, true);
            }
        });
        assertThat(made.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(makers.getFirst()).isEqualTo(Thread.currentThread());
        assertThat(makers.subList(1, 3)).doesNotContain(Thread.currentThread());
    }

    @Test
    void aLongCallAndACallBehindItAreNotMadeByTheAdmittingThread() throws Exception {
        CountDownLatch made = new CountDownLatch(2);
        withLocks(() -> {
            make(made, false);
            make(made, true);
        });
        assertThat(made.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(makers).doesNotContain(Thread.currentThread());
    }

    @Test
    void withoutHeldCallbacksABriefCallIsMadeByAnotherThread() throws Exception {
        CountDownLatch made = new CountDownLatch(1);
        make(made, true);
        assertThat(made.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(makers).doesNotContain(Thread.currentThread());
    }

    private void make(CountDownLatch made, boolean isBrief) {
        held.make(
                null,
                _ -> {
                    makers.add(Thread.currentThread());
                    made.countDown();
                    return true;
                },
                CALL,
                isBrief);
    }

    /** A call with memory for its inputs once the latch is open. */
    private static HeldCalls.Making shortUntil(CountDownLatch memory, Runnable making) {
        return mayWait -> {
            if (mayWait) {
                await(memory);
            }
            if (memory.getCount() > 0) {
                return false;
            }
            making.run();
            return true;
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallWaitingForMemoryOfItsInputsKeepsLaterCallsBackOnlyIfTheOrderMatters(boolean inOrder) throws Exception {
        HeldCalls calls = new HeldCalls("iree4j-test", inOrder);
        CountDownLatch memory = new CountDownLatch(1);
        CountDownLatch both = new CountDownLatch(2);
        CountDownLatch second = new CountDownLatch(1);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<Boolean> attempts = Collections.synchronizedList(new ArrayList<>());
        HeldCalls.Making first = shortUntil(memory, () -> {
            order.add(1);
            both.countDown();
        });
        calls.make(
                null,
                mayWait -> {
                    attempts.add(mayWait);
                    return first.make(mayWait);
                },
                CALL,
                false);
        calls.make(
                null,
                _ -> {
                    order.add(2);
                    both.countDown();
                    second.countDown();
                    return true;
                },
                CALL,
                false);
        if (!inOrder) {
            assertThat(second.await(10, TimeUnit.SECONDS)).isTrue();
        }
        memory.countDown();
        assertThat(both.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(order).isEqualTo(inOrder ? List.of(1, 2) : List.of(2, 1));
        assertThat(attempts)
                .as("whether the thread for ordered calls waits")
                .isEqualTo(inOrder ? List.of(true) : List.of(false, true));
    }

    @Test
    void anAdmittingThreadWaitsForNoMemory() throws Exception {
        CountDownLatch memory = new CountDownLatch(1);
        CountDownLatch made = new CountDownLatch(1);
        withLocks(() -> held.make(
                null,
                shortUntil(memory, () -> {
                    makers.add(Thread.currentThread());
                    made.countDown();
                }),
                CALL,
                true)); // would wait for ever here
        memory.countDown();
        assertThat(made.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(makers).doesNotContain(Thread.currentThread());
    }

    private static void withLocks(Runnable section) {
        boolean before = HeldCallbacks.begin();
        try {
            section.run();
        } finally {
            HeldCallbacks.end(before);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
