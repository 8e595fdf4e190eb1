package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;

/**
 * Follows the reservations of pools: what the flight recorder implements. See {@link PoolObservation}.
 *
 * <p>Called with the lock of a set held. Methods MUST NOT block, throw, reserve or release, and MUST return within a microsecond or so.
 */
public interface PoolObserver {
    /**
     * Memory was reserved.
     *
     * @param reservation the reservation
     * @param request what was requested
     * @return the number of the reservation, which {@link Reservation#number} returns from then on; not 0
     */
    long reserved(Reservation reservation, ReservationRequest request);

    /**
     * Memory was released. Told only of reservations with a number.
     *
     * @param reservation the reservation
     * @param death what must complete before the bytes are reused
     */
    void released(Reservation reservation, Frontier death);

    /**
     * A request was not granted and waits in line.
     *
     * @param pool the pool
     * @param request the request
     */
    void waits(Pool pool, ReservationRequest request);
}
