package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.status.IreeException;

/**
 * A one-shot event signalled or waited for by external code: a descriptor that becomes readable once. Linux only.
 *
 * <p>{@link ExternalTimepoints} connects events and timelines. Safe from any thread. The descriptor is closed with the
 * last reference.
 */
@NotForApplications
public final class SystemEvent extends Resource {
    /** The counter of an exported event whose point was reached. */
    public static final long REACHED = 1;

    /** The counter of an exported event whose timeline failed. */
    public static final long FAILED = 2;

    private final EventDescriptor descriptor;
    private volatile Cancellation onClose = Cancellation.OVER;

    SystemEvent(EventDescriptor descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Creates an unsignalled eventfd.
     *
     * @return the event; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED without descriptors, UNAVAILABLE without the native library
     */
    public static SystemEvent create() {
        return new SystemEvent(EventDescriptor.create());
    }

    /**
     * Wraps an external event: an eventfd, a sync_fd or any other descriptor that becomes readable once. The descriptor
     * is duplicated; the caller keeps the original. Nothing is ever read from the descriptor.
     *
     * @param descriptor the number of an open descriptor of this process
     * @return the event; the caller closes it
     * @throws IreeException INVALID_ARGUMENT when the descriptor is not open, RESOURCE_EXHAUSTED without descriptors,
     *     UNAVAILABLE without the native library
     */
    public static SystemEvent duplicate(int descriptor) {
        return new SystemEvent(EventDescriptor.duplicate(descriptor));
    }

    /**
     * Returns the descriptor, to hand to other drivers and processes, which duplicate the descriptor or receive it over
     * a socket.
     *
     * @return the number; borrowed, valid until the last reference is released
     */
    public int descriptor() {
        return descriptor.number();
    }

    /**
     * Makes the event readable through all its descriptors.
     *
     * @throws IreeException INVALID_ARGUMENT when the event is external and not an eventfd; FAILED_PRECONDITION when
     *     closed
     */
    public void signal() {
        descriptor.signal(REACHED);
    }

    /**
     * Reads and resets the counter of an eventfd.
     *
     * @return the counter, 0 when not signalled; {@link #REACHED} or {@link #FAILED} for an exported event
     * @throws IreeException INVALID_ARGUMENT when the event is external and not an eventfd; FAILED_PRECONDITION when
     *     closed
     */
    public long take() {
        return descriptor.take();
    }

    /** Signals unless closed. */
    void signalIfOpen(long amount) {
        try {
            descriptor.signal(amount);
        } catch (IreeException closed) {
            // No holder is left to notify.
        }
    }

    /** Cancels a wait when the last reference is released. */
    void cancelOnClose(Cancellation wait) {
        onClose = wait;
    }

    @Override
    protected String describe() {
        return "system event on descriptor " + descriptor.number();
    }

    @Override
    protected void destroy() {
        onClose.cancel();
        descriptor.release();
    }
}
