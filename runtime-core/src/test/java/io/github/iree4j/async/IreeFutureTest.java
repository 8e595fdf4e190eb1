package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A future that throws the runtime's own exception. */
@Timeout(60)
class IreeFutureTest {
    private static final IreeException FULL = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "full");

    private static IreeException failure(IreeFuture<?> future) {
        try {
            throw new AssertionError("completed with " + future.await());
        } catch (IreeException e) {
            return e;
        }
    }

    @Test
    void theOutcomeIsReturned() {
        assertThat(IreeFuture.completed(7).await()).isEqualTo(7);
    }

    @Test
    void theFailureOfTheCallIsThrownWithTheStackOfTheWaitingThread() {
        IreeException thrown = failure(IreeFuture.failed(FULL));
        assertThat(thrown.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(thrown).hasMessage("full").hasCause(FULL);
        assertThat(thrown.getStackTrace())
                .anyMatch(e ->
                        e.getMethodName().equals("failure") && e.getClassName().endsWith("Test"));
    }

    @Test
    void everyOtherFailureHasACode() {
        assertThat(failure(IreeFuture.failed(new IllegalStateException("of a listener")))
                        .code())
                .isEqualTo(StatusCode.INTERNAL);
        IreeFuture<Object> cancelled = new IreeFuture<>();
        cancelled.cancel(true);
        assertThat(failure(cancelled).code()).isEqualTo(StatusCode.CANCELLED);
    }

    @Test
    void derivedFuturesThrowTheSame() {
        CompletableFuture<Integer> derived = IreeFuture.<Integer>failed(FULL).thenApply(i -> i + 1);
        assertThat(derived).isInstanceOf(IreeFuture.class);
        IreeException thrown = failure(IreeFuture.of(derived));
        assertThat(thrown.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(thrown.getCause()).isSameAs(FULL);
    }

    @Test
    void anInterruptEndsTheFutureAndNamesTheFunctionOfDerivedFuturesToo() throws Exception {
        IreeFuture<Object> call = new IreeFuture<>("m.f");
        IreeFuture<String> derived = IreeFuture.of(call.thenApply(Object::toString));
        CompletableFuture<IreeException> seen = new CompletableFuture<>();
        Thread waiting = Thread.ofPlatform().start(() -> {
            IreeException thrown = failure(derived);
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            seen.complete(thrown);
        });
        waiting.interrupt();
        assertThat(seen.get())
                .hasMessage("interrupted while waiting for 'm.f'")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.CANCELLED);
        assertThat(derived).isCompletedExceptionally();
    }

    @Test
    void anyFutureCanBeAwaited() {
        CompletableFuture<Integer> other = new CompletableFuture<>();
        IreeFuture<Integer> future = IreeFuture.of(other);
        other.complete(3);
        assertThat(future.await()).isEqualTo(3);
        CompletableFuture<Integer> failed = CompletableFuture.failedFuture(new CompletionException(FULL));
        assertThat(failure(IreeFuture.of(failed)).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(IreeFuture.of(future)).isSameAs(future);
    }

    @Test
    void cancellingTheCopyCancelsTheFuture() {
        CompletableFuture<Integer> other = new CompletableFuture<>();
        IreeFuture.of(other).cancel(true);
        assertThatExceptionOfType(CancellationException.class).isThrownBy(other::join);
    }

    @Test
    void anOutcomeAfterTheCancellationOfTheCopyIsClosed() {
        AtomicInteger closed = new AtomicInteger();
        CompletableFuture<AutoCloseable> late = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return false; // as if the outcome were settled already
            }
        };
        IreeFuture.of(late).cancel(true);
        late.complete(closed::incrementAndGet);
        assertThat(closed).hasValue(1);
    }

    @Test
    void aFutureCompletedFromOutsideCancelsTheFollowedFuture() {
        for (boolean isFailure : new boolean[] {false, true}) {
            IreeFuture<Integer> call = new IreeFuture<>("m.f");
            IreeFuture<String> following = IreeFuture.following(call, String::valueOf, _ -> {});
            if (isFailure) {
                following.completeExceptionally(FULL);
            } else {
                following.complete("meanwhile");
            }
            assertThat(call).isCancelled();
            assertThat(IreeFuture.function(following)).isEqualTo("m.f");
        }
    }

    @Test
    void aFailedConversionIsTheFailure() {
        assertThat(failure(IreeFuture.following(
                                IreeFuture.completed(1),
                                _ -> {
                                    throw FULL;
                                },
                                _ -> {}))
                        .code())
                .isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
    }
}
