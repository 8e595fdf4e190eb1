package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who asks for how much memory.
 *
 * @param size bytes, not negative
 * @param alignment what the start must be aligned to, a power of two; 0 leaves it to the provider
 * @param memoryType bits of {@code MemoryType} that are needed
 * @param usage bits of {@code BufferUsage} that are needed
 * @param consumer whom the bytes are accounted to: a program's name; empty for nobody in particular
 * @param persistent whether the host decides how long it lives. Such a request does not stand in line behind others, since whoever
 *     makes it cannot wait
 * @param prefersReuse whether it rather waits for memory whose last user is not over than that the pool takes more
 * @param frontier what the requester runs after
 * @param timepoints what the requester's hardware can wait for
 * @param holder the call that it is made for; null for none
 * @param age its place among those in line, {@link PoolSet#nextAge} when it was asked for first; {@link #YOUNGEST} while it was not
 */
public record ReservationRequest(
        long size,
        long alignment,
        int memoryType,
        int usage,
        String consumer,
        boolean persistent,
        boolean prefersReuse,
        Frontier frontier,
        NativeTimepoints timepoints,
        @Nullable MemoryHolder holder,
        long age) {

    /** The age of what is asked for the first time: behind all that stand in line. */
    public static final long YOUNGEST = Long.MAX_VALUE;

    /** The largest alignment that can be asked for: a huge page. */
    public static final long MAXIMUM_ALIGNMENT = 2 << 20;

    /** Checks. */
    public ReservationRequest {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(frontier, "frontier");
        Objects.requireNonNull(timepoints, "timepoints");
        if (size < 0) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "allocation length " + size + " is negative");
        }
        if (alignment < 0 || alignment > MAXIMUM_ALIGNMENT || (alignment & (alignment - 1)) != 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "alignment " + alignment + " is not a power of two up to " + MAXIMUM_ALIGNMENT);
        }
    }

    /**
     * A request for the call that this thread acts for.
     *
     * @param size bytes, not negative
     * @param alignment what the start must be aligned to, a power of two; 0 leaves it to the provider
     * @param memoryType bits of {@code MemoryType} that are needed
     * @param usage bits of {@code BufferUsage} that are needed
     * @param consumer whom the bytes are accounted to
     * @param persistent whether the host decides how long it lives
     * @param prefersReuse whether it rather waits than that the pool takes more
     * @param frontier what the requester runs after
     * @param timepoints what the requester's hardware can wait for
     */
    public ReservationRequest(
            long size,
            long alignment,
            int memoryType,
            int usage,
            String consumer,
            boolean persistent,
            boolean prefersReuse,
            Frontier frontier,
            NativeTimepoints timepoints) {
        this(
                size,
                alignment,
                memoryType,
                usage,
                consumer,
                persistent,
                prefersReuse,
                frontier,
                timepoints,
                MemoryHolder.current(),
                YOUNGEST);
    }

    /**
     * A request of somebody who depends on nothing, for a queue operation.
     *
     * @param size bytes
     * @return the request
     */
    public static ReservationRequest of(long size) {
        return new ReservationRequest(size, 0, 0, 0, "", false, false, Frontier.EMPTY, NativeTimepoints.NONE);
    }

    /**
     * Returns the same with another alignment.
     *
     * @param bytes a power of two, 0 leaves it to the provider
     * @return the new request
     */
    public ReservationRequest withAlignment(long bytes) {
        return new ReservationRequest(
                size, bytes, memoryType, usage, consumer, persistent, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns the same for a kind of memory.
     *
     * @param type bits of {@code MemoryType}
     * @param needed bits of {@code BufferUsage}
     * @return the new request
     */
    public ReservationRequest withMemory(int type, int needed) {
        return new ReservationRequest(
                size, alignment, type, needed, consumer, persistent, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns the same on somebody's account.
     *
     * @param name whom the bytes are accounted to
     * @return the new request
     */
    public ReservationRequest withConsumer(String name) {
        return new ReservationRequest(
                size, alignment, memoryType, usage, name, persistent, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns the same for memory whose lifetime the host decides.
     *
     * @return the new request
     */
    public ReservationRequest asPersistent() {
        return new ReservationRequest(
                size, alignment, memoryType, usage, consumer, true, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns the same for somebody who rather waits for memory that others have freed, until its last user is over, than that the pool
     * takes more.
     *
     * @return the new request
     */
    public ReservationRequest preferringReuse() {
        return new ReservationRequest(
                size, alignment, memoryType, usage, consumer, persistent, true, frontier, timepoints, holder, age);
    }

    /**
     * Returns the same from somewhere in the order of things.
     *
     * @param requester what the requester runs after
     * @param waitable what its hardware can wait for
     * @return the new request
     */
    public ReservationRequest after(Frontier requester, NativeTimepoints waitable) {
        return new ReservationRequest(
                size,
                alignment,
                memoryType,
                usage,
                consumer,
                persistent,
                prefersReuse,
                requester,
                waitable,
                holder,
                age);
    }

    /**
     * Returns the same of somebody who has asked before, so that it does not stand behind those who came since.
     *
     * @param first what {@link PoolSet#nextAge} was then
     * @return the new request
     */
    public ReservationRequest withAge(long first) {
        return new ReservationRequest(
                size,
                alignment,
                memoryType,
                usage,
                consumer,
                persistent,
                prefersReuse,
                frontier,
                timepoints,
                holder,
                first);
    }
}
