package io.github.iree4j.cluster.transport;

import io.grpc.Status;
import java.io.InputStream;

/** One stream of a connection, as the side that opened it and the side that accepted it have it. Not thread-safe unless said. */
interface StreamEnd {

    /** Whether a message would be written soon. Safe from any thread. */
    boolean isReady();

    void send(InputStream message);

    /** Asks for the next message. Safe from any thread. */
    void request();

    /** Ends the stream; the second time nothing happens. */
    void end(Status status);
}
