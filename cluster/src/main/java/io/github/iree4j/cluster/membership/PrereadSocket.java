package io.github.iree4j.cluster.membership;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.Socket;

/** A connection with the first bytes already read, and presented again. Everything else is delegated to the connection. */
final class PrereadSocket extends WrappedSocket {
    private final InputStream in;

    /**
     * Takes over a connection.
     *
     * @param first the bytes already read
     */
    PrereadSocket(Socket socket, byte[] first) throws IOException {
        super(socket);
        this.in = new SequenceInputStream(new ByteArrayInputStream(first), socket.getInputStream());
    }

    @Override
    public InputStream getInputStream() {
        return in;
    }
}
