package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;

/**
 * What the owner of a {@link Proactor} sleeps on, and the source of completions of one kind of operation: descriptors of the operating
 * system, the timelines of a device.
 *
 * <p>The implementation defines its operations: its methods to start them end by calling {@link Proactor#wake} when the owner, asleep or
 * gone, has to be notified. A proactor calls the methods below; all but {@link #wake} and {@link #close} are called by its owner, one after
 * the other.
 *
 * <p>An exception from {@code await} or {@code poll} means that the source is lost: the proactor fails with it, and so does everything in
 * flight, through {@link #stop}.
 */
public interface CompletionSource extends AutoCloseable {
    /** A timeout without end: until something happens. */
    long FOREVER = -1;

    /**
     * Blocks until {@link #poll} has something to report, {@link #wake} was called since the last return, or the timeout expires. May
     * return early. Calls no completions.
     *
     * @param timeoutNanos the longest wait; 0 does not block; negative is {@link #FOREVER}
     */
    void await(long timeoutNanos);

    /** Ends the current or the next {@link #await}. From any thread; does not block; never called once closed. */
    void wake();

    /**
     * Calls the completions of what has ended, without blocking. The implementation catches what a completion throws, so that the others
     * are still called.
     *
     * @param limit the most completions to call
     * @return how many were called
     */
    int poll(int limit);

    /**
     * Returns how many operations are in flight, so that the owner stays for them. Called by the owner; counts operations that any thread
     * started before it called {@link Proactor#wake}.
     *
     * @return the number
     */
    int pending();

    /**
     * Begins to stop: from now on starting an operation fails. Operations in flight end with the cause as soon as possible, each completion
     * called once, from here or from later calls of {@link #poll}, which continue until {@link #pending} is 0. Called once; a lost source
     * ends everything at once.
     *
     * @param cause CANCELLED when the proactor is being closed, the source's failure otherwise
     */
    void stop(IreeException cause);

    /** Releases all resources. Called once, last, when nothing is in flight. Must not throw. */
    @Override
    void close();
}
