package io.github.iree4j.hal.pool;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A wait of a call's thread for memory of inputs, or for the turn to wait for memory. */
final class InputWait {
    private InputWait() {}

    /**
     * Waits.
     *
     * @param call the call, for messages
     * @throws IreeException the cause of the failure, with the stack of this thread; CANCELLED after {@link #end}, or
     *     when the thread is interrupted
     */
    static <T extends @Nullable Object> T await(CompletableFuture<T> event, String call) {
        try {
            return event.get();
        } catch (InterruptedException e) {
            end(event, call);
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) { // thrown below
        }
        try {
            return event.join();
        } catch (CompletionException e) {
            IreeException cause = e.getCause() instanceof IreeException known
                    ? known
                    : IreeException.of(StatusCode.INTERNAL, "wait for memory failed: " + e.getCause(), e);
            throw IreeException.of(cause.code(), cause.getMessage(), cause);
        }
    }

    /** Ends a wait, unless the event has come. Called by any thread. */
    static void end(CompletableFuture<?> event, String call) {
        event.completeExceptionally(IreeException.of(
                StatusCode.CANCELLED, "call of '%s' ended while waiting for memory of inputs".formatted(call)));
    }
}
