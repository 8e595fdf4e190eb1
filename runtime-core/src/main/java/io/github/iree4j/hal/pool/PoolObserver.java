package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;

/**
 * Follows the reservations of pools, as the flight recorder does. See {@link PoolObservation}.
 *
 * <p>Called with the lock of a set held. Methods MUST NOT block, throw, reserve or release, and MUST return within a
 * microsecond or so.
 */
@NotForApplications
public interface PoolObserver {
    /**
     * Called when memory has been reserved.
     *
     * @param reservation the reservation
     * @param request the request
     * @return the number of the reservation, returned by {@link Reservation#number} from then on; not 0
     */
    long reserved(Reservation reservation, ReservationRequest request);

    /**
     * Called when memory has been released. Only for reservations with a number.
     *
     * @param reservation the reservation
     * @param death the work that must complete before the bytes are reused
     */
    void released(Reservation reservation, Frontier death);

    /**
     * Called for each set when the observation begins, and for a set created later; possibly twice. Other reports about
     * the set may come before.
     *
     * @param set the set
     * @param now the memory of the set, including memory reserved before the observation began
     */
    default void holds(PoolSet set, PoolSetStatistics now) {}

    /**
     * Called when memory without a number has been released: reserved before the observation began.
     *
     * @param reservation the reservation
     */
    default void releasedUnseen(Reservation reservation) {}

    /**
     * Called when a request was not granted and waits in line.
     *
     * @param pool the pool
     * @param request the request
     */
    void waits(Pool pool, ReservationRequest request);
}
