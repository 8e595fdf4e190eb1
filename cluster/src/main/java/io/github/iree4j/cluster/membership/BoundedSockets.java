package io.github.iree4j.cluster.membership;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jgroups.util.DefaultSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Makes the sockets of the membership, whose connections are made in time or closed. JGroups bounds how long it connects, and not the handshake of
 * TLS that follows: a paused process accepts the connection and never answers. Meanwhile JGroups would send nothing to the other nodes, which then
 * suspect this one. Nor does it bound how long it waits for the connections of others.
 */
final class BoundedSockets extends DefaultSocketFactory {
    private final @Nullable SSLContext ssl;
    private final Duration limit;
    private final ConnectionLog log;
    private final Contacts contacts;

    /**
     * Creates it.
     *
     * @param ssl the keys and trusted authorities of mutual TLS; null for plain text
     * @param limit how long connecting may take, with the handshake
     * @param log learns of connections of others that are not made
     * @param contacts learns what comes of connections to others
     */
    BoundedSockets(@Nullable SSLContext ssl, Duration limit, ConnectionLog log, Contacts contacts) {
        this.ssl = ssl;
        this.limit = limit;
        this.log = log;
        this.contacts = contacts;
    }

    @Override
    public Socket createSocket(String service) {
        return new Caller(ssl, limit, contacts);
    }

    @Override
    public ServerSocket createServerSocket(String service) throws IOException {
        return new Entrance(ssl, limit, log);
    }

    /** Closes a socket unless what is returned is completed in time. */
    static CompletableFuture<Void> bound(Socket socket, Duration limit) {
        CompletableFuture<Void> made = new CompletableFuture<>();
        made.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionallyAsync(_ -> end(socket), Thread::startVirtualThread); // closing may wait for the peer
        return made;
    }

    static @Nullable Void end(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is closed all the same.
        }
        return null;
    }
}
