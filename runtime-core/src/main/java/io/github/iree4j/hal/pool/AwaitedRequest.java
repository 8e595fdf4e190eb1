package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A request in line, with a thread waiting for the outcome. POOL-2: the first outcome counts, and a grant after the end
 * of the wait is returned.
 */
final class AwaitedRequest implements ReservationListener {
    private final CompletableFuture<Reservation> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> over = new CompletableFuture<>();

    @Override
    public void ended(@Nullable Reservation reservation, @Nullable IreeException failure) {
        if (reservation == null) {
            outcome.completeExceptionally(failure);
        } else if (!outcome.complete(reservation)) {
            reservation.cancel();
        }
        over.complete(null);
    }

    /** Requests memory, and waits in line on the thread acting for a call. */
    static Reservation await(MemoryHolder call, PoolSet set, Pool pool, ReservationRequest request) {
        AwaitedRequest awaited = new AwaitedRequest();
        Cancellation place = set.reserve(pool, request, awaited);
        try {
            return call.await(awaited.outcome);
        } catch (RuntimeException | Error e) {
            if (!place.cancel()) {
                awaited.over.join(); // memory granted meanwhile is returned by then
            }
            throw e;
        }
    }
}
