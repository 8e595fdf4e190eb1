package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;

/**
 * A timeline for users, with {@link Fence}s as points that invocations wait for and signal. Points are signalled in
 * order: a signal of a point reaches all lower points. A call that only the next call waits for needs no timeline, see
 * {@code ProgramFunction.submit}; nor does a single event, see {@code IreeRuntime.createFence}.
 *
 * <pre>{@code
 * try (Timeline frames = Timeline.create(); Fence frame = frames.at(number)) {
 *     filter.call(DEFAULTS.after(frame), ...);   // submitted, not run
 *     ...
 *     frame.signal();                            // this frame and all frames before are there
 * }
 * }</pre>
 *
 * <p>Owns a {@link TimelineSemaphore}, kept open by its fences. Safe from any thread.
 */
public final class Timeline implements AutoCloseable {
    private final TimelineSemaphore semaphore;

    private Timeline(TimelineSemaphore semaphore) {
        this.semaphore = semaphore;
    }

    /**
     * Creates a timeline at 0, usable in all of this process.
     *
     * @return the timeline; the caller closes it
     */
    public static Timeline create() {
        return create(SemaphoreOptions.DEFAULTS);
    }

    /**
     * Creates a timeline.
     *
     * @param options the initial value, scope and history
     * @return the timeline; the caller closes it
     */
    public static Timeline create(SemaphoreOptions options) {
        return new Timeline(TimelineSemaphore.create(options));
    }

    /**
     * Returns a point on this timeline, to wait for or to signal.
     *
     * @param value the value; already reached if not above the current value
     * @return the fence; the caller closes it
     */
    public Fence at(long value) {
        return Fence.at(semaphore, value);
    }

    /**
     * Returns a joint point, reached by the last of a number of signals. Submissions signalling the same point are
     * counted without this method, as long as the point is not reached meanwhile; use this method when the first may
     * have run before the last is submitted.
     *
     * @param value the value, neither reached nor promised
     * @param signals the number of signals, at least 1
     * @return the fence; the caller closes it
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when the value is reached or promised, or for less
     *     than one signal
     */
    @NotForApplications
    public Fence at(long value, int signals) {
        semaphore.expectSignals(value, signals);
        return Fence.at(semaphore, value);
    }

    /**
     * Returns the timeline's value.
     *
     * @return the largest value signalled so far
     */
    public long value() {
        return semaphore.value();
    }

    /**
     * Blocks until a value is reached. A waiting virtual thread occupies no carrier.
     *
     * @param value the value waited for
     * @throws io.github.iree4j.status.IreeException the timeline's failure; CANCELLED when interrupted
     */
    public void await(long value) {
        semaphore.await(value);
    }

    /**
     * Blocks until a value is reached or time runs out. A waiting virtual thread occupies no carrier.
     *
     * @param value the value waited for
     * @param timeout the longest wait; zero only checks
     * @throws io.github.iree4j.status.IreeException DEADLINE_EXCEEDED; the timeline's failure; CANCELLED when
     *     interrupted
     */
    public void await(long value, Duration timeout) {
        semaphore.await(value, timeout);
    }

    /**
     * Returns the semaphore behind this timeline.
     *
     * @return the semaphore, borrowed
     */
    public TimelineSemaphore semaphore() {
        return semaphore;
    }

    /** Releases the semaphore. Fences keep the semaphore open; without any fence, its waiters are cancelled. Idempotent. */
    @Override
    public void close() {
        semaphore.close();
    }

    @Override
    public String toString() {
        return "timeline at " + semaphore.value();
    }
}
