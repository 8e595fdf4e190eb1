package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/**
 * A descriptor of the operating system, becoming readable once: a new eventfd, or a duplicate of an external descriptor
 * (eventfd, sync_fd, pipe). Closed with the last reference. Safe from any thread.
 */
public final class EventDescriptor extends Resource {
    private final int descriptor;
    private final UseGuard guard;

    EventDescriptor(int descriptor) {
        this.descriptor = descriptor;
        this.guard = UseGuard.of(this::describe, () -> Shim.eventClose(descriptor));
    }

    /**
     * Closes a descriptor that no object of this package owns.
     *
     * @param descriptor the number of an open descriptor of this process
     */
    public static void close(int descriptor) {
        Shim.eventClose(descriptor);
    }

    /** A native method writing a descriptor. */
    @FunctionalInterface
    interface Opening {
        int open(long outDescriptor, long error);
    }

    /** Calls a method opening a descriptor. */
    static int open(Opening opening) {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            int status = opening.open(out.address(), error.address());
            if (status != 0) {
                throw error.toException(status);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } finally {
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Creates an eventfd, not signalled.
     *
     * @return the event; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED without descriptors, UNAVAILABLE without the native library
     */
    public static EventDescriptor create() {
        return new EventDescriptor(open(Shim::eventCreate));
    }

    /**
     * Duplicates a descriptor, without taking ownership of the original.
     *
     * @param descriptor the number of an open descriptor of this process
     * @return the duplicate; the caller closes it
     * @throws IreeException INVALID_ARGUMENT when the descriptor is not open, RESOURCE_EXHAUSTED without descriptors,
     *     UNAVAILABLE without the native library
     */
    public static EventDescriptor duplicate(int descriptor) {
        return new EventDescriptor(open((out, error) -> Shim.eventDuplicate(descriptor, out, error)));
    }

    /**
     * Returns the number of the descriptor.
     *
     * @return the number; borrowed, valid until the last reference is released
     */
    public int number() {
        return descriptor;
    }

    /**
     * Adds to the counter of an eventfd and so makes the eventfd readable.
     *
     * @param amount the amount, above 0
     * @throws IreeException INVALID_ARGUMENT when the descriptor is not an eventfd; FAILED_PRECONDITION when closed
     */
    public void signal(long amount) {
        NativeError error = new NativeError();
        guard.enter();
        try {
            int status = Shim.eventSignal(descriptor, amount, error.address());
            if (status != 0) {
                throw error.toException(status);
            }
        } finally {
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Resets the counter of an eventfd.
     *
     * @return the previous value, 0 when not signalled
     * @throws IreeException INVALID_ARGUMENT when the descriptor is not an eventfd; FAILED_PRECONDITION when closed
     */
    public long take() {
        NativeError error = new NativeError();
        guard.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int status = Shim.eventTake(descriptor, out.address(), error.address());
            if (status != 0) {
                throw error.toException(status);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } finally {
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Returns the outcome of the work behind a readable descriptor.
     *
     * @return 0 on success, or for any descriptor but a sync_fd (only a sync_fd reports outcomes); else the errno of
     *     the failure
     * @throws IreeException FAILED_PRECONDITION when closed
     */
    public int outcome() {
        NativeError error = new NativeError();
        guard.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            int status = Shim.eventOutcome(descriptor, out.address(), error.address());
            if (status != 0) {
                throw error.toException(status);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } finally {
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    @Override
    protected String describe() {
        return "event descriptor " + descriptor;
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
