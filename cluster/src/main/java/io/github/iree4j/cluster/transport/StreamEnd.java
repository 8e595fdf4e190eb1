package io.github.iree4j.cluster.transport;

import io.grpc.Status;
import java.io.InputStream;

/** An end of a connection's stream, at the opening or the accepting side. Not thread-safe unless stated. */
interface StreamEnd {

    /** Whether a message would be written soon. Safe from any thread. */
    boolean isReady();

    void send(InputStream message);

    /** Requests the next message. Safe from any thread. */
    void request();

    /**
     * Tells the peer that the connection is over, behind everything sent. Without this a peer takes the end of the stream
     * for a failure of the network. Nothing may be sent afterwards.
     */
    void finish(Status status);

    /** Ends the stream; the second time nothing happens. */
    void end(Status status);
}
