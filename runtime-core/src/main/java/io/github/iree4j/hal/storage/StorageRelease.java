package io.github.iree4j.hal.storage;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Reservation;
import org.jspecify.annotations.Nullable;

/** An operation releasing memory. */
public interface StorageRelease {

    /**
     * Reports that the operation is on a stream: subsequent operations may reuse the memory, although the release has
     * not been executed yet. Not called on an unordered queue. Called with a lock of the scheduler held.
     *
     * @param death the operation's frontier
     */
    void issued(Frontier death);

    /**
     * Returns the released memory.
     *
     * @return the reservation, borrowed; null when unknown, or imported
     */
    @Nullable
    Reservation memory();
}
