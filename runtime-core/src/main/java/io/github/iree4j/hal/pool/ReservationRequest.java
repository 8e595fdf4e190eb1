package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request for memory.
 *
 * @param size bytes, not negative
 * @param alignment alignment of the start, a power of two; 0 leaves the alignment to the provider
 * @param memoryType required bits of {@code MemoryType}
 * @param usage required bits of {@code BufferUsage}
 * @param consumer the charged consumer: a program's name, or empty
 * @param persistent whether the host decides the lifetime. A first attempt overtakes the requests in line, since most
 *     such callers cannot wait
 * @param prefersReuse whether to wait for memory still in use rather than let the pool grow
 * @param frontier the frontier of the requester
 * @param timepoints the marks that the requester's hardware can wait for
 * @param holder the call that needs the memory; null without a call
 * @param age the place in line: {@link PoolSet#nextAge} at the first attempt; {@link #YOUNGEST} for a first attempt
 */
@NotForApplications
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

    /** The age of a first attempt: behind all requests in line. */
    public static final long YOUNGEST = Long.MAX_VALUE;

    /** The largest permitted alignment: a huge page. */
    public static final long MAXIMUM_ALIGNMENT = 2 << 20;

    /** Checks the arguments. */
    public ReservationRequest {
        Objects.requireNonNull(consumer, "consumer");
        Objects.requireNonNull(frontier, "frontier");
        Objects.requireNonNull(timepoints, "timepoints");
        if (size < 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "allocation length " + size + " is negative");
        }
        if (alignment < 0 || alignment > MAXIMUM_ALIGNMENT || (alignment & (alignment - 1)) != 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "alignment " + alignment + " is not a power of two up to " + MAXIMUM_ALIGNMENT);
        }
    }

    /**
     * Creates a request for the current thread's call.
     *
     * @param size bytes, not negative
     * @param alignment alignment of the start, a power of two; 0 leaves the alignment to the provider
     * @param memoryType required bits of {@code MemoryType}
     * @param usage required bits of {@code BufferUsage}
     * @param consumer the charged consumer
     * @param persistent whether the host decides the lifetime
     * @param prefersReuse whether to wait rather than let the pool grow
     * @param frontier the frontier of the requester
     * @param timepoints the marks that the requester's hardware can wait for
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
     * Returns a request for a queue operation that runs after nothing.
     *
     * @param size bytes
     * @return the request
     */
    public static ReservationRequest of(long size) {
        return new ReservationRequest(size, 0, 0, 0, "", false, false, Frontier.EMPTY, NativeTimepoints.NONE);
    }

    /**
     * Returns this request with another alignment.
     *
     * @param bytes a power of two, 0 leaves the alignment to the provider
     * @return the new request
     */
    public ReservationRequest withAlignment(long bytes) {
        return new ReservationRequest(
                size, bytes, memoryType, usage, consumer, persistent, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns this request for a kind of memory.
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
     * Returns this request for another consumer.
     *
     * @param name the charged consumer
     * @return the new request
     */
    public ReservationRequest withConsumer(String name) {
        return new ReservationRequest(
                size, alignment, memoryType, usage, name, persistent, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns this request for memory whose lifetime the host decides.
     *
     * @return the new request
     */
    public ReservationRequest asPersistent() {
        return new ReservationRequest(
                size, alignment, memoryType, usage, consumer, true, prefersReuse, frontier, timepoints, holder, age);
    }

    /**
     * Returns this request as a request that waits for freed memory with an unfinished last user rather than let the
     * pool grow.
     *
     * @return the new request
     */
    public ReservationRequest preferringReuse() {
        return new ReservationRequest(
                size, alignment, memoryType, usage, consumer, persistent, true, frontier, timepoints, holder, age);
    }

    /**
     * Returns this request with another place in the order of work.
     *
     * @param requester the frontier of the requester
     * @param waitable the marks that the requester's hardware can wait for
     * @return the request
     */
    public ReservationRequest after(Frontier requester, NativeTimepoints waitable) {
        return requester.equals(frontier) && waitable.equals(timepoints)
                ? this
                : new ReservationRequest(
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
     * Returns this request as a repeated attempt, not queued behind requests made since the first attempt.
     *
     * @param first {@link PoolSet#nextAge} at the first attempt
     * @return the request
     */
    public ReservationRequest withAge(long first) {
        return first == age
                ? this
                : new ReservationRequest(
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
