package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the outcome of a request. Called once unless the request is withdrawn, with no lock held. The call may occur
 * after the causing call has returned, like every callback of {@link io.github.iree4j.async.HeldCallbacks}. The
 * contract of {@link io.github.iree4j.async.Timepoint} holds.
 */
@FunctionalInterface
@NotForApplications
public interface ReservationListener {

    /**
     * Called when the request has ended.
     *
     * @param reservation the memory, now owned by the listener; null on failure
     * @param failure the cause; null on success
     */
    void ended(@Nullable Reservation reservation, @Nullable IreeException failure);
}
