package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A Unix domain socket for messages of one descriptor and one number each. Safe from any thread; blocking methods need a platform thread.
 */
public final class EventSocket extends Resource {
    private final int socket;
    private final UseGuard guard;

    private EventSocket(int socket) {
        this.socket = socket;
        this.guard = new UseGuard(this::describe, () -> Shim.eventClose(socket));
    }

    /** A native method that creates a socket at a path. */
    @FunctionalInterface
    private interface Making {
        int make(long path, int length, long outSocket, long error);
    }

    private static EventSocket make(String path, Making making) {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
            return new EventSocket(
                    EventDescriptor.open((out, error) -> making.make(text.address(), bytes.length, out, error)));
        }
    }

    /**
     * Listens at a path for connections.
     *
     * @param path a path that does not exist yet; the caller deletes it afterwards
     * @return a socket for {@link #accept}; the caller closes it
     * @throws IreeException ALREADY_EXISTS, NOT_FOUND, PERMISSION_DENIED; INVALID_ARGUMENT when the path has more than 107 bytes;
     *     UNAVAILABLE without the native library
     */
    public static EventSocket listen(String path) {
        return make(path, Shim::socketListen);
    }

    /**
     * Connects to a process that listens at a path.
     *
     * @param path the path
     * @return a socket; the caller closes it
     * @throws IreeException UNAVAILABLE when no process listens there, or without the native library; NOT_FOUND, PERMISSION_DENIED;
     *     INVALID_ARGUMENT when the path has more than 107 bytes
     */
    public static EventSocket connect(String path) {
        return make(path, Shim::socketConnect);
    }

    /**
     * Waits for the next connection. Closing this does not end the wait.
     *
     * @param timeout the longest wait; negative is forever
     * @return a socket; the caller closes it
     * @throws IreeException DEADLINE_EXCEEDED; FAILED_PRECONDITION when closed, or on a virtual thread, whose carrier it would block
     */
    public EventSocket accept(Duration timeout) {
        checkThread();
        guard.enter();
        try {
            return new EventSocket(
                    EventDescriptor.open((out, error) -> Shim.socketAccept(socket, nanos(timeout), out, error)));
        } finally {
            guard.exit();
        }
    }

    /**
     * Sends a descriptor.
     *
     * @param event the descriptor; still owned by the caller
     * @param tag identifies it to the receiver
     * @throws IreeException UNAVAILABLE when the other side is gone; FAILED_PRECONDITION when closed, or on a virtual thread
     */
    public void send(EventDescriptor event, long tag) {
        checkThread();
        NativeError error = new NativeError();
        guard.enter();
        event.retain();
        try {
            int status = Shim.socketSend(socket, event.number(), tag, error.address());
            if (status != 0) {
                throw error.toException(status);
            }
        } finally {
            event.release();
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    /**
     * A received message.
     *
     * @param event the descriptor; the receiver closes it
     * @param tag the sender's number for it
     */
    public record Received(EventDescriptor event, long tag) {}

    /**
     * Waits for the next message. Closing this does not end the wait.
     *
     * @param timeout the longest wait; negative is forever
     * @return the message
     * @throws IreeException DEADLINE_EXCEEDED; UNAVAILABLE when the other side is gone; INVALID_ARGUMENT for a message of another form;
     *     FAILED_PRECONDITION when closed, or on a virtual thread
     */
    public Received receive(Duration timeout) {
        checkThread();
        guard.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment tag = arena.allocate(ValueLayout.JAVA_LONG);
            int descriptor = EventDescriptor.open(
                    (out, error) -> Shim.socketReceive(socket, nanos(timeout), out, tag.address(), error));
            return new Received(new EventDescriptor(descriptor), tag.get(ValueLayout.JAVA_LONG, 0));
        } finally {
            guard.exit();
        }
    }

    private static long nanos(Duration timeout) {
        return timeout.isNegative()
                ? -1
                : timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE : timeout.toNanos();
    }

    private static void checkThread() {
        if (Thread.currentThread().isVirtual()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "a virtual thread may not wait for a socket of events; use a platform thread");
        }
    }

    @Override
    protected String describe() {
        return "event socket " + socket;
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
