package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.HeldCallbacks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Admitted calls are made one after the other, in the order of admission. */
class HeldCallsTest {
    private final HeldCalls held = new HeldCalls("iree4j-test");
    private final List<Thread> makers = Collections.synchronizedList(new ArrayList<>());

    @Test
    void aCallThatCannotBeMadeKeepsNoOtherFromBeingMade() throws Exception {
        CountDownLatch both = new CountDownLatch(1);
        CountDownLatch made = new CountDownLatch(2);
        held.make(
                () -> {
                    await(both); // so that the same thread makes the next one
                    throw new AssertionError("thrown on purpose");
                },
                false);
        held.make(made::countDown, false);
        both.countDown();
        held.make(made::countDown, true);
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
    void anAdmittingThreadMakesOneCallAndLeavesTheOthers() throws Exception {
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
    void aLongCallIsNotMadeByTheAdmittingThreadNorOneBehindIt() throws Exception {
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
                () -> {
                    makers.add(Thread.currentThread());
                    made.countDown();
                },
                isBrief);
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
