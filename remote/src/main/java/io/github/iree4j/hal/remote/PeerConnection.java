package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a peer, supplied by a transport: three ordered streams of frames in each direction. Frames are
 * delivered whole and in order, each at most once, until the connection ends; then all streams end.
 *
 * <p>The transport authenticates the peer and encrypts. While calling a {@link PeerListener}, the transport MUST NOT
 * hold a lock also taken for other calls of the listener. The transport MUST call the listener until the end has been
 * reported. Safe from any thread, also from inside the listener.
 */
public interface PeerConnection {

    /**
     * Sends a frame, or refuses the frame when the stream is full. Never blocks, and never calls the listener: the
     * caller may hold a lock. After a refusal the transport calls {@link PeerListener#ready} once there is room; a
     * frame for a stream with room is accepted.
     *
     * @param stream the stream
     * @param head the first bytes, read before this method returns; the position is then undefined
     * @param body the bytes behind the head, likewise; empty for none
     * @return false when the stream is full; then nothing is sent. True when the frame is accepted, and after the end
     *     of the connection, reported to the listener
     */
    boolean trySend(PeerStream stream, ByteBuffer head, ByteBuffer body);

    /**
     * Ends the connection: unsent frames are discarded, and the peer sees the end of all streams. Idempotent; does not
     * block. The transport still calls {@link PeerListener#closed}.
     *
     * @param cause the cause, for logs
     */
    void close(IreeException cause);

    /**
     * Describes the connection in messages.
     *
     * @return for example {@code 10.0.0.7:7071}
     */
    String describe();

    /**
     * Returns the peer's identity as known to the transport. A peer claiming to be another node is rejected.
     *
     * @return the identity; null where the transport does not know
     */
    default @Nullable NodeIdentity peer() {
        return null;
    }
}
