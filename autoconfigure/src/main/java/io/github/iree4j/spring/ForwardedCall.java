package io.github.iree4j.spring;

import io.github.iree4j.Results;
import io.github.iree4j.async.IreeFuture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The future returned by an {@link InvocationInterceptor} in place of the chain's, for actions around the completion.
 * Completes like the chain's future. Completing or cancelling this future early cancels the chain's future, and results
 * arriving afterwards are closed.
 */
public final class ForwardedCall extends IreeFuture<Results> {

    /** Runs around the completion. */
    @FunctionalInterface
    public interface Settling {
        /**
         * Completes the future, on the thread completing the call. An exception thrown before the completion fails a
         * successful call.
         *
         * @param failure the failure of the call; null on success
         * @param settle completes the future and runs its dependents; must be run exactly once, unless an exception is
         *     thrown
         */
        void settle(@Nullable Throwable failure, Runnable settle);
    }

    private boolean settled; // confined to the thread that completes the call

    /**
     * Forwards a call.
     *
     * @param call the chain's future
     * @param settling runs around the completion
     */
    public ForwardedCall(CompletableFuture<Results> call, Settling settling) {
        super(function(call));
        whenComplete((_, _) -> {
            if (!call.isDone()) {
                call.cancel(true);
            }
        });
        call.whenComplete((results, failure) -> {
            Throwable cause = failure == null ? null : unwrapped(failure);
            try {
                settling.settle(cause, () -> settle(results, cause));
            } catch (RuntimeException | Error e) { // of the application: nobody else learns of the exception
                if (!settled) {
                    settle(results, cause == null ? failureOf(e) : cause);
                }
            }
        });
    }

    private void settle(@Nullable Results results, @Nullable Throwable failure) {
        settled = true;
        boolean taken = failure == null ? complete(results) : completeExceptionally(failure);
        if (results != null && (!taken || failure != null)) {
            results.close(); // the caller gave up while the results arrived, or gets an exception instead
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
