package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.CallTimeoutException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A step that does not end, as in code of a device that nothing can stop, keeps no reader waiting for ever. */
@Timeout(60)
class HungStepTest {
    private final AtomicLong now = new AtomicLong();
    private final CountDownLatch go = new CountDownLatch(1);

    private FakeLoop loop() {
        return new FakeLoop(new StepShapes(4, 8, 8), 20)
                .rows(2, 2)
                .clock(now::get)
                .before(_ -> {
                    now.set(Duration.ofSeconds(1).toNanos());
                    FakeLoop.await(go);
                });
    }

    @Test
    void aRequestFailsSoonAfterItsDeadlineAndTheOthersGoOn() throws Exception {
        try (FakeLoop loop = loop().start()) {
            Generation patient = loop.submit(GenerationRequest.of(3, 2));
            Generation late = loop.submit(GenerationRequest.of(3, 1).timeout(Duration.ofMillis(1)));
            assertThatThrownBy(late::next)
                    .isInstanceOf(CallTimeoutException.class)
                    .hasMessageContaining("has 0 of at most 3 tokens after 1 ms");
            assertThat(patient.result()).isNotDone();
            go.countDown();
            assertThat(patient.result().await().tokens()).hasSize(3);
            assertThat(loop.submit(GenerationRequest.of(2, 1)).result().await().tokens())
                    .hasSize(2);
        } finally {
            go.countDown();
        }
    }
}
