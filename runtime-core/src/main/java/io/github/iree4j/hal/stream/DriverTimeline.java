package io.github.iree4j.hal.stream;

import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/**
 * A monotonic counter of the driver: submissions signal it and wait for it, and so does the host. Reference-counted; {@link #close}
 * releases the creator's reference. Safe from any thread.
 */
public interface DriverTimeline extends RefCounted {

    /**
     * Returns the value that it has reached.
     *
     * @return the counter
     * @throws IreeException ABORTED when the device is lost
     */
    long value();

    /**
     * Raises it from the host.
     *
     * @param value greater than its value, and than that of any signal submitted before
     * @throws IreeException ABORTED when the device is lost
     */
    void signal(long value);

    /**
     * Retains it unless it is gone.
     *
     * @return false when the last reference was released
     */
    boolean tryRetain();

    /**
     * Returns whether any reference remains.
     *
     * @return false when the last one was released
     */
    boolean isLive();

    /** Releases the creator's reference; idempotent. */
    void close();

    /**
     * Exports it to other processes and drivers.
     *
     * @return a descriptor of the operating system, which the caller owns
     * @throws IreeException UNIMPLEMENTED when the driver cannot, which is what this method throws unless overridden
     */
    default int exportDescriptor() {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "the driver exports no semaphores; signal one from the host");
    }

    /**
     * Makes it an alias of an exported timeline.
     *
     * @param descriptor of the operating system; the driver owns it once this returns
     * @throws IreeException UNIMPLEMENTED when the driver cannot, which is what this method throws unless overridden
     */
    default void importDescriptor(int descriptor) {
        throw new IreeException(StatusCode.UNIMPLEMENTED, "the driver imports no semaphores; signal one from the host");
    }
}
