package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that needs memory before it can be issued. The {@link QueueScheduler} requests it when the operation's waits allow
 * the issue, and holds the operation back while there is none; other operations may then overtake it. Called by one thread at a
 * time. When the operation fails, it releases its memory or withdraws its request.
 */
public interface StorageRequest {

    /**
     * Fast path: reserves free memory, without allocating more. Called with a lock of the scheduler held. Memory that was
     * reserved before is re-checked: it was reserved for what the operation was to run after then, and if the operation does not
     * run after the memory's last users now, the memory is released: once there is other memory, or when the operation waits in
     * line for some, with the age of its first request.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @return true when the operation has its memory, now or from before
     * @throws IreeException if it never will
     */
    boolean tryReservePresent(Frontier after, NativeTimepoints timepoints);

    /**
     * Reserves the memory if that is possible now. May take long, since new memory is mapped and filled with zeros; called with no lock held.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @return true when the operation has its memory, now or from before
     * @throws IreeException if it never will
     */
    boolean tryReserve(Frontier after, NativeTimepoints timepoints);

    /**
     * Reserves the memory as soon as that is possible. May take long, as above.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @param done notified once the operation has its memory, or with the failure; as a callback of
     *     {@link io.github.iree4j.async.HeldCallbacks}
     * @throws IreeException if it never will; {@code done} is then not notified
     */
    void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done);

    /**
     * Returns what the hardware must wait for before the operation, because of its memory.
     *
     * @return marks among those offered to it
     */
    List<NativeTimepoint> marks();

    /**
     * Returns the premise of the memory: what must complete before the operation uses it.
     *
     * @return the death frontier of its memory; empty when nothing used that before
     */
    Frontier premise();

    /**
     * Returns the size of the memory.
     *
     * @return bytes; 0 for staging memory
     */
    default long bytes() {
        return 0;
    }

    /**
     * Returns the memory, once reserved.
     *
     * @return the reservation, borrowed; null while there is none, and for staging memory
     */
    default @Nullable Reservation memory() {
        return null;
    }

    /**
     * The operation is on a stream: operations issued behind it may use the memory. Not called on an unordered queue.
     *
     * @param frontier the operation's frontier
     */
    void issued(Frontier frontier);
}
