package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A request in line with a thread waiting for the outcome. POOL-2: the first outcome counts, and a later grant is returned. */
final class AwaitedRequest implements ReservationListener {
    private final CompletableFuture<Reservation> outcome = new CompletableFuture<>();

    @Override
    public void ended(@Nullable Reservation reservation, @Nullable IreeException failure) {
        if (reservation == null) {
            outcome.completeExceptionally(failure);
        } else if (!outcome.complete(reservation)) {
            reservation.cancel();
        }
    }

    /** Ends the wait for the call of that name. Called by any thread. */
    void withdraw(String name) {
        outcome.completeExceptionally(new IreeException(
                StatusCode.CANCELLED, "call of '%s' ended while waiting for memory of inputs".formatted(name)));
    }

    /**
     * Waits for the outcome.
     *
     * @param place the place in line, left unless the request has been granted
     * @param name the call, for messages
     * @throws IreeException the cause of the failure; CANCELLED when withdrawn, or when the thread is interrupted
     */
    Reservation await(Cancellation place, String name) {
        try {
            return outcome.get();
        } catch (InterruptedException e) {
            withdraw(name);
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) { // thrown below
        }
        place.cancel();
        try {
            return outcome.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IreeException cause) {
                throw new IreeException(cause.code(), cause.getMessage(), cause); // with this thread's stack
            }
            throw e;
        }
    }
}
