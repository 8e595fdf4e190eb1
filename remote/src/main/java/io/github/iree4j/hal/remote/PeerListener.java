package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;

/**
 * Receives the frames of a {@link PeerConnection}. The transport calls {@link #received} for one frame of a stream at a time, in order; frames
 * of different streams may be delivered concurrently. The methods do not block and do not throw: an invalid frame ends the connection.
 *
 * <p>A transport that reads the next frame only after {@link #received} has returned needs no limit of its own on frames received.
 */
public interface PeerListener {

    /**
     * A frame has arrived.
     *
     * @param stream its stream
     * @param frame its bytes, valid until this returns
     */
    void received(PeerStream stream, ByteBuffer frame);

    /**
     * A stream that refused a frame has room again. May be called for no reason.
     *
     * @param stream the stream
     */
    void ready(PeerStream stream);

    /**
     * The connection has ended: by the peer, the network, or {@link PeerConnection#close}. Idempotent; frames that arrive later are dropped.
     *
     * @param cause why
     */
    void closed(IreeException cause);
}
