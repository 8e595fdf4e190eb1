package io.github.iree4j.hal.storage;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.hal.pool.Reservation;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that needs memory before it can be issued. The scheduler requests the memory when the
 * operation's waits allow the issue, and holds the operation back until memory is available; other operations may then
 * overtake the operation. Called by one thread at a time. A failing operation releases its memory or withdraws its
 * request.
 */
public interface StorageRequest {

    /**
     * Fast path: reserves free memory, without allocating more. Called with a lock of the scheduler held. Previously
     * reserved memory is re-checked, because the predecessors of the operation may have changed since the reservation.
     * If the operation does not run after the memory's last users now, the memory is released: once other memory is
     * reserved, or when the operation waits in line for memory with the age of the first request.
     *
     * @param after predecessors of the operation
     * @param timepoints points that the operation's hardware can wait for
     * @return true when the operation has its memory, reserved now or earlier
     * @throws IreeException if the memory can never be reserved
     */
    boolean tryReservePresent(Frontier after, NativeTimepoints timepoints);

    /**
     * Reserves the memory if possible now. May take long, since new memory is mapped and filled with zeros; called with
     * no lock held.
     *
     * @param after predecessors of the operation
     * @param timepoints points that the operation's hardware can wait for
     * @return true when the operation has its memory, reserved now or earlier
     * @throws IreeException if the memory can never be reserved
     */
    boolean tryReserve(Frontier after, NativeTimepoints timepoints);

    /**
     * Reserves the memory as soon as possible. May take long, as above.
     *
     * @param after predecessors of the operation
     * @param timepoints points that the operation's hardware can wait for
     * @param done notified once the operation has its memory, or with the failure; as a callback of
     *     {@link io.github.iree4j.async.HeldCallbacks}
     * @throws IreeException if the memory can never be reserved; {@code done} is then not notified
     */
    void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done);

    /**
     * Returns the points that the hardware must wait for before the operation, because of the memory.
     *
     * @return marks among the timepoints offered to this request
     */
    List<NativeTimepoint> marks();

    /**
     * Returns the premise of the memory: the frontier that must complete before the operation uses the memory.
     *
     * @return the death frontier of the memory; empty for memory without earlier users
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
     * Returns the pool of the memory.
     *
     * @return the name of the pool; empty for staging memory
     */
    default String pool() {
        return "";
    }

    /**
     * Returns the memory, once reserved.
     *
     * @return the reservation, borrowed; null before the reservation, and for staging memory
     */
    default @Nullable Reservation memory() {
        return null;
    }

    /**
     * Reports that the operation is on a stream: operations issued behind it may use the memory. Not called on an
     * unordered queue.
     *
     * @param frontier the operation's frontier
     */
    void issued(Frontier frontier);
}
