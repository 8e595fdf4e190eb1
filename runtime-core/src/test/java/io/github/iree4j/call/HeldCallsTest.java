package io.github.iree4j.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Admitted calls are made one after the other. */
class HeldCallsTest {
    @Test
    void aCallThatCannotBeMadeKeepsNoOtherFromBeingMade() throws Exception {
        HeldCalls held = new HeldCalls("iree4j-test");
        CountDownLatch both = new CountDownLatch(1);
        CountDownLatch made = new CountDownLatch(2);
        held.make(() -> {
            await(both); // so that the same thread makes the next one
            throw new AssertionError("thrown on purpose");
        });
        held.make(made::countDown);
        both.countDown();
        held.make(made::countDown);
        assertThat(made.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
