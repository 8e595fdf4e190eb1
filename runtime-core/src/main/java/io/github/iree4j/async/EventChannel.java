package io.github.iree4j.async;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.EventSocket;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A bidirectional channel for events between processes of one machine: points of timelines that {@link ExternalTimepoints} exports on one
 * side and imports on the other. Linux only.
 *
 * <p>Each message is one event and a number, whose meaning the two sides agree on. Any process with access to the path can connect, so put
 * it into a directory of the user's. Received messages are validated and their descriptors never leak, but the sender can signal an event
 * at any time, so the values it reaches are tainted. Safe from any thread; blocking methods need a platform thread.
 */
public final class EventChannel extends Resource {
    private final EventSocket socket;

    private EventChannel(EventSocket socket) {
        this.socket = socket;
    }

    /**
     * Listens at a path for connections, see {@link #accept}.
     *
     * @param path a path that does not exist yet, at most 107 bytes long; the caller deletes it afterwards
     * @return the listening channel; the caller closes it
     * @throws IreeException ALREADY_EXISTS, NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT; UNAVAILABLE without the native library
     */
    public static EventChannel listen(Path path) {
        return new EventChannel(EventSocket.listen(path.toString()));
    }

    /**
     * Connects to a listening process.
     *
     * @param path the path that it listens at
     * @return the channel; the caller closes it
     * @throws IreeException UNAVAILABLE when no process listens there, or without the native library; NOT_FOUND, PERMISSION_DENIED
     */
    public static EventChannel connect(Path path) {
        return new EventChannel(EventSocket.connect(path.toString()));
    }

    /**
     * Waits for the next connection.
     *
     * @param timeout the longest wait; negative is forever
     * @return the channel to it; the caller closes it
     * @throws IreeException DEADLINE_EXCEEDED; FAILED_PRECONDITION when closed, or on a virtual thread
     */
    public EventChannel accept(Duration timeout) {
        return new EventChannel(socket.accept(timeout));
    }

    /**
     * Sends an event; both sides then hold it.
     *
     * @param event the event; still owned by the caller, who may close it
     * @param tag identifies the event to the other side
     * @throws IreeException UNAVAILABLE when the other side is gone; FAILED_PRECONDITION when closed, or on a virtual thread
     */
    public void send(SystemEvent event, long tag) {
        event.retain();
        try {
            socket.send(event.eventDescriptor(), tag);
        } finally {
            event.release();
        }
    }

    /**
     * A received message.
     *
     * @param event the event; the receiver closes it
     * @param tag the sender's number for it
     */
    public record Received(SystemEvent event, long tag) {}

    /**
     * Waits for the next event.
     *
     * @param timeout the longest wait; negative is forever
     * @return the message
     * @throws IreeException DEADLINE_EXCEEDED; UNAVAILABLE when the other side is gone; INVALID_ARGUMENT for a message of another form;
     *     FAILED_PRECONDITION when closed, or on a virtual thread
     */
    public Received receive(Duration timeout) {
        EventSocket.Received received = socket.receive(timeout);
        return new Received(new SystemEvent(received.event()), received.tag());
    }

    @Override
    protected String describe() {
        return "event channel";
    }

    @Override
    protected void destroy() {
        socket.close();
    }
}
