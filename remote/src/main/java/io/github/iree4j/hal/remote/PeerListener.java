package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.nio.ByteBuffer;

/**
 * Receives the frames of a {@link PeerConnection}. The transport calls {@link #received} for one frame of a stream at a
 * time, in order; frames of different streams may be delivered concurrently. The methods do not block and do not throw:
 * an invalid frame ends the connection.
 *
 * <p>A transport reading the next frame only after {@link #received} has returned needs no separate limit on frames
 * received.
 */
public interface PeerListener {
    /** A frame in pieces has more bytes. */
    int PIECES_FROM = 8 << 10;

    /** Bytes that the first piece of a frame has at least. */
    int FIRST_PIECE = 64;

    /**
     * Called when a frame has arrived.
     *
     * @param stream the stream of the frame
     * @param frame the bytes, valid until this method returns, like the rest
     * @param rest the rest of a frame on BULK of more than {@value #PIECES_FROM} bytes, if the frame has come in pieces, of
     *     which the first has at least {@value #FIRST_PIECE} bytes; so each byte of a transfer is copied once
     */
    void received(PeerStream stream, ByteBuffer frame, ByteBuffer... rest);

    /**
     * Called when a stream that refused a frame has room again. May be called for no reason.
     *
     * @param stream the stream
     */
    void ready(PeerStream stream);

    /**
     * Called when the connection has ended: by the peer, the network, or {@link PeerConnection#close}. Idempotent;
     * later frames are dropped.
     *
     * @param cause the cause of the end
     */
    void closed(IreeException cause);
}
