package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.generation.GenerationResult.FinishReason;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A reader of a generation without a generator. */
@Timeout(120)
class GenerationTest {
    private static final Duration LONG = Duration.ofDays(100_000);

    private final Generation generation = new Generation(GenerationRequest.of(4, 1), 0, 0);

    @Test
    void aWaitWithALimitEndsWithoutAToken() throws InterruptedException {
        assertThat(generation.await(Duration.ofMillis(1))).isFalse();
        assertThat(generation.await(Duration.ZERO)).isFalse();
        assertThat(generation.await(Duration.ofSeconds(-1))).isFalse();
    }

    @Test
    void aWaitDoesNotTakeTheToken() throws InterruptedException {
        assertThat(generation.append(7, null, 0)).as("readers wait").isFalse();
        assertThat(generation.await(Duration.ZERO)).isTrue();
        assertThat(generation.await(LONG)).isTrue();
        assertThat(generation.next()).hasValue(7);
        assertThat(generation.await(Duration.ZERO)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"token", "end", "failure", "cancellation"})
    void aWaitEndsWithATokenTheEndOrAFailure(String change) throws Exception {
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        Callable<Boolean> wait = () -> {
            waiting.complete(Thread.currentThread());
            return generation.await(LONG);
        };
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
            Future<Boolean> waited = threads.submit(wait);
            while (waiting.join().getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            switch (change) {
                case "token" -> {
                    assertThat(generation.append(7, null, 0)).as("readers wait").isTrue();
                    generation.wakeReaders();
                }
                case "end" -> generation.finish(FinishReason.LENGTH);
                case "failure" -> generation.fail(IreeException.of(StatusCode.ABORTED, "a step failed"));
                default -> generation.cancel();
            }
            assertThat(waited.get()).isTrue();
        }
        if (change.equals("failure")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(generation::next)
                    .withMessage("a step failed");
        }
    }

    @Test
    void anInterruptEndsTheWaitAndNotTheGeneration() {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> generation.await(LONG));
        assertThat(generation.result()).isNotDone();
    }
}
