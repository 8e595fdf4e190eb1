package io.github.iree4j.async;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.EventSocket;
import io.github.iree4j.status.IreeException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A way for events to other processes of this machine, and back: points of timelines that {@link ExternalTimepoints} exports on one
 * side and imports on the other. Linux only.
 *
 * <p>Each message is one event and a number, whose meaning is between the two sides. Whoever may open the path may connect, so it belongs
 * into a directory of the user's; what comes is checked for its form and its descriptors are never leaked, but an event from outside can
 * of course be signalled at any time, which is why the values it reaches are tainted. Safe from any thread; what blocks needs a platform
 * thread.
 */
public final class EventChannel extends Resource {
    private final EventSocket socket;

    private EventChannel(EventSocket socket) {
        this.socket = socket;
    }

    /**
     * Waits at a path for others to connect, see {@link #accept}.
     *
     * @param path where nothing is yet, at most 107 bytes long; the caller removes it in the end
     * @return what accepts; the caller closes it
     * @throws IreeException ALREADY_EXISTS, NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT; UNAVAILABLE without the native library
     */
    public static EventChannel listen(Path path) {
        return new EventChannel(EventSocket.listen(path.toString()));
    }

    /**
     * Connects to another process that listens.
     *
     * @param path where
     * @return the channel; the caller closes it
     * @throws IreeException UNAVAILABLE when nobody listens there, or without the native library; NOT_FOUND, PERMISSION_DENIED
     */
    public static EventChannel connect(Path path) {
        return new EventChannel(EventSocket.connect(path.toString()));
    }

    /**
     * Waits for the next process that connects.
     *
     * @param timeout how long at most; negative is forever
     * @return the channel to it; the caller closes it
     * @throws IreeException DEADLINE_EXCEEDED; FAILED_PRECONDITION when closed, or on a virtual thread
     */
    public EventChannel accept(Duration timeout) {
        return new EventChannel(socket.accept(timeout));
    }

    /**
     * Sends an event, which both sides have then.
     *
     * @param event the event; stays the caller's, who may close it
     * @param tag tells the other side what it is
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
     * What came from the other side.
     *
     * @param event the event; the receiver closes it
     * @param tag what the sender says it is
     */
    public record Received(SystemEvent event, long tag) {}

    /**
     * Waits for the next event.
     *
     * @param timeout how long at most; negative is forever
     * @return what came
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
