package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Reservation;
import org.jspecify.annotations.Nullable;

/** An operation that releases memory. */
public interface StorageRelease {

    /**
     * The operation is on a stream: operations that run after it may reuse the memory, although it has not been executed yet. Not
     * called on an unordered queue. Called with a lock of the scheduler held.
     *
     * @param death the operation's frontier
     */
    void issued(Frontier death);

    /**
     * Returns the memory that it releases.
     *
     * @return the reservation, borrowed; null when it is not known, or imported
     */
    @Nullable
    Reservation memory();
}
