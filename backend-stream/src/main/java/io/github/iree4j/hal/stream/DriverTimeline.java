package io.github.iree4j.hal.stream;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * A monotonic counter of the driver. Submissions and the host signal the timeline and wait for its values.
 * Reference-counted; {@link #close} releases the creator's reference. Safe from any thread.
 */
public interface DriverTimeline extends RefCounted {

    /**
     * Returns the current value.
     *
     * @return the counter
     * @throws IreeException ABORTED when the device is lost
     */
    long value();

    /**
     * Returns the value, or, while a thread of the driver is looking, the value seen by this thread. On seeing a larger
     * value, the looking thread wakes the thread in {@link StreamDriver#awaitAny}.
     *
     * @return at most {@link #value}, and the value unless this method is overridden
     * @throws IreeException ABORTED when the device is lost
     */
    default long seenValue() {
        return value();
    }

    /**
     * Raises the value from the host.
     *
     * @param value greater than the current value and the value of any signal submitted before
     * @throws IreeException ABORTED when the device is lost
     */
    void signal(long value);

    /**
     * Retains the timeline unless the last reference was released.
     *
     * @return false when the last reference was released
     */
    boolean tryRetain();

    /**
     * Returns whether any reference remains.
     *
     * @return false when the last reference was released
     */
    boolean isLive();

    /** Releases the creator's reference; idempotent. */
    void close();

    /**
     * Exports the timeline to other processes and drivers.
     *
     * @return a descriptor of the operating system, owned by the caller
     * @throws IreeException UNIMPLEMENTED when the driver cannot export, as thrown by this method unless overridden
     */
    default int exportDescriptor() {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver exports no semaphores; signal one from the host");
    }

    /**
     * Makes the timeline an alias of an exported timeline.
     *
     * @param descriptor descriptor of the operating system; owned by the driver once this method returns
     * @throws IreeException UNIMPLEMENTED when the driver cannot import, as thrown by this method unless overridden
     */
    default void importDescriptor(int descriptor) {
        throw IreeException.of(StatusCode.UNIMPLEMENTED, "the driver imports no semaphores; signal one from the host");
    }
}
