package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;

/**
 * The wait object of a {@link Proactor}'s owner, and the source of completions of one kind of operation: descriptors of
 * the operating system, the timelines of a device.
 *
 * <p>The implementation defines its operations: its methods starting operations end by calling {@link Proactor#wake}
 * when the owner, asleep or gone, has to be notified. A proactor calls the methods below; the owner calls all but
 * {@link #wake} and {@link #close}, one after the other.
 *
 * <p>An exception from {@code await} or {@code poll} means the source is lost: the proactor fails with this exception,
 * and everything in flight fails through {@link #stop}.
 */
@NotForApplications
public interface CompletionSource extends AutoCloseable {
    /** A timeout without end: until something happens. */
    long FOREVER = -1;

    /**
     * Blocks until {@link #poll} has something to report, {@link #wake} was called since the last return, or the
     * timeout expires. May return early. Calls no completions.
     *
     * @param timeoutNanos the longest wait; 0 does not block; negative is {@link #FOREVER}
     */
    void await(long timeoutNanos);

    /** Ends the current or the next {@link #await}. From any thread; does not block; never called once closed. */
    void wake();

    /**
     * Calls the completions of ended operations, without blocking. The implementation catches exceptions thrown by a
     * completion and still calls the others.
     *
     * @param limit the most completions to call
     * @return the number of completions called
     */
    int poll(int limit);

    /**
     * Returns the number of operations in flight; the owner stays while there are any. Called by the owner; counts
     * operations started by any thread before it called {@link Proactor#wake}.
     *
     * @return the number
     */
    int pending();

    /**
     * Begins to stop: from now on starting an operation fails. Operations in flight end with the cause as soon as
     * possible, each completion called once, from here or from later calls of {@link #poll}, which continue until
     * {@link #pending} is 0. Called once; a lost source ends everything at once.
     *
     * @param cause CANCELLED when the proactor is being closed, the source's failure otherwise
     */
    void stop(IreeException cause);

    /** Releases all resources. Called once, last, when nothing is in flight. Must not throw. */
    @Override
    void close();
}
