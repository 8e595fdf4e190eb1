package io.github.iree4j.spring;

import io.github.iree4j.Results;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What an {@link InvocationInterceptor} returns instead of the future that came from the chain, to be there when it is completed: it ends as
 * that one does, whoever completes it before gives that one up, and results that nobody takes any more are closed.
 */
public final class ForwardedCall extends CompletableFuture<Results> {

    /** Stands around the completion. */
    @FunctionalInterface
    public interface Settling {
        /**
         * Completes the future, on the thread on which the call came to its end.
         *
         * @param failure what the call failed with; null when it did not
         * @param settle completes the future and runs what depends on it; to be run once
         */
        void settle(@Nullable Throwable failure, Runnable settle);
    }

    /**
     * Forwards a call.
     *
     * @param call what came from the chain
     * @param settling stands around the completion
     */
    public ForwardedCall(CompletableFuture<Results> call, Settling settling) {
        whenComplete((_, _) -> {
            if (!call.isDone()) {
                call.cancel(true);
            }
        });
        call.whenComplete((results, failure) -> {
            Throwable cause = failure == null ? null : unwrapped(failure);
            settling.settle(cause, () -> settle(results, cause));
        });
    }

    private void settle(@Nullable Results results, @Nullable Throwable failure) {
        boolean taken = failure == null ? complete(results) : completeExceptionally(failure);
        if (!taken && results != null) {
            results.close(); // the caller gave up while it arrived
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
