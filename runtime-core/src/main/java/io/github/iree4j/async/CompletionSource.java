package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;

/**
 * What the owner of a {@link Proactor} sleeps on, and where completions of one kind of operation come from: descriptors of the
 * operating system, the timelines of a device.
 *
 * <p>The operations themselves are the implementation's business: it has its own methods to start them, which end by calling
 * {@link Proactor#wake} when the owner, asleep or gone, has to hear of it. A proactor calls the methods below; all but {@link #wake}
 * and {@link #close} come from its owner, one after the other.
 *
 * <p>What {@code await} or {@code poll} throws says that the source is lost: the proactor then fails with it, and so does everything
 * under way, through {@link #stop}.
 */
public interface CompletionSource extends AutoCloseable {
    /** In place of a time: until something happens. */
    long FOREVER = -1;

    /**
     * Blocks until {@link #poll} has something to hand over, {@link #wake} was called since the last return, or time is up. May return
     * early. Calls no completions.
     *
     * @param timeoutNanos how long at most; 0 does not block; negative is {@link #FOREVER}
     */
    void await(long timeoutNanos);

    /** Ends the current or the next {@link #await}. From any thread; does not block; not called any more once closed. */
    void wake();

    /**
     * Tells those who wait for it what has ended, without blocking. What a completion throws is the implementation's to catch: the
     * others must hear of theirs.
     *
     * @param limit most completions to call
     * @return how many were called
     */
    int poll(int limit);

    /**
     * Returns how many operations are under way, so that the owner stays for them. From the owner; sees what any thread started before
     * it called {@link Proactor#wake}.
     *
     * @return the number
     */
    int pending();

    /**
     * Begins the end: from now on starting an operation fails. What is under way is ended with the cause as soon as possible, each
     * completion called once, from here or from later calls of {@link #poll}, which go on until {@link #pending} is 0. Called once; a
     * lost source ends everything at once.
     *
     * @param cause CANCELLED when the proactor is being closed, what lost it otherwise
     */
    void stop(IreeException cause);

    /** Gives back what it holds. Called once, last, when nothing is under way. Must not throw. */
    @Override
    void close();
}
