package io.github.iree4j.async;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.status.IreeException;

/**
 * A point in time that code outside signals or waits for: a descriptor of the operating system that becomes readable once. Linux only.
 *
 * <p>{@link ExternalTimepoints} joins events and timelines. Safe from any thread. The descriptor is closed with the last reference.
 */
public final class SystemEvent extends Resource {
    /** What the counter of an exported event reads when its point was reached. */
    public static final long REACHED = 1;

    /** What the counter of an exported event reads when its timeline failed. */
    public static final long FAILED = 2;

    private final EventDescriptor descriptor;
    private volatile Cancellation onClose = Cancellation.OVER;

    SystemEvent(EventDescriptor descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Creates an eventfd that is not signalled.
     *
     * @return the event; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED without descriptors, UNAVAILABLE without the native library
     */
    public static SystemEvent create() {
        return new SystemEvent(EventDescriptor.create());
    }

    /**
     * Takes an event from outside: an eventfd, a sync_fd or anything else that becomes readable once. It is duplicated; the caller's
     * descriptor stays the caller's. Nothing is ever read from it.
     *
     * @param descriptor the number of an open descriptor of this process
     * @return the event; the caller closes it
     * @throws IreeException INVALID_ARGUMENT when it is not open, RESOURCE_EXHAUSTED without descriptors, UNAVAILABLE without the
     *     native library
     */
    public static SystemEvent duplicate(int descriptor) {
        return new SystemEvent(EventDescriptor.duplicate(descriptor));
    }

    /**
     * Returns the descriptor, to hand to other drivers and processes, which duplicate it or receive it over a socket.
     *
     * @return the number; borrowed, valid until the last reference goes
     */
    public int descriptor() {
        return descriptor.number();
    }

    /**
     * Makes the event readable for everybody who has a descriptor of it.
     *
     * @throws IreeException INVALID_ARGUMENT when it came from outside and is no eventfd; FAILED_PRECONDITION when closed
     */
    public void signal() {
        descriptor.signal(REACHED);
    }

    /**
     * Reads and resets the counter of an eventfd.
     *
     * @return what was added to it, 0 when it was not signalled; of an exported event {@link #REACHED} or {@link #FAILED}
     * @throws IreeException INVALID_ARGUMENT when it came from outside and is no eventfd; FAILED_PRECONDITION when closed
     */
    public long take() {
        return descriptor.take();
    }

    EventDescriptor eventDescriptor() {
        return descriptor;
    }

    /** Signals unless everybody has closed it. */
    void signalIfOpen(long amount) {
        try {
            descriptor.signal(amount);
        } catch (IreeException closed) {
            // Nobody is left to be told.
        }
    }

    /** Has a wait taken back when nobody holds this any more. */
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
