package io.github.iree4j.hal.schedule;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.NativeTimepoint;
import io.github.iree4j.hal.pool.NativeTimepoints;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that needs memory before it can be issued. The {@link QueueScheduler} asks for it when the operation's waits allow it to be
 * issued, and holds the operation back while there is none; others may overtake it then. Called by one thread at a time. When the operation
 * fails, it gives back what it has, or takes its request back.
 */
public interface StorageRequest {

    /**
     * Gets the memory if it is there, without asking for more. Called with a lock of the scheduler held. Memory that was reserved before is
     * looked at again: it was reserved for what the operation was to run after then, and if it does not run after the memory's last users
     * now, the memory goes back: once there is other, or when the operation stands in line for some, as early as when it asked first.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @return true when the operation has its memory, also from before
     * @throws IreeException why it never will
     */
    boolean tryReservePresent(Frontier after, NativeTimepoints timepoints);

    /**
     * Gets the memory if that is possible now. May take long, since new memory is mapped and filled with zeros; called with no lock held.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @return true when the operation has its memory, also from before
     * @throws IreeException why it never will
     */
    boolean tryReserve(Frontier after, NativeTimepoints timepoints);

    /**
     * Gets the memory as soon as that is possible. May take long, as above.
     *
     * @param after what the operation runs after
     * @param timepoints what its hardware can wait for
     * @param done told once the operation has its memory, or with why it will not; as a callback of
     *     {@link io.github.iree4j.async.HeldCallbacks}
     * @throws IreeException why it never will; {@code done} is not told then
     */
    void reserve(Frontier after, NativeTimepoints timepoints, Consumer<@Nullable IreeException> done);

    /**
     * Returns what the hardware must wait for before the operation, because of the memory that it got.
     *
     * @return marks that were offered to it
     */
    List<NativeTimepoint> marks();

    /**
     * Returns what the memory rests on: what has to be over before the operation uses it.
     *
     * @return the death frontier of what the operation got; empty when nothing used that before
     */
    Frontier premise();

    /**
     * The operation is on a stream: what is issued behind it may use the memory. Not called on an unordered queue.
     *
     * @param frontier the operation's frontier
     */
    void issued(Frontier frontier);
}
