package io.github.iree4j.hal.pool;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Told how a request ended. Called once unless the request was taken back; with no lock held, but perhaps after the call that brought it
 * about has returned, like every callback of {@link io.github.iree4j.async.HeldCallbacks}. The contract of
 * {@link io.github.iree4j.async.Timepoint} holds.
 */
@FunctionalInterface
public interface ReservationListener {

    /**
     * The request has ended.
     *
     * @param reservation the memory, the listener's now; null when there is none
     * @param failure why there is none; null when there is
     */
    void ended(@Nullable Reservation reservation, @Nullable IreeException failure);
}
